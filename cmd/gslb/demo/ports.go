package demo

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// port is one that was free.
type port struct {
	number uint16
	usual  uint16 // that was wanted first
}

// moved says that something is not where it usually is; or nothing, when it is.
func (p port) moved() string {
	if p.number == p.usual {
		return ""
	}
	return fmt.Sprintf("port %d is taken", p.usual)
}

// tries bounds how many ports are tried, from the usual one up.
const tries = 50

// firstFree opens something on the usual port, or on the next one that is free.
func firstFree[T any](usual uint16, open func(port uint16) (T, error)) (p port, opened T, err error) {
	for n := usual; n < usual+tries; n++ {
		opened, err = open(n)
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return port{n, usual}, opened, err
		}
	}
	return port{}, opened, fmt.Errorf("no port from %d to %d is free: %w", usual, usual+tries-1, err)
}

// claim is a port that the name server will open a little later. Of two demos that start at once
// only one has a claim to it: the token is a listener on an address that only demos use.
type claim struct {
	port
	token net.Listener
}

// claimPort claims the first port that the name server can have, by a function that tries it.
func claimPort(usual uint16, try func(port uint16) error) (claim, error) {
	p, token, err := firstFree(usual, func(n uint16) (net.Listener, error) {
		token, err := net.Listen("tcp", netip.AddrPortFrom(neighbour(254), n).String())
		if err != nil {
			return nil, err
		}
		if err := try(n); err != nil {
			_ = token.Close()
			return nil, err
		}
		return token, nil
	})
	return claim{p, token}, err
}

func (c claim) release() {
	if c.token != nil {
		_ = c.token.Close()
	}
}

// address is where the name server will be.
func (c claim) address() netip.AddrPort { return loopback(c.number) }

func loopback(n uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), n)
}

// tryDNS tells whether a port can be had for TCP and UDP.
func tryDNS(n uint16) error {
	if err := tryTCP(n); err != nil {
		return err
	}
	packets, err := net.ListenPacket("udp", loopback(n).String())
	if err != nil {
		return err
	}
	return packets.Close()
}

func tryTCP(n uint16) error { return tryDoor(loopback(n)) }

// tryBGP tells whether both ends of the partner's session can have a port.
func tryBGP(n uint16) error {
	if err := tryTCP(n); err != nil {
		return err
	}
	return tryDoor(netip.AddrPortFrom(neighbour(routerAddress), n))
}

func tryDoor(at netip.AddrPort) error {
	door, err := net.Listen("tcp", at.String())
	if err != nil {
		return err
	}
	return door.Close()
}
