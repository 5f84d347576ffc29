package steer

import (
	"net/netip"

	"gslb/config"
	"gslb/health"
)

// target gives the number of the probe for an address under a check, or -1 for none. A check of a
// kind that is not run counts as none; config has warned of it.
func (c *compiler) target(a netip.Addr, ch config.Check) int {
	kind := c.kind(ch)
	if kind == nil {
		return -1
	}
	t := health.Target{Address: a, Name: ch.Name, Check: health.Check{
		Kind: kind, Interval: ch.Interval, Timeout: ch.Timeout, Window: ch.Window, Fall: ch.Fall, Rise: ch.Rise,
	}}
	i, ok := c.targets[t]
	if !ok {
		i = len(c.policy.targets)
		c.targets[t] = i
		c.policy.targets = append(c.policy.targets, t)
	}
	return i
}

// kind gives what a check asks; nil for one that is not run.
func (c *compiler) kind(ch config.Check) health.Kind {
	switch ch.Kind {
	case config.CheckHTTP, config.CheckHTTPS:
		return c.page(ch)
	case config.CheckTCP:
		return health.TCP{Port: ch.Port}
	}
	return nil
}

func (c *compiler) page(ch config.Check) health.Kind {
	status, err := health.ParseStatus(ch.Status)
	if err != nil {
		c.problem("checks."+ch.Name+"."+string(ch.Kind)+".status", err.Error())
	}
	return health.HTTP{
		TLS: ch.Kind == config.CheckHTTPS, Port: ch.Port, Method: ch.Method, Path: ch.Path, Host: ch.Host,
		Body: health.Text{Plain: ch.Body}, Status: status,
	}
}
