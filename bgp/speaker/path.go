package speaker

import (
	"net/netip"

	api "github.com/osrg/gobgp/v3/api"

	"gslb/bgp/wire"
)

// defaultLocalPref is the preference of a route that carries none we may heed.
const defaultLocalPref = 100

// changeOf reads one of gobgp's paths; false if it is none of unicast IPv4 or IPv6.
func changeOf(p *api.Path, ourASN uint32) (wire.Change, bool) {
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
	path, ok := pathOf(p, ourASN)
	c.Path = path
	return c, ok
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
