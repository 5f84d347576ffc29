package steer

import (
	"slices"

	"gslb/config"
	"gslb/health"
)

// endpoint makes an endpoint of a member, with its own targets and those of its place.
func (c *compiler) endpoint(m config.Member, e config.Endpoint, checks map[string]config.Check) endpoint {
	one := endpoint{address: e.Address, state: e.State}
	for _, name := range m.Checks {
		if t := c.target(health.Target{Address: e.Probe, Domain: m.Place}, checks[name]); t >= 0 {
			one.targets = append(one.targets, t)
		}
	}
	one.own = len(one.targets)
	family := func(t int32) bool { return c.policy.targets[t].Address.Is4() == e.Address.Is4() }
	uplinks := c.uplinks[m.Place]
	for _, t := range uplinks {
		if family(t) || !slices.ContainsFunc(uplinks, family) {
			one.targets = append(one.targets, t)
		}
	}
	if e.State != config.StateAuto {
		c.policy.hands[hand{m.Place, e.Address}] = e.State
	} else {
		one.state = c.policy.hands[hand{place: m.Place}]
	}
	return one
}

// compileUplinks notes what is probed of places as a whole, and which of them are up or down by hand.
func (c *compiler) compileUplinks(checks map[string]config.Check) {
	for _, p := range c.cfg.Places {
		for _, name := range p.Checks {
			for _, a := range p.Addresses {
				if t := c.target(health.Target{Address: a, Domain: p.Name}, checks[name]); t >= 0 {
					c.uplinks[p.Name] = append(c.uplinks[p.Name], t)
				}
			}
		}
		if p.State != config.StateAuto {
			c.policy.hands[hand{place: p.Name}] = p.State
		}
	}
}

// compileBrake notes by whose word failures are ours.
func (c *compiler) compileBrake() {
	c.policy.brake = c.cfg.Brake.Percent
	for _, r := range c.cfg.Brake.Reference {
		for _, ch := range c.cfg.Checks {
			for _, a := range r.Addresses {
				if ch.Name == r.Check {
					c.target(health.Target{Address: a, Reference: true}, ch)
				}
			}
		}
	}
}

// target gives the number of the probe of a target under a check, or -1 without a check.
func (c *compiler) target(t health.Target, ch config.Check) int32 {
	kind := c.kind(ch)
	if kind == nil {
		return -1
	}
	t.Name = ch.Name
	t.Check = health.Check{
		Kind: kind, Interval: ch.Interval, Timeout: ch.Timeout, Window: ch.Window, Fall: ch.Fall, Rise: ch.Rise, Slow: ch.Slow,
	}
	i, ok := c.targets[t]
	if !ok {
		i = int32(len(c.policy.targets))
		c.targets[t] = i
		c.policy.targets = append(c.policy.targets, t)
	}
	return i
}

// kind gives what a check asks; nil without a check.
func (c *compiler) kind(ch config.Check) health.Kind {
	switch ch.Kind {
	case config.CheckHTTP, config.CheckHTTPS:
		return c.page(ch)
	case config.CheckTCP:
		return health.TCP{Port: ch.Port, Send: ch.Send, Expect: health.Text{Plain: ch.Expect, Regex: ch.ExpectRegex}}
	case config.CheckTLS:
		return health.TLS{Port: ch.Port, Host: ch.Host, Trust: trust(ch.TLS), ALPN: health.ListOf(ch.TLS.ALPN...)}
	case config.CheckGRPC:
		g := health.GRPC{Port: ch.Port, Service: ch.Service, Host: ch.Host, TLS: ch.InTLS}
		if g.TLS {
			g.Trust = trust(ch.TLS)
		}
		return g
	case config.CheckICMP:
		return health.ICMP{}
	case config.CheckExec:
		return health.Exec{Command: health.ListOf(ch.Command...), Port: ch.Port, Strict: ch.WarningFails}
	case config.CheckFile:
		return health.File{Path: ch.StateFile, Stale: ch.Stale}
	case config.CheckPush:
		c.policy.tokens[ch.Name] = health.Token{Hash: ch.Token, File: ch.TokenFile}
		return health.Push{Name: ch.Name}
	case config.CheckDNS:
		return c.question(ch)
	}
	return nil
}

func (c *compiler) question(ch config.Check) health.Kind {
	d, key, err := health.Question(ch.Query, ch.QueryType, ch.Rcode, ch.Answer)
	if err != nil {
		c.problem("checks."+ch.Name+".dns."+key, err.Error())
	}
	d.Port, d.TCP = ch.Port, ch.OverTCP
	return d
}

func (c *compiler) page(ch config.Check) health.Kind {
	status, err := health.ParseStatus(ch.Status)
	if err != nil {
		c.problem("checks."+ch.Name+"."+string(ch.Kind)+".status", err.Error())
	}
	h := health.HTTP{
		TLS: ch.Kind == config.CheckHTTPS, Port: ch.Port, Method: ch.Method, Path: ch.Path, Host: ch.Host,
		Body: health.Text{Plain: ch.Body, Regex: ch.BodyRegex}, Status: status, Redirects: ch.Redirects, Keep: ch.KeepAlive,
	}
	if h.TLS {
		h.Trust = trust(ch.TLS)
	}
	var fields []string
	for _, f := range ch.Headers {
		fields = append(fields, f.Name+": "+f.Value)
	}
	slices.Sort(fields)
	h.Header = health.ListOf(fields...)
	return h
}

func trust(t config.Trust) health.Trust {
	return health.Trust{Name: t.ServerName, CA: t.CAFile, Blind: !t.Verify, Cert: t.CertFile, Key: t.KeyFile, Days: t.MinDays}
}
