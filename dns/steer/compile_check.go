package steer

import (
	"net/netip"
	"slices"

	"gslb/config"
	"gslb/health"
)

// endpoint makes an endpoint of a member, with its own targets and those of its place.
func (c *compiler) endpoint(m config.Member, at placeID, e config.Endpoint) endpoint {
	one := endpoint{address: e.Address, state: e.State}
	uplinks := c.uplinks[at]
	if n := len(m.Checks) + len(uplinks); n > 0 {
		one.targets = make([]int32, 0, n)
	}
	for _, name := range m.Checks {
		if t := c.target(e.Probe, at, name); t >= 0 {
			one.targets = append(one.targets, t)
		}
	}
	one.own = len(one.targets)
	family := func(t int32) bool { return c.policy.targets[t].Address.Is4() == e.Address.Is4() }
	for _, t := range uplinks {
		if family(t) || !slices.ContainsFunc(uplinks, family) {
			one.targets = append(one.targets, t)
		}
	}
	if e.State != config.StateAuto {
		c.policy.hands[hand{m.Place, e.Address}] = e.State
	} else if len(c.policy.hands) > 0 {
		one.state = c.policy.hands[hand{place: m.Place}]
	}
	return one
}

// compileUplinks notes what is probed of places as a whole, and which of them are up or down by hand.
func (c *compiler) compileUplinks() {
	for i, p := range c.cfg.Places {
		for _, name := range p.Checks {
			for _, a := range p.Addresses {
				if t := c.target(a, placeID(i), name); t >= 0 {
					c.uplinks[placeID(i)] = append(c.uplinks[placeID(i)], t)
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
		for _, a := range r.Addresses {
			c.target(a, noPlace, r.Check)
		}
	}
}

// probe is what tells the probes of a policy apart, before their checks are made.
type probe struct {
	address netip.Addr
	domain  placeID // noPlace for a reference
	check   string
}

// noPlace is the number of no place.
const noPlace placeID = -1

// target gives the number of the probe of an address in a place under a check, or -1 without a check.
func (c *compiler) target(address netip.Addr, domain placeID, check string) int32 {
	p := probe{address, domain, check}
	if i, ok := c.targets[p]; ok {
		return i
	}
	made := c.check(check)
	if made.Kind == nil {
		return -1
	}
	t := health.Target{Address: address, Name: check, Check: made, Reference: domain == noPlace}
	if domain != noPlace {
		t.Domain = c.policy.places[domain].name
	}
	i := int32(len(c.policy.targets))
	c.targets[p] = i
	c.policy.targets = append(c.policy.targets, t)
	return i
}

// check makes the check of a name, once; the zero Check when there is none.
func (c *compiler) check(name string) health.Check {
	made, ok := c.checks[name]
	if ok {
		return made
	}
	i := slices.IndexFunc(c.cfg.Checks, func(ch config.Check) bool { return ch.Name == name })
	if i >= 0 {
		ch := c.cfg.Checks[i]
		made = health.Check{
			Kind: c.kind(ch), Interval: ch.Interval, Timeout: ch.Timeout, Window: ch.Window, Fall: ch.Fall, Rise: ch.Rise, Slow: ch.Slow,
		}
	}
	c.checks[name] = made
	return made
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
		Body: health.Text{Plain: ch.Body, Regex: ch.BodyRegex}, Status: status, Redirects: ch.Redirects, Keep: ch.KeepAlive, Load: ch.Load,
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
