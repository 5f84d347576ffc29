package speaker

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	api "github.com/osrg/gobgp/v3/api"
	"github.com/osrg/gobgp/v3/pkg/apiutil"
	"github.com/osrg/gobgp/v3/pkg/packet/bgp"
	"github.com/osrg/gobgp/v3/pkg/server"

	"gslb/bgp/wire"
)

const (
	loopback = "127.0.0.1"
	// portAttempts is how often another process may snatch the port that we were about to take.
	portAttempts = 10
	// stopPatience bounds how long the peers have to take leave.
	stopPatience = 2 * time.Second
	// opaque is a family of gobgp's own invention, by its number in the API. It is the only one for
	// which gobgp is to keep a table of best routes: no neighbour has it, so gobgp spends nothing on
	// choosing, and has nothing to announce. What the neighbours say is kept per neighbour anyway.
	opaque = 22
	// allowOwnASN makes gobgp show us the paths with our own ASN in them too, up to its limit.
	allowOwnASN = 255
)

// gobgp is one running instance of it, for one ASN and router ID.
type gobgp struct {
	server  *server.BgpServer
	port    uint16
	asn     uint32
	unwatch context.CancelFunc
}

// event is one thing that happened to one neighbour: routes, an End-of-RIB or a new state.
type event struct {
	address  netip.Addr
	paths    []*api.Path // of one UPDATE; they are read by another goroutine than gobgp makes them in
	endOfRIB bool
	ipv6     bool // family of the End-of-RIB
	state    state
}

// start runs an instance that has no neighbours yet. Its events go to events until it is stopped.
func start(c wire.Configure, j *journal, events chan<- event) (*gobgp, error) {
	g := &gobgp{server: server.NewBgpServer(server.LoggerOption(j)), asn: c.ASN}
	go g.server.Serve()
	if err := g.listen(c); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	g.unwatch = cancel
	return g, g.watch(ctx, events)
}

// listen starts gobgp on a free port. It cannot be told to take any and say which.
func (g *gobgp) listen(c wire.Configure) error {
	var err error
	for range portAttempts {
		if g.port, err = freePort(); err != nil {
			return err
		}
		err = g.server.StartBgp(context.Background(), &api.StartBgpRequest{Global: &api.Global{
			Asn: c.ASN, RouterId: c.RouterID.String(), ListenPort: int32(g.port), ListenAddresses: []string{loopback},
			Families: []uint32{opaque}}})
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("start gobgp: %w", err)
}

func freePort() (uint16, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return uint16(n), l.Close()
}

// stop ends the sessions and the instance's events.
func (g *gobgp) stop() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.server.Stop()
	}()
	select {
	case <-done:
	case <-time.After(stopPatience):
	}
	g.unwatch()
}

// ping returns when gobgp's loop has turned.
func (g *gobgp) ping() {
	// The answer is of no interest, and the only error is that the instance was stopped.
	_, _ = g.server.GetBgp(context.Background(), &api.GetBgpRequest{})
}

// add makes gobgp wait for the neighbour's connection.
func (g *gobgp) add(n wire.Neighbour) error {
	peer := &api.Peer{
		Conf:      &api.PeerConf{NeighborAddress: n.Address.String(), PeerAsn: n.ASN, AllowOwnAsn: allowOwnASN, AuthPassword: n.Secret},
		Transport: &api.Transport{PassiveMode: true},
		Timers: &api.Timers{Config: &api.TimersConfig{
			HoldTime:          uint64(n.HoldTime / time.Second),
			KeepaliveInterval: uint64(n.Keepalive / time.Second)}},
	}
	if n.GracefulRestart {
		peer.GracefulRestart = &api.GracefulRestart{Enabled: true, HelperOnly: true}
	}
	if n.IPv4 {
		peer.AfiSafis = append(peer.AfiSafis, unicast(api.Family_AFI_IP, n.AddPath))
	}
	if n.IPv6 {
		peer.AfiSafis = append(peer.AfiSafis, unicast(api.Family_AFI_IP6, n.AddPath))
	}
	if err := g.server.AddPeer(context.Background(), &api.AddPeerRequest{Peer: peer}); err != nil {
		return fmt.Errorf("add neighbour %s: %w", n.Address, err)
	}
	return nil
}

func unicast(afi api.Family_Afi, addPath bool) *api.AfiSafi {
	return &api.AfiSafi{
		Config:   &api.AfiSafiConfig{Family: &api.Family{Afi: afi, Safi: api.Family_SAFI_UNICAST}, Enabled: true},
		AddPaths: &api.AddPaths{Config: &api.AddPathsConfig{Receive: addPath}},
	}
}

// remove makes gobgp forget the neighbour; a session ends with Cease, Peer De-configured.
func (g *gobgp) remove(n wire.Neighbour) error {
	if err := g.server.DeletePeer(context.Background(), &api.DeletePeerRequest{Address: n.Address.String()}); err != nil {
		return fmt.Errorf("remove neighbour %s: %w", n.Address, err)
	}
	return nil
}

// watch hands gobgp's events on. gobgp calls back from an unbounded queue of its own, so that its
// sessions never wait for us.
func (g *gobgp) watch(ctx context.Context, events chan<- event) error {
	request := &api.WatchEventRequest{
		Peer: &api.WatchEventRequest_Peer{},
		Table: &api.WatchEventRequest_Table{Filters: []*api.WatchEventRequest_Table_Filter{
			{Type: api.WatchEventRequest_Table_Filter_ADJIN},
			{Type: api.WatchEventRequest_Table_Filter_EOR}}},
	}
	hand := func(e event) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}
	err := g.server.WatchEvent(ctx, request, func(r *api.WatchEventResponse) {
		if p := r.GetPeer(); p != nil {
			peerEvent(p, hand)
		}
		if t := r.GetTable(); t != nil {
			tableEvent(t.GetPaths(), hand)
		}
	})
	if err != nil {
		return fmt.Errorf("watch gobgp: %w", err)
	}
	return nil
}

// peerEvent hands on a change of state. The event of a removed neighbour is none: it comes when the
// address may already be another's.
func peerEvent(e *api.WatchEventResponse_PeerEvent, hand func(event)) {
	address, err := netip.ParseAddr(e.GetPeer().GetState().GetNeighborAddress())
	if err != nil || e.GetType() != api.WatchEventResponse_PeerEvent_STATE {
		return
	}
	hand(event{address: address, state: stateOf(e.GetPeer())})
}

// stateOf tells fresh from idle by the connection that the neighbour has not had yet.
func stateOf(p *api.Peer) state {
	switch p.GetState().GetSessionState() {
	case api.PeerState_IDLE:
		if p.GetTransport().GetLocalPort() == 0 {
			return fresh
		}
		return idle
	case api.PeerState_ACTIVE:
		return active
	case api.PeerState_OPENSENT, api.PeerState_OPENCONFIRM:
		return opening
	case api.PeerState_ESTABLISHED:
		return established
	}
	return noState
}

// tableEvent hands on the paths of one UPDATE, or an End-of-RIB, which comes as a path without NLRI.
func tableEvent(paths []*api.Path, hand func(event)) {
	if len(paths) == 0 {
		return
	}
	first := paths[0]
	address, err := netip.ParseAddr(first.GetNeighborIp())
	switch {
	case err != nil:
	case first.GetNlri() == nil:
		hand(event{address: address, endOfRIB: true, ipv6: first.GetFamily().GetAfi() == api.Family_AFI_IP6})
	default:
		hand(event{address: address, paths: paths})
	}
}

// settled tells what the OPENs of an established session settled. If the session has ended since,
// less is known of it, and its end is told next.
func (g *gobgp) settled(n wire.Neighbour) wire.Session {
	m := wire.Session{Neighbour: n.ID, State: wire.Up, ASN: n.ASN}
	request := &api.ListPeerRequest{Address: n.Address.String()}
	// ListPeer only fails for want of a request.
	_ = g.server.ListPeer(context.Background(), request, func(p *api.Peer) {
		m.ASN = p.GetState().GetPeerAsn()
		if id, err := netip.ParseAddr(p.GetState().GetRouterId()); err == nil {
			m.RouterID = id
		}
		m.HoldTime = time.Duration(p.GetTimers().GetState().GetNegotiatedHoldTime()) * time.Second
		capabilities, err := apiutil.UnmarshalCapabilities(p.GetState().GetRemoteCap())
		if err == nil {
			agree(&m, n, capabilities)
		}
	})
	return m
}

// agree fills in what the peer's capabilities and ours have in common.
func agree(m *wire.Session, n wire.Neighbour, peers []bgp.ParameterCapabilityInterface) {
	families := 0
	for _, c := range peers {
		switch c := c.(type) {
		case *bgp.CapMultiProtocol:
			families++
			m.IPv4 = m.IPv4 || n.IPv4 && c.CapValue == bgp.RF_IPv4_UC
			m.IPv6 = m.IPv6 || n.IPv6 && c.CapValue == bgp.RF_IPv6_UC
		case *bgp.CapAddPath:
			for _, t := range c.Tuples {
				sends := n.AddPath && t.Mode&bgp.BGP_ADD_PATH_SEND != 0
				m.AddPathIPv4 = m.AddPathIPv4 || sends && t.RouteFamily == bgp.RF_IPv4_UC
				m.AddPathIPv6 = m.AddPathIPv6 || sends && t.RouteFamily == bgp.RF_IPv6_UC
			}
		case *bgp.CapGracefulRestart:
			m.GracefulRestart = n.GracefulRestart
			m.RestartTime = time.Duration(c.Time) * time.Second
		}
	}
	// A peer that names no families speaks of IPv4 unicast (RFC 4760 section 8).
	m.IPv4 = m.IPv4 || families == 0 && n.IPv4
	m.AddPathIPv4 = m.AddPathIPv4 && m.IPv4
	m.AddPathIPv6 = m.AddPathIPv6 && m.IPv6
}
