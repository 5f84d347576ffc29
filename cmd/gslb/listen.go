package main

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"gslb/config"
	"gslb/dns"
)

// doors gives what DNS is served on, and reads the certificate for it.
func (d *daemon) doors(cfg *config.Config) (dns.Doors, error) {
	doors := dns.Doors{Plain: d.listenOn(cfg), Workers: cmp.Or(cfg.Server.Workers, d.workers), Coalesce: cfg.Server.Coalesce}
	for path, s := range secured(cfg) {
		certificate, err := dns.LoadCertificate(s.Certificate, s.Key, d.log)
		if err != nil {
			return doors, located(cfg, path+".certificate", err)
		}
		secure := dns.Secure{Listen: s.Listen, Certificate: certificate}
		switch s {
		case cfg.Server.TLS:
			doors.TLS = secure
		case cfg.Server.HTTPS:
			doors.HTTPS = dns.HTTP{Secure: secure, Path: s.Path}
		case cfg.Server.QUIC:
			doors.QUIC = secure
		}
	}
	return doors, nil
}

// secured gives the transports that nobody listens in on, those that are spoken, with the paths of their keys.
func secured(cfg *config.Config) iter.Seq2[string, *config.Secure] {
	return func(yield func(string, *config.Secure) bool) {
		for _, t := range [...]struct {
			path   string
			secure *config.Secure
		}{{"server.tls", cfg.Server.TLS}, {"server.https", cfg.Server.HTTPS}, {"server.quic", cfg.Server.QUIC}} {
			if t.secure != nil && !yield(t.path, t.secure) {
				return
			}
		}
	}
}

// unheard tells, for each address that cannot be listened on, with the place in the files that asks for it, what hinders.
func unheard(cfg *config.Config, err error) error {
	var errs []error
	for _, e := range apart(err) {
		var refused *dns.ListenError
		if !errors.As(e, &refused) {
			errs = append(errs, located(cfg, "server.listen", e))
			continue
		}
		path, addresses := "server.listen", cfg.Server.Listen
		for key, s := range secured(cfg) {
			if key == "server."+refused.Over.String() {
				path, addresses = key+".listen", s.Listen
			}
		}
		if at := slices.Index(addresses, refused.Address); at >= 0 && cfg.At(path) != (config.Pos{}) {
			path = fmt.Sprintf("%s[%d]", path, at)
		}
		if refused.Held.IsValid() {
			e = fmt.Errorf("%s cannot take over from %s while the server runs: restart it", refused.Address, refused.Held)
		}
		errs = append(errs, located(cfg, path, e))
	}
	return errors.Join(errs...)
}

// apart gives the errors that were joined.
func apart(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// listenOn gives the addresses that DNS is served on by UDP and TCP. What the operator names is served or is an error.
// Of the default only what the machine has: many have no IPv6.
func (d *daemon) listenOn(cfg *config.Config) []netip.AddrPort {
	if cfg.At("server.listen") != (config.Pos{}) {
		return cfg.Server.Listen
	}
	had, lacking := parted(cfg.Server.Listen, machineHas)
	for _, a := range lacking {
		d.log.Warn("default address not served: this machine does not have it", "address", a)
	}
	return had
}

// parted tells the addresses that a machine has from those that it lacks. One that has none of them
// is taken to have all, so that it is told what is wrong.
func parted(all []netip.AddrPort, has func(netip.Addr) bool) (had, lacking []netip.AddrPort) {
	for _, a := range all {
		if has(a.Addr()) {
			had = append(had, a)
		} else {
			lacking = append(lacking, a)
		}
	}
	if had == nil {
		return all, nil
	}
	return had, lacking
}

// machineHas tells whether a socket can be bound to an address.
func machineHas(a netip.Addr) bool {
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
	if err != nil {
		return !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EAFNOSUPPORT)
	}
	c.Close()
	return true
}
