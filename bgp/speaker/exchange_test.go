package speaker

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/osrg/gobgp/v3/api"
	"github.com/osrg/gobgp/v3/pkg/apiutil"
	"github.com/osrg/gobgp/v3/pkg/packet/bgp"
	gobgpserver "github.com/osrg/gobgp/v3/pkg/server"

	"gslb/bgp/wire"
)

// TestExchangeWithARealPeer lets another gobgp be the peer: both families, ADD-PATH, communities of
// both kinds, End-of-RIB, withdrawal, and a shutdown with words.
func TestExchangeWithARealPeer(t *testing.T) {
	s := launch(t)
	n := neighbour(1)
	s.begin(n)
	peer := startPeer(t, n)
	one := announcement{prefix: "203.0.113.0/24", path: []uint32{64499, 4200000001}, pathID: 1, med: 5,
		communities: []uint32{64501<<16 | 50}, large: []*bgp.LargeCommunity{{ASN: 64501, LocalData1: 1, LocalData2: 2}}}
	two := one
	two.pathID, two.path, two.med = 2, []uint32{64498}, 0
	six := announcement{prefix: "2001:db8:100::/40", path: []uint32{64499}}
	for _, a := range []announcement{one, two, six} {
		peer.announce(a)
	}
	peer.dial(n, s.port)

	up := s.session(n.ID, wire.Up)
	if !up.IPv4 || !up.IPv6 || !up.AddPathIPv4 || !up.AddPathIPv6 || !up.GracefulRestart || up.ASN != n.ASN {
		t.Errorf("session settled on %+v, want all that both can", up)
	}
	got := map[string][]wire.Path{}
	for ends := 0; ends < 2; {
		switch m := s.next().(type) {
		case wire.Routes:
			for _, c := range m.Changes {
				got[c.Prefix.String()] = append(got[c.Prefix.String()], c.Path)
			}
		case wire.EndOfRIB:
			ends++
		}
	}
	community, large := []uint32{64501<<16 | 50}, [][3]uint32{{64501, 1, 2}}
	want := map[string][]wire.Path{
		"203.0.113.0/24": {
			{Origin: 4200000001, PathLength: 3, NeighbourASN: n.ASN, MED: 5, LocalPref: 100, Communities: community, Large: large},
			{Origin: 64498, PathLength: 2, NeighbourASN: n.ASN, LocalPref: 100, Communities: community, Large: large}},
		"2001:db8:100::/40": {{Origin: 64499, PathLength: 2, NeighbourASN: n.ASN, LocalPref: 100}},
	}
	byLength := cmp.Transformer("sorted", func(p []wire.Path) map[uint32]wire.Path {
		all := map[uint32]wire.Path{}
		for _, path := range p {
			all[path.PathLength] = path
		}
		return all
	})
	if diff := cmp.Diff(want, got, same, byLength); diff != "" {
		t.Errorf("routes differ (-want +got):\n%s", diff)
	}

	peer.withdraw(one)
	m := s.next().(wire.Routes)
	if len(m.Changes) != 1 || !m.Changes[0].Withdraw || m.Changes[0].Prefix.String() != one.prefix || m.Changes[0].PathID == 0 {
		t.Errorf("after a withdrawal of one path came %+v", m)
	}
	peer.shut("cooling work")
	reason := s.session(n.ID, wire.Down).Reason
	if want := (wire.Reason{Cause: wire.Received, Code: 6, Subcode: 2, Text: "cooling work"}); reason != want || !reason.Deliberate() {
		t.Errorf("reason is %+v, want %+v", reason, want)
	}
}

// realPeer is a gobgp of its own that dials the speaker.
type realPeer struct {
	t      *testing.T
	server *gobgpserver.BgpServer
}

type announcement struct {
	prefix      string
	path        []uint32
	pathID, med uint32
	communities []uint32
	large       []*bgp.LargeCommunity
}

func startPeer(t *testing.T, n wire.Neighbour) *realPeer {
	t.Helper()
	p := &realPeer{t, gobgpserver.NewBgpServer(gobgpserver.LoggerOption(newJournal()))}
	go p.server.Serve()
	p.must(p.server.StartBgp(context.Background(), &api.StartBgpRequest{Global: &api.Global{
		Asn: n.ASN, RouterId: n.Address.String(), ListenPort: -1}}))
	t.Cleanup(p.server.Stop)
	return p
}

func (p *realPeer) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *realPeer) dial(n wire.Neighbour, port uint16) {
	p.t.Helper()
	families := []*api.AfiSafi{unicast(api.Family_AFI_IP, false), unicast(api.Family_AFI_IP6, false)}
	for _, f := range families {
		f.AddPaths.Config.SendMax = 4
		f.MpGracefulRestart = &api.MpGracefulRestart{Config: &api.MpGracefulRestartConfig{Enabled: true}}
	}
	p.must(p.server.AddPeer(context.Background(), &api.AddPeerRequest{Peer: &api.Peer{
		Conf:            &api.PeerConf{NeighborAddress: loopback, PeerAsn: ourASN},
		Transport:       &api.Transport{LocalAddress: n.Address.String(), RemotePort: uint32(port)},
		Timers:          &api.Timers{Config: &api.TimersConfig{ConnectRetry: 1, HoldTime: uint64(n.HoldTime / time.Second)}},
		GracefulRestart: &api.GracefulRestart{Enabled: true, RestartTime: 60},
		AfiSafis:        families,
	}}))
}

func (p *realPeer) api(a announcement) *api.Path {
	p.t.Helper()
	prefix := netip.MustParsePrefix(a.prefix)
	var nlri bgp.AddrPrefixInterface = bgp.NewIPAddrPrefix(uint8(prefix.Bits()), prefix.Addr().String())
	afi := api.Family_AFI_IP
	hop := bgp.PathAttributeInterface(bgp.NewPathAttributeNextHop("192.0.2.1"))
	if prefix.Addr().Is6() {
		nlri = bgp.NewIPv6AddrPrefix(uint8(prefix.Bits()), prefix.Addr().String())
		afi = api.Family_AFI_IP6
		hop = bgp.NewPathAttributeMpReachNLRI("2001:db8::1", []bgp.AddrPrefixInterface{nlri})
	}
	attributes := []bgp.PathAttributeInterface{bgp.NewPathAttributeOrigin(0), hop,
		bgp.NewPathAttributeAsPath([]bgp.AsPathParamInterface{bgp.NewAs4PathParam(bgp.BGP_ASPATH_ATTR_TYPE_SEQ, a.path)})}
	if a.med > 0 {
		attributes = append(attributes, bgp.NewPathAttributeMultiExitDisc(a.med))
	}
	if a.communities != nil {
		attributes = append(attributes, bgp.NewPathAttributeCommunities(a.communities), bgp.NewPathAttributeLargeCommunities(a.large))
	}
	any, err := apiutil.MarshalNLRI(nlri)
	p.must(err)
	pattrs, err := apiutil.MarshalPathAttributes(attributes)
	p.must(err)
	return &api.Path{Nlri: any, Pattrs: pattrs, Identifier: a.pathID, Family: &api.Family{Afi: afi, Safi: api.Family_SAFI_UNICAST}}
}

func (p *realPeer) announce(a announcement) {
	p.t.Helper()
	_, err := p.server.AddPath(context.Background(), &api.AddPathRequest{TableType: api.TableType_GLOBAL, Path: p.api(a)})
	p.must(err)
}

func (p *realPeer) withdraw(a announcement) {
	p.t.Helper()
	path := p.api(a)
	p.must(p.server.DeletePath(context.Background(), &api.DeletePathRequest{TableType: api.TableType_GLOBAL, Family: path.Family, Path: path}))
}

func (p *realPeer) shut(words string) {
	p.t.Helper()
	p.must(p.server.ShutdownPeer(context.Background(), &api.ShutdownPeerRequest{Address: loopback, Communication: words}))
}
