package bgp

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"gslb/bgp/rpki"
	"gslb/bgp/wire"
)

// Partner is a network that wants its clients on a site of ours, and what we believe of it.
type Partner struct {
	Name        string
	Networks    []netip.Prefix // of the configuration: always believed
	Accept      Accept
	Communities []Community
	Stale       time.Duration // how long routes outlive the loss of their session
}

// Accept bounds what is believed of a partner's announcements. A route has to pass all of it.
type Accept struct {
	Within      []netip.Prefix // the prefix lies in one of these; empty: anywhere
	Origins     []uint32       // the last AS of the path is one of these; empty: any
	IPv4, IPv6  Lengths        // of the prefix
	MaxPrefixes int            // of one session, counted as received
}

// Lengths is an inclusive range of prefix lengths.
type Lengths struct{ Min, Max int }

// Community says what one community means for a route that carries it.
type Community struct {
	Value  string // "64501:50", or large as "64501:1:50"
	Ignore bool   // the route is not used
	Prefer uint32 // its preference, when not Ignore
}

// judge gives the preference of an announcement, or why it is not believed. Of several communities
// that set a preference the lowest counts: the more careful wish.
func (p *Partner) judge(prefix netip.Prefix, path Path, vrps *rpki.Set) (preference uint32, refused Refusal) {
	a := &p.Accept
	lengths := a.IPv4
	if prefix.Addr().Is6() {
		lengths = a.IPv6
	}
	switch {
	case prefix.Bits() == 0:
		return 0, RefusedDefault
	case Bogus(prefix.Addr()):
		return 0, RefusedBogus
	case prefix.Bits() < lengths.Min || prefix.Bits() > lengths.Max:
		return 0, RefusedLength
	case len(a.Within) > 0 && !slices.ContainsFunc(a.Within, func(w netip.Prefix) bool { return w.Bits() <= prefix.Bits() && w.Contains(prefix.Addr()) }):
		return 0, RefusedWithin
	case path.Loop:
		return 0, RefusedLoop
	case path.Origin == 0:
		return 0, RefusedASSet
	case len(a.Origins) > 0 && !slices.Contains(a.Origins, path.Origin):
		return 0, RefusedOrigin
	case vrps.Validate(prefix, path.Origin) == rpki.Invalid:
		return 0, RefusedRPKI
	}
	return p.prefer(path)
}

func (p *Partner) prefer(path Path) (preference uint32, refused Refusal) {
	preference, set := uint32(DefaultPreference), false
	for _, c := range p.Communities {
		switch {
		case !path.carries(c.Value):
		case c.Ignore:
			return 0, RefusedIgnored
		case !set || c.Prefer < preference:
			preference, set = c.Prefer, true
		}
	}
	if path.leaving(p.Communities) {
		preference = 0
	}
	return preference, Believed
}

// Communities that every router knows: GRACEFUL_SHUTDOWN of a link that is about to be taken down (RFC 8326), for which
// a local preference of 0 is recommended, and LLGR_STALE of a route whose own session is long gone (RFC 9494), which
// is to be preferred the least.
const (
	gracefulShutdown = "65535:0"
	longLivedStale   = "65535:6"
)

// leaving tells whether the announcement says that it is better not relied on, by a community that the configuration does
// not give a meaning of its own.
func (p Path) leaving(own []Community) bool {
	if !strings.Contains(p.Communities, "65535:") {
		return false // as nearly all
	}
	return slices.ContainsFunc([]string{gracefulShutdown, longLivedStale}, func(known string) bool {
		return p.carries(known) && !slices.ContainsFunc(own, func(c Community) bool { return c.Value == known })
	})
}

// carries tells whether the announcement has a community, in the form of [Community].
func (p Path) carries(community string) bool {
	return slices.Contains(strings.Fields(p.Communities), community)
}

// communityText writes communities (RFC 1997) and large ones (RFC 8092) as [Path] keeps them: words
// in order, so that equal sets are equal texts.
func communityText(standard []uint32, large [][3]uint32) string {
	words := make([]string, 0, len(standard)+len(large))
	for _, c := range standard {
		words = append(words, strconv.Itoa(int(c>>16))+":"+strconv.Itoa(int(c&0xffff)))
	}
	for _, c := range large {
		words = append(words, fmt.Sprintf("%d:%d:%d", c[0], c[1], c[2]))
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

// pathOf keeps of an announcement what steering needs.
func pathOf(w wire.Path) Path {
	return Path{
		Neighbour: w.NeighbourASN, Origin: w.Origin, Length: w.PathLength, MED: w.MED, Loop: w.Loop,
		Communities: communityText(w.Communities, w.Large),
	}
}
