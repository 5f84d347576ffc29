package rpki

import (
	"cmp"
	"net/netip"
	"slices"
)

// VRP says that an AS may originate a prefix, and those inside it up to a length.
type VRP struct {
	Prefix    netip.Prefix // masked
	MaxLength int
	ASN       uint32 // 0: nobody may (RFC 7607)
}

// valid tells whether the numbers of a VRP fit together.
func (v VRP) valid() bool {
	return v.Prefix.IsValid() && v.Prefix == v.Prefix.Masked() && v.MaxLength >= v.Prefix.Bits() && v.MaxLength <= v.Prefix.Addr().BitLen()
}

// State is what a set says of a route (RFC 6811 section 2).
type State uint8

const (
	// NotFound means that no VRP speaks of the prefix.
	NotFound State = iota
	// Valid means that some VRP allows the route.
	Valid
	// Invalid means that VRPs speak of the prefix, and none allows the route.
	Invalid
)

// String gives the word of RFC 6811.
func (s State) String() string { return [...]string{"not found", "valid", "invalid"}[s] }

// Set is a list of VRPs, ready to judge. It is immutable; nil and the zero value know of nothing.
type Set struct {
	vrps    map[netip.Prefix][]VRP // by AS, of one AS the longest first
	lengths [2][]int               // prefix lengths that occur, IPv4 and IPv6
	len     int
}

// NewSet makes a set. VRPs that make no sense are left out, doubles count once.
func NewSet(vrps []VRP) *Set {
	sound := make([]VRP, 0, len(vrps))
	for _, v := range vrps {
		if v.valid() {
			sound = append(sound, v)
		}
	}
	slices.SortFunc(sound, VRP.compare)
	sound = slices.Compact(sound)
	s := &Set{vrps: make(map[netip.Prefix][]VRP), len: len(sound)}
	for len(sound) > 0 {
		p, n := sound[0].Prefix, 1
		for n < len(sound) && sound[n].Prefix == p {
			n++
		}
		s.vrps[p] = sound[:n:n]
		sound = sound[n:]
		if f := family(p.Addr()); !slices.Contains(s.lengths[f], p.Bits()) {
			s.lengths[f] = append(s.lengths[f], p.Bits())
		}
	}
	return s
}

// compare orders by prefix, then by AS, then the longest first.
func (v VRP) compare(o VRP) int {
	return cmp.Or(v.Prefix.Compare(o.Prefix), cmp.Compare(v.ASN, o.ASN), cmp.Compare(o.MaxLength, v.MaxLength))
}

func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// Len is the number of VRPs.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return s.len
}

// Validate judges a route. Origin 0 stands for a path without a single origin, which no VRP allows.
func (s *Set) Validate(p netip.Prefix, origin uint32) State {
	if s == nil {
		return NotFound
	}
	state := NotFound
	for _, bits := range s.lengths[family(p.Addr())] {
		if bits > p.Bits() {
			continue
		}
		speaking := s.vrps[netip.PrefixFrom(p.Addr(), bits).Masked()]
		if len(speaking) == 0 {
			continue
		}
		i, found := slices.BinarySearchFunc(speaking, origin, func(v VRP, asn uint32) int { return cmp.Compare(v.ASN, asn) })
		if found && origin != 0 && p.Bits() <= speaking[i].MaxLength {
			return Valid
		}
		state = Invalid
	}
	return state
}
