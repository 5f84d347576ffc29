package speaker

import (
	"bytes"
	"net/netip"
	"slices"

	api "github.com/osrg/gobgp/v3/api"
	"google.golang.org/protobuf/types/known/anypb"

	"gslb/bgp/wire"
)

// defaultLocalPref is the preference of a route that carries none we may heed.
const defaultLocalPref = 100

// pathReader reads gobgp's paths. It remembers the attributes that it read last: the paths of one
// UPDATE have the same ones, and reading them is the greater part of the work.
type pathReader struct {
	ourASN     uint32
	attributes []*anypb.Any
	source     uint32 // AS of the peer that they came from
	path       wire.Path
	ok         bool // what they say of a path can be read
}

// changes reads the paths that are of unicast IPv4 or IPv6.
func (r *pathReader) changes(paths []*api.Path) []wire.Change {
	all := make([]wire.Change, 0, len(paths))
	for _, p := range paths {
		if c, ok := r.change(p); ok {
			all = append(all, c)
		}
	}
	return all
}

func (r *pathReader) change(p *api.Path) (wire.Change, bool) {
	var nlri api.IPAddressPrefix
	if !p.GetNlri().MessageIs(&nlri) || p.GetNlri().UnmarshalTo(&nlri) != nil {
		return wire.Change{}, false
	}
	addr, err := netip.ParseAddr(nlri.GetPrefix())
	if err != nil {
		return wire.Change{}, false
	}
	prefix, err := addr.Prefix(int(nlri.GetPrefixLen()))
	if err != nil {
		return wire.Change{}, false
	}
	c := wire.Change{Prefix: prefix, PathID: p.GetIdentifier(), Withdraw: p.GetIsWithdraw()}
	if c.Withdraw {
		return c, true
	}
	if r.attributes == nil || r.source != p.GetSourceAsn() || !slices.EqualFunc(r.attributes, p.GetPattrs(), sameAttribute) {
		r.attributes, r.source = p.GetPattrs(), p.GetSourceAsn()
		r.path, r.ok = pathOf(p, r.ourASN)
	}
	c.Path = r.path
	return c, r.ok
}

// sameAttribute tells whether two attributes say the same of a path. What MP_REACH_NLRI has beside its
// prefix, the next hop, says nothing.
func sameAttribute(a, b *anypb.Any) bool {
	return a.GetTypeUrl() == b.GetTypeUrl() &&
		(bytes.Equal(a.GetValue(), b.GetValue()) || a.MessageIs((*api.MpReachNLRIAttribute)(nil)))
}

// pathOf reads the attributes that steering needs. gobgp has already merged AS4_PATH into AS_PATH.
func pathOf(p *api.Path, ourASN uint32) (wire.Path, bool) {
	peer := p.GetSourceAsn()
	w := wire.Path{Origin: peer, NeighbourASN: peer, LocalPref: defaultLocalPref}
	var (
		asPath      api.AsPathAttribute
		med         api.MultiExitDiscAttribute
		localPref   api.LocalPrefAttribute
		communities api.CommunitiesAttribute
		large       api.LargeCommunitiesAttribute
	)
	for _, a := range p.GetPattrs() {
		var err error
		switch {
		case a.MessageIs(&asPath):
			err = a.UnmarshalTo(&asPath)
			walk(&w, asPath.GetSegments(), ourASN)
		case a.MessageIs(&med):
			err = a.UnmarshalTo(&med)
			w.MED = med.GetMed()
		case a.MessageIs(&localPref) && peer == ourASN:
			err = a.UnmarshalTo(&localPref)
			w.LocalPref = localPref.GetLocalPref()
		case a.MessageIs(&communities):
			err = a.UnmarshalTo(&communities)
			w.Communities = communities.GetCommunities()
		case a.MessageIs(&large):
			err = a.UnmarshalTo(&large)
			w.Large = largeOf(large.GetCommunities())
		}
		if err != nil {
			return wire.Path{}, false
		}
	}
	return w, true
}

func largeOf(communities []*api.LargeCommunity) [][3]uint32 {
	all := make([][3]uint32, len(communities))
	for i, c := range communities {
		all[i] = [3]uint32{c.GetGlobalAdmin(), c.GetLocalData1(), c.GetLocalData2()}
	}
	return all
}

// walk reads an AS_PATH into w, which comes with the answers for an empty one. Confederation
// segments only tell of loops: beyond them the path is as if they were not there (RFC 5065).
func walk(w *wire.Path, segments []*api.AsSegment, ourASN uint32) {
	first := true
	for _, s := range segments {
		numbers := s.GetNumbers()
		for _, n := range numbers {
			w.Loop = w.Loop || n == ourASN
		}
		if len(numbers) == 0 {
			continue
		}
		switch s.GetType() {
		case api.AsSegment_AS_SEQUENCE:
			w.PathLength += uint32(len(numbers))
			w.Origin = numbers[len(numbers)-1]
			if first {
				w.NeighbourASN = numbers[0]
			}
		case api.AsSegment_AS_SET:
			w.PathLength++
			w.Origin = 0
		default:
			continue
		}
		first = false
	}
}
