package kit

import (
	"embed"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"text/template"

	"gslb/config"
)

// Router is a kind of router, by the word for it.
type Router string

// The kinds of router that there is a kit for.
const (
	BIRD  Router = "bird"   // version 2
	FRR   Router = "frr"    // version 8
	Junos Router = "junos"  // for "load merge"
	IOSXR Router = "ios-xr" // version 7
)

// Routers gives every kind.
func Routers() []Router { return []Router{BIRD, FRR, Junos, IOSXR} }

// title is the name of the kind, for readers.
func (r Router) title() string {
	switch r {
	case BIRD:
		return "BIRD 2"
	case FRR:
		return "FRR"
	case Junos:
		return "Junos"
	case IOSXR:
		return "IOS-XR"
	}
	return string(r)
}

//go:embed *.tmpl
var files embed.FS

// Write gives the configuration of every peer of a partner, one text after the other: each is for the
// router with that address.
func Write(r Router, ours config.BGP, p config.Partner) (string, error) {
	if len(p.Peers) == 0 {
		return "", fmt.Errorf("partner %s has no peers: its networks are listed in our configuration, so there is no router to set up", p.Name)
	}
	name := string(r) + ".tmpl"
	text, err := template.New(name).ParseFS(files, name)
	if err != nil {
		return "", fmt.Errorf("router %q: there is no kit for it", r)
	}
	var out strings.Builder
	for i, peer := range p.Peers {
		s, err := newSession(r, ours, p, peer)
		if err != nil {
			return "", err
		}
		if i > 0 {
			out.WriteByte('\n')
		}
		if err := text.Execute(&out, s); err != nil {
			return "", fmt.Errorf("kit for %s: %w", r, err)
		}
	}
	return out.String(), nil
}

// session is one session as the partner's router is to see it: "ours" is the other end to it.
type session struct {
	Name      string // an identifier in every router's language
	Partner   string
	Ours      string // our address, or unknownAddress
	Theirs    netip.Addr
	OurPort   uint16
	TheirPort uint16
	OurASN    uint32
	TheirASN  uint32
	Passive   bool // we open the session, and take none
	Secret    string
	Hops      int // for TTL security; 0: none
	Hold      int // seconds
	Keepalive int // seconds
	AddPath   bool
	Limit     int
	Families  []family
	Origins   []uint32 // last AS of a path that others began
	Own       bool     // networks that the router's own AS begins
	AnyOrigin bool
	About     []string // what to know, in lines
}

// family is what one address family carries.
type family struct {
	IPv6    bool
	Spans   []span
	NextHop string // any address of the family, where the session's own is of the other; "": not needed
}

// span is the prefixes inside a network whose length is in a range.
type span struct {
	Network  netip.Prefix
	Min, Max int
}

// Carries tells whether the session has a family, by its number.
func (s session) Carries(ipv6 bool) bool {
	return slices.ContainsFunc(s.Families, func(f family) bool { return f.IPv6 == ipv6 })
}

// Internal tells whether both ends are in one AS.
func (s session) Internal() bool { return s.OurASN == s.TheirASN }

// Exact tells whether the network alone is meant.
func (s span) Exact() bool { return s.Min == s.Max && s.Min == s.Network.Bits() }

// unknownAddress stands for our address where the configuration leaves it to the kernel.
const unknownAddress = "GSLB-ADDRESS"

const defaultPort = 179

func newSession(r Router, ours config.BGP, p config.Partner, peer config.Peer) (session, error) {
	s := session{
		Partner: p.Name, Theirs: peer.Address, TheirPort: peer.Port, OurASN: ours.ASN, TheirASN: peer.ASN,
		Hops: peer.TTLSecurity, Hold: int(peer.Hold.Seconds()), Keepalive: int(peer.Keepalive.Seconds()),
		AddPath: peer.AddPath, Limit: p.Accept.MaxPrefixes,
	}
	s.Ours, s.OurPort = ourEnd(ours, peer)
	s.Passive = s.OurPort == 0
	s.Name = "gslb_" + strings.Map(letters, s.Ours)
	if s.Keepalive == 0 {
		s.Keepalive = s.Hold / 3
	}
	if peer.PasswordFile != "" {
		s.Secret = "SECRET-OF-" + peer.PasswordFile[strings.LastIndexByte(peer.PasswordFile, '/')+1:]
	}
	s.origins(p, peer)
	for _, f := range peer.Families {
		if spans := spansOf(p.Accept, f); len(spans) > 0 {
			s.Families = append(s.Families, family{f == config.FamilyIPv6, spans, nextHop(f, peer.Address)})
		}
	}
	if len(s.Families) == 0 {
		return s, fmt.Errorf("partner %s, peer %s: nothing that it could announce would be believed: accept.within has no network of the session's families", p.Name, peer.Address)
	}
	s.about(r, ours, p, peer)
	return s, nil
}

// letters keeps what every router takes in a name.
func letters(c rune) rune {
	if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return c
	}
	return '_'
}

// ourEnd is where the partner's router finds us: our address, and our port, 0 when we do not listen.
func ourEnd(ours config.BGP, peer config.Peer) (address string, port uint16) {
	address = unknownAddress
	if peer.Local.IsValid() {
		address = peer.Local.String()
	}
	for _, l := range ours.Listen {
		specific := !l.Addr().IsUnspecified()
		if l.Addr().Is4() != peer.Address.Is4() || specific && peer.Local.IsValid() && l.Addr() != peer.Local {
			continue
		}
		if specific {
			address = l.Addr().String()
		}
		return address, l.Port()
	}
	return address, 0
}

// origins settles which networks may be announced, by who began them. With nothing said of what we
// believe, a router must not announce the whole Internet: its own networks alone go out.
func (s *session) origins(p config.Partner, peer config.Peer) {
	s.AnyOrigin = len(p.Accept.Origins) == 0 && len(p.Accept.Within) > 0
	s.Own = len(p.Accept.Origins) == 0
	for _, asn := range p.Accept.Origins {
		if asn == peer.ASN {
			s.Own = true
		}
		s.Origins = append(s.Origins, asn)
	}
}

// spansOf gives what we believe of a family. The default route is never among it.
func spansOf(a config.Accept, f config.Family) []span {
	lengths, all := a.IPv4, netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	if f == config.FamilyIPv6 {
		lengths, all = a.IPv6, netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	within := a.Within
	if len(within) == 0 {
		within = []netip.Prefix{all}
	}
	var spans []span
	for _, w := range within {
		s := span{w.Masked(), max(w.Bits(), lengths.Min, 1), lengths.Max}
		if w.Addr().Is6() == all.Addr().Is6() && s.Min <= s.Max {
			spans = append(spans, s)
		}
	}
	return spans
}

// nextHop is an address that fits a family where the session's own address does not: steering does
// not look at it, but BGP must have one.
func nextHop(f config.Family, peer netip.Addr) string {
	switch {
	case f == config.FamilyIPv6 && peer.Is4():
		return "2001:db8::1"
	case f == config.FamilyIPv4 && peer.Is6():
		return "192.0.2.1"
	}
	return ""
}
