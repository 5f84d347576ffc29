package kit

import (
	"fmt"
	"strconv"
	"strings"

	"gslb/config"
)

// about writes what the partner's engineer is to know, and no line of a router says.
func (s *session) about(r Router, ours config.BGP, p config.Partner, peer config.Peer) {
	tell := func(format string, args ...any) { s.About = append(s.About, fmt.Sprintf(format, args...)) }
	tell("%s for %s, AS %d, the router %s.", r.title(), p.Name, peer.ASN, peer.Address)
	tell("The other end is gslb, AS %d, router ID %s. It announces nothing.", ours.ASN, ours.RouterID)
	tell("Clients in the networks that you announce are sent to the site %s.", p.Site)
	if p.Shadow {
		tell("Not yet: until the end of a trial gslb only watches what you announce.")
	}
	tell("")
	s.believed(tell, p)
	tell("More than %d prefixes of this session, counted as they come, end it; what came before stays for %s,", p.Accept.MaxPrefixes, config.Duration(p.Stale))
	tell("as after every loss of the session. A shutdown by your hand takes all of it out at once.")
	s.meanings(tell, p)
	s.leftOpen(tell, r, peer)
}

type teller func(format string, args ...any)

// believed tells what is taken of what comes.
func (s *session) believed(tell teller, p config.Partner) {
	a := p.Accept
	tell("Believed are prefixes of length %d-%d in IPv4 and %d-%d in IPv6, never a default or private one,", a.IPv4.Min, a.IPv4.Max, a.IPv6.Min, a.IPv6.Max)
	within, origin := "anywhere", "of any origin"
	if len(a.Within) > 0 {
		words := make([]string, len(a.Within))
		for i, w := range a.Within {
			words[i] = w.String()
		}
		within = "within " + strings.Join(words, ", ")
	}
	if len(a.Origins) > 0 {
		words := make([]string, len(a.Origins))
		for i, asn := range a.Origins {
			words[i] = strconv.FormatUint(uint64(asn), 10)
		}
		origin = "whose AS path ends in " + strings.Join(words, ", ")
	}
	tell("%s, %s.", within, origin)
	if len(a.Within) == 0 && len(a.Origins) == 0 {
		tell("So that nothing foreign is announced, the filter below lets out what your own AS begins: widen it to your customers.")
	}
}

// meanings tells what communities do.
func (s *session) meanings(tell teller, p config.Partner) {
	if len(p.Communities) == 0 {
		return
	}
	tell("")
	tell("Communities that mean something to gslb, on a prefix that carries them:")
	width := 0
	for _, c := range p.Communities {
		width = max(width, len(c.Value))
	}
	for _, c := range p.Communities {
		meaning := "the prefix is not used"
		if !c.Ignore {
			meaning = fmt.Sprintf("preference %d instead of 100; of all that announce a prefix the highest gets its clients", c.Prefer)
		}
		tell("  %-*s  %s", width, c.Value, meaning)
	}
}

// leftOpen tells what the reader has to fill in or to set elsewhere.
func (s *session) leftOpen(tell teller, r Router, peer config.Peer) {
	var open []string
	note := func(format string, args ...any) { open = append(open, fmt.Sprintf(format, args...)) }
	if s.Ours == unknownAddress {
		note("%s is the address that gslb's sessions come from: our configuration leaves it to the kernel.", unknownAddress)
	}
	if s.Secret != "" {
		note("%s is the first line of %s on the gslb server.", s.Secret, peer.PasswordFile)
	}
	s.ports(note, r, peer)
	if r == IOSXR {
		note("Loopback0 stands for the interface that has the address %s.", s.Theirs)
	}
	if s.Hops > 0 && r == Junos {
		note("gslb drops packets with a TTL below %d (RFC 5082). To do the same to its packets, which have 255, use a firewall filter.", 256-s.Hops)
	}
	for _, f := range s.Families {
		if f.NextHop != "" {
			note("The next hop %s is only there because BGP wants one: gslb does not use it.", f.NextHop)
		}
	}
	if len(open) == 0 {
		return
	}
	tell("")
	for _, line := range open {
		tell("%s", line)
	}
}

// ports tells of those that the router cannot be told of.
func (s *session) ports(note teller, r Router, peer config.Peer) {
	fixed := r == Junos || r == IOSXR // such a router knows port 179 alone
	switch {
	case !fixed || s.OurPort == 0 || s.OurPort == defaultPort:
	case peer.Passive:
		note("No session comes about: gslb waits on port %d, and this router connects to 179 alone.", s.OurPort)
	default:
		note("gslb listens on port %d and this router connects to 179 alone: so gslb opens the session.", s.OurPort)
	}
	switch {
	case peer.Passive || s.TheirPort == defaultPort:
	case fixed:
		note("gslb connects to port %d, where this router does not listen: have ours set to 179.", s.TheirPort)
	case r == FRR:
		note("gslb connects to port %d: start bgpd with -p %d, or have ours set to 179.", s.TheirPort, s.TheirPort)
	}
}
