package speaker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	api "github.com/osrg/gobgp/v3/api"
	"github.com/osrg/gobgp/v3/pkg/packet/bgp"

	"gslb/bgp/wire"
)

func TestReadsThePathOfAutonomousSystems(t *testing.T) {
	const peer = 64501
	seq := func(n ...uint32) *api.AsSegment { return &api.AsSegment{Type: api.AsSegment_AS_SEQUENCE, Numbers: n} }
	set := func(n ...uint32) *api.AsSegment { return &api.AsSegment{Type: api.AsSegment_AS_SET, Numbers: n} }
	confed := func(n ...uint32) *api.AsSegment {
		return &api.AsSegment{Type: api.AsSegment_AS_CONFED_SEQUENCE, Numbers: n}
	}
	tests := []struct {
		name     string
		segments []*api.AsSegment
		want     wire.Path
	}{
		{"empty", nil, wire.Path{Origin: peer, NeighbourASN: peer}},
		{"the peer alone", []*api.AsSegment{seq(peer)}, wire.Path{Origin: peer, NeighbourASN: peer, PathLength: 1}},
		{"a route server that stands aside", []*api.AsSegment{seq(3, 4)}, wire.Path{Origin: 4, NeighbourASN: 3, PathLength: 2}},
		{"prepended", []*api.AsSegment{seq(3, 3, 3)}, wire.Path{Origin: 3, NeighbourASN: 3, PathLength: 3}},
		{"two sequences", []*api.AsSegment{seq(3), seq(4, 5)}, wire.Path{Origin: 5, NeighbourASN: 3, PathLength: 3}},
		{"ends in a set", []*api.AsSegment{seq(3, 4), set(5, 6)}, wire.Path{NeighbourASN: 3, PathLength: 3}},
		{"a set alone", []*api.AsSegment{set(5, 6)}, wire.Path{NeighbourASN: peer, PathLength: 1}},
		{"begins with a set", []*api.AsSegment{set(5, 6), seq(7)}, wire.Path{Origin: 7, NeighbourASN: peer, PathLength: 2}},
		{"begins in a confederation", []*api.AsSegment{confed(65001, 65002), seq(3)}, wire.Path{Origin: 3, NeighbourASN: 3, PathLength: 1}},
		{"a confederation alone", []*api.AsSegment{confed(65001)}, wire.Path{Origin: peer, NeighbourASN: peer}},
		{"an empty sequence", []*api.AsSegment{seq(), seq(3)}, wire.Path{Origin: 3, NeighbourASN: 3, PathLength: 1}},
		{"through ourselves", []*api.AsSegment{seq(3, ourASN, 4)}, wire.Path{Origin: 4, NeighbourASN: 3, PathLength: 3, Loop: true}},
		{"through ourselves in a set", []*api.AsSegment{seq(3), set(ourASN, 4)}, wire.Path{NeighbourASN: 3, PathLength: 2, Loop: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := wire.Path{Origin: peer, NeighbourASN: peer}
			walk(&got, tt.segments, ourASN)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("path differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHearsWhatOthersKeepToThemselves sends what gobgp would swallow or bend if it were let.
func TestHearsWhatOthersKeepToThemselves(t *testing.T) {
	s := launch(t)
	outside, inside := neighbour(1), neighbour(2)
	inside.ASN = ourASN
	s.begin(outside, inside)

	r, _ := s.establish(outside)
	p := prefixes(1)
	r.send(announce([]uint32{outside.ASN, 7}, nil, p...))
	r.send(announce([]uint32{outside.ASN, ourASN, 8}, nil, p...))
	r.send(preferred(announce([]uint32{outside.ASN, 9}, nil, p...)))
	r.send(bgp.NewEndOfRib(bgp.RF_IPv4_UC))
	got, _ := s.routes(outside.ID)
	want := []wire.Change{
		{Prefix: p[0], Path: wire.Path{Origin: 7, PathLength: 2, NeighbourASN: outside.ASN, LocalPref: 100}},
		{Prefix: p[0], Path: wire.Path{Origin: 8, PathLength: 3, NeighbourASN: outside.ASN, LocalPref: 100, Loop: true}},
		{Prefix: p[0], Path: wire.Path{Origin: 9, PathLength: 2, NeighbourASN: outside.ASN, LocalPref: 100}},
	}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("routes of another AS differ (-want +got):\n%s", diff)
	}

	r, _ = s.establish(inside)
	r.send(preferred(announce([]uint32{9}, nil, p...)))
	r.send(bgp.NewEndOfRib(bgp.RF_IPv4_UC))
	got, _ = s.routes(inside.ID)
	want = []wire.Change{{Prefix: p[0], Path: wire.Path{Origin: 9, PathLength: 1, NeighbourASN: 9, LocalPref: 250}}}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("routes of our own AS differ (-want +got):\n%s", diff)
	}
}

// preferred adds a LOCAL_PREF, which only a peer of our own AS may set.
func preferred(m *bgp.BGPMessage) *bgp.BGPMessage {
	u := m.Body.(*bgp.BGPUpdate)
	return bgp.NewBGPUpdateMessage(nil, append(u.PathAttributes, bgp.NewPathAttributeLocalPref(250)), u.NLRI)
}
