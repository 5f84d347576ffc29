package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"gslb/config"
	"gslb/dns"
)

// doors gives what DNS is served on, and reads the certificate for it.
func (d *daemon) doors(cfg *config.Config) (dns.Doors, error) {
	doors := dns.Doors{Plain: d.listenOn(cfg)}
	if cfg.Server.TLS == nil {
		return doors, nil
	}
	certificate, err := dns.LoadCertificate(cfg.Server.TLS.Certificate, cfg.Server.TLS.Key, d.log)
	if err != nil {
		return doors, located(cfg, "server.tls.certificate", err)
	}
	doors.TLS, doors.Certificate = cfg.Server.TLS.Listen, certificate
	return doors, nil
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

// hindered says why addresses cannot be listened on beside those that are served now, where that is all
// that hinders: the old ones stay until the new ones are open.
func (d *daemon) hindered(cfg *config.Config, err error) error {
	for _, a := range cfg.Server.Listen {
		for _, held := range d.server.Addresses() {
			if a != held && config.Overlap(a, held) {
				return fmt.Errorf("%s cannot take over from %s while the server runs: restart it", a, held)
			}
		}
	}
	return err
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
