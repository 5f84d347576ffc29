package speaker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"

	api "github.com/osrg/gobgp/v3/api"
	"github.com/osrg/gobgp/v3/pkg/apiutil"
	"github.com/osrg/gobgp/v3/pkg/packet/bgp"
	"github.com/osrg/gobgp/v3/pkg/server"
)

// Announcer is a router with one peer, to which it announces networks as its own and from which it
// learns nothing: the other end of a session, for showing and trying what a partner does.
type Announcer struct {
	ASN      uint32
	RouterID netip.Addr     // an IPv4 address
	Local    netip.AddrPort // the peer may connect here; our own connections come from this address
	Peer     netip.AddrPort
	PeerASN  uint32
	Prefixes []netip.Prefix // of both families, which the session carries
}

// Words that an announcer obeys.
const (
	WordAnnounce = "announce" // all prefixes, as from the start
	WordWithdraw = "withdraw" // all prefixes; the session stays
	WordShutdown = "shutdown" // end, as with the end of the words
)

// Announce announces until ctx or the words on commands end, or one of these is [WordShutdown]. The
// peer then hears Cease, Peer De-configured, so that it knows the end as our will; one that is to hear
// nothing takes the killing of the process. A session that is lost is begun anew within about two
// seconds of the peer's return. After the first routes of a session comes the end-of-RIB of each
// family (RFC 4724).
//
// The goroutine that reads commands lives until these end, and those of gobgp that cannot be stopped
// until the process does.
func Announce(ctx context.Context, a Announcer, commands io.Reader, log *slog.Logger) error {
	if a.ASN == 0 || a.PeerASN == 0 || !a.RouterID.Is4() || !a.Local.IsValid() || !a.Peer.IsValid() {
		return fmt.Errorf("announcer %+v: needs two ASNs, an IPv4 router ID and two addresses", a)
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &announcer{
		Announcer: a,
		gobgp:     &gobgp{asn: a.ASN, port: a.Local.Port(), unwatch: cancel},
		journal:   newJournal(),
		states:    make(chan state),
	}
	r.server = server.NewBgpServer(server.LoggerOption(r.journal))
	go r.server.Serve()
	defer r.stop()
	if err := r.open(ctx); err != nil {
		return err
	}
	return r.run(ctx, spoken(ctx, commands), log)
}

// announcer is owned by the goroutine of Announce.
type announcer struct {
	Announcer
	*gobgp
	journal *journal
	states  chan state // of the session
	state   state
}

// open starts gobgp with everything that it is to announce.
func (r *announcer) open(ctx context.Context) error {
	err := r.server.StartBgp(ctx, &api.StartBgpRequest{Global: &api.Global{
		Asn: r.ASN, RouterId: r.RouterID.String(), ListenPort: int32(r.Local.Port()), ListenAddresses: []string{r.Local.Addr().String()}}})
	if err != nil {
		return fmt.Errorf("start gobgp on %s: %w", r.Local, err)
	}
	hand := func(e *api.WatchEventResponse) {
		if p := e.GetPeer(); p != nil && p.GetType() == api.WatchEventResponse_PeerEvent_STATE {
			select {
			case r.states <- stateOf(p.GetPeer()):
			case <-ctx.Done():
			}
		}
	}
	if err := r.server.WatchEvent(ctx, &api.WatchEventRequest{Peer: &api.WatchEventRequest_Peer{}}, hand); err != nil {
		return fmt.Errorf("watch gobgp: %w", err)
	}
	if err := r.announce(ctx); err != nil {
		return err
	}
	return r.join(ctx)
}

// spoken gives the words of commands, one a line, and closes the channel when they end.
func spoken(ctx context.Context, commands io.Reader) <-chan string {
	words := make(chan string)
	go func() {
		defer close(words)
		for lines := bufio.NewScanner(commands); lines.Scan(); {
			select {
			case words <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return words
}

func (r *announcer) run(ctx context.Context, words <-chan string, log *slog.Logger) error {
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case word, ok := <-words:
			if !ok || word == WordShutdown {
				return nil
			}
			err = r.obey(ctx, word)
		case st := <-r.states:
			err = r.enter(ctx, st)
		case l := <-r.journal.lines:
			log.Log(ctx, l.level, l.text)
		}
		if err != nil {
			return err
		}
	}
}

func (r *announcer) obey(ctx context.Context, word string) error {
	switch word {
	case WordAnnounce:
		return r.announce(ctx)
	case WordWithdraw:
		return r.withdraw(ctx)
	}
	return fmt.Errorf("%q is no word for an announcer", word)
}

// enter follows the session. When it ends the peer is put in anew: gobgp would not listen to it for
// some seconds.
func (r *announcer) enter(ctx context.Context, st state) error {
	before := r.state
	r.state = st
	if st != idle || before < opening {
		return nil
	}
	if err := r.server.DeletePeer(ctx, &api.DeletePeerRequest{Address: r.Peer.Addr().String()}); err != nil {
		return fmt.Errorf("forget peer %s: %w", r.Peer, err)
	}
	r.journal.forget(r.Peer.Addr())
	return r.join(ctx)
}

// join makes gobgp seek a session with the peer, by connecting and by listening. Graceful restart is
// announced since without it gobgp sends no end-of-RIB.
func (r *announcer) join(ctx context.Context) error {
	families := []*api.AfiSafi{unicast(api.Family_AFI_IP, false), unicast(api.Family_AFI_IP6, false)}
	for _, f := range families {
		f.MpGracefulRestart = &api.MpGracefulRestart{Config: &api.MpGracefulRestartConfig{Enabled: true}}
	}
	err := r.server.AddPeer(ctx, &api.AddPeerRequest{Peer: &api.Peer{
		Conf:            &api.PeerConf{NeighborAddress: r.Peer.Addr().String(), PeerAsn: r.PeerASN},
		Transport:       &api.Transport{LocalAddress: r.Local.Addr().String(), RemotePort: uint32(r.Peer.Port())},
		Timers:          &api.Timers{Config: &api.TimersConfig{ConnectRetry: 1}},
		GracefulRestart: &api.GracefulRestart{Enabled: true, RestartTime: 60},
		AfiSafis:        families,
	}})
	if err != nil {
		return fmt.Errorf("seek peer %s: %w", r.Peer, err)
	}
	return nil
}

func (r *announcer) announce(ctx context.Context) error {
	for _, p := range r.Prefixes {
		path, err := pathTo(p)
		if err == nil {
			_, err = r.server.AddPath(ctx, &api.AddPathRequest{TableType: api.TableType_GLOBAL, Path: path})
		}
		if err != nil {
			return fmt.Errorf("announce %s: %w", p, err)
		}
	}
	return nil
}

func (r *announcer) withdraw(ctx context.Context) error {
	for _, p := range r.Prefixes {
		path, err := pathTo(p)
		if err == nil {
			err = r.server.DeletePath(ctx, &api.DeletePathRequest{TableType: api.TableType_GLOBAL, Family: path.Family, Path: path})
		}
		if err != nil {
			return fmt.Errorf("withdraw %s: %w", p, err)
		}
	}
	return nil
}

// pathTo is what is announced of a prefix. The next hop has to be there, and nobody forwards by it.
func pathTo(p netip.Prefix) (*api.Path, error) {
	var nlri bgp.AddrPrefixInterface = bgp.NewIPAddrPrefix(uint8(p.Bits()), p.Addr().String())
	var hop bgp.PathAttributeInterface = bgp.NewPathAttributeNextHop(p.Addr().String())
	family := &api.Family{Afi: api.Family_AFI_IP, Safi: api.Family_SAFI_UNICAST}
	if p.Addr().Is6() {
		nlri = bgp.NewIPv6AddrPrefix(uint8(p.Bits()), p.Addr().String())
		hop = bgp.NewPathAttributeMpReachNLRI(p.Addr().String(), []bgp.AddrPrefixInterface{nlri})
		family.Afi = api.Family_AFI_IP6
	}
	packed, err := apiutil.MarshalNLRI(nlri)
	if err != nil {
		return nil, err
	}
	attributes, err := apiutil.MarshalPathAttributes([]bgp.PathAttributeInterface{bgp.NewPathAttributeOrigin(0), hop})
	if err != nil {
		return nil, err
	}
	return &api.Path{Nlri: packed, Pattrs: attributes, Family: family}, nil
}
