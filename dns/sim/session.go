package sim

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"gslb/bgp"
	"gslb/bgp/wire"
)

// doSession lets a peer do something on its BGP session.
func (w *world) doSession(s *step) error {
	if len(s.words) < 2 {
		return errors.New("wants the address of a peer")
	}
	address, err := netip.ParseAddr(s.words[1])
	if err != nil {
		return fmt.Errorf("%q is not an address", s.words[1])
	}
	for _, p := range w.server.policy.Peers() {
		if p.Address == address {
			err := w.session(p, s.words[0], s.words[2:])
			w.server.rib.Tick(w.now)
			w.server.publisher.Refresh(w.now)
			return err
		}
	}
	return fmt.Errorf("%s is no peer of a partner", address)
}

func (w *world) session(p bgp.Peer, word string, rest []string) error {
	rib, text := w.server.rib, strings.Join(rest, " ")
	switch {
	case word == "connect" && text == "":
		rib.Up(p, bgp.Opened{IPv4: p.Only != bgp.OnlyIPv6, IPv6: p.Only != bgp.OnlyIPv4})
	case word == "announce" && text != "":
		change, err := announcement(p, rest)
		if err != nil {
			return err
		}
		if !rib.Routes(p, []wire.Change{change}, w.now) {
			w.say("%s too many prefixes: the session is closed", w.clock())
		}
	case word == "withdraw" && len(rest) == 1:
		prefix, err := netip.ParsePrefix(rest[0])
		if err != nil {
			return fmt.Errorf("%q is not a network", rest[0])
		}
		rib.Routes(p, []wire.Change{{Prefix: prefix.Masked(), Withdraw: true}}, w.now)
	case word == "complete" && text == "":
		rib.EndOfRIB(p, false, w.now)
		rib.EndOfRIB(p, true, w.now)
	case (word == "lose" || word == "shutdown") && text == "":
		rib.Down(p, bgp.Cause{Administrative: word == "shutdown", Text: word}, w.now)
	default:
		return errors.New("is said as: connect PEER, announce PEER NETWORK …, withdraw PEER NETWORK, complete PEER, lose PEER, or shutdown PEER")
	}
	return nil
}

// announcement reads a network and what its path is like. What is not said is as a neighbour's own
// network is: one AS long, from the peer's AS.
func announcement(p bgp.Peer, words []string) (wire.Change, error) {
	prefix, err := netip.ParsePrefix(words[0])
	if err != nil {
		return wire.Change{}, fmt.Errorf("%q is not a network", words[0])
	}
	c := wire.Change{Prefix: prefix.Masked(), Path: wire.Path{Origin: p.ASN, NeighbourASN: p.ASN, PathLength: 1}}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if key == "community" {
			high, low, _ := strings.Cut(value, ":")
			a, errA := strconv.ParseUint(high, 10, 16)
			b, errB := strconv.ParseUint(low, 10, 16)
			if errors.Join(errA, errB) != nil {
				return c, fmt.Errorf("%q is not a community, as 64501:50", value)
			}
			c.Path.Communities = append(c.Path.Communities, uint32(a<<16|b))
			continue
		}
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return c, fmt.Errorf("%q is not a number", value)
		}
		switch key {
		case "origin":
			c.Path.Origin = uint32(n)
		case "neighbour":
			c.Path.NeighbourASN = uint32(n)
		case "length":
			c.Path.PathLength = uint32(n)
		case "med":
			c.Path.MED = uint32(n)
		default:
			return c, fmt.Errorf("%q is not one of origin, neighbour, length, med, community", key)
		}
	}
	return c, nil
}
