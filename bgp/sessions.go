package bgp

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"net/netip"
	"os/exec"
	"slices"
	"sync"
	"time"

	"gslb/bgp/wire"
)

// Sessions holds the BGP sessions of all peers: their connections, the speaker that talks on them, and
// the listeners. A change of the configuration touches the peers that it changes and no others.
// It is safe for concurrent use.
type Sessions struct {
	sink    Sink
	log     *slog.Logger
	gate    *gate
	child   *child
	applied chan struct{} // one slot: the wanted state changed

	// Owned by Run.
	signs   bool              // connections to the speaker are signed
	ourself identity          // that the sessions were begun with
	last    uint32            // ID given last
	up      map[uint32]bool   // neighbours whose session is up
	ids     map[uint32]*relay // of the peers that are wanted

	// Guarded by mu. Run alone writes relays and listeners, so that it need not hold mu to read them.
	mu        sync.Mutex
	local     Local
	peers     []Peer
	left      map[netip.Addr]bool // peers that some Apply left out since follow looked, though a later one has them again
	relays    map[netip.Addr]*worker
	listeners map[netip.AddrPort]*listening
}

// identity is what our OPENs say of us.
type identity struct {
	asn      uint32
	routerID netip.Addr
}

// worker is a relay at work.
type worker struct {
	*relay
	id  uint32
	end context.CancelCauseFunc
}

// listening is a listener at work.
type listening struct {
	*listener
	end context.CancelFunc
}

// NewSessions makes the sessions; nothing happens before [Sessions.Run]. The command, made anew for
// each start, runs a speaker (package bgp/speaker) that ends when the context does; its standard input
// and output are ours.
func NewSessions(command func(context.Context) *exec.Cmd, sink Sink, log *slog.Logger) *Sessions {
	start := func(ctx context.Context) (*process, error) { return started(ctx, command) }
	return &Sessions{
		sink:      sink,
		log:       log,
		gate:      newGate(),
		child:     newChild(start, log),
		applied:   make(chan struct{}, 1),
		up:        make(map[uint32]bool),
		ids:       make(map[uint32]*relay),
		left:      make(map[netip.Addr]bool),
		relays:    make(map[netip.Addr]*worker),
		listeners: make(map[netip.AddrPort]*listening),
	}
}

// Apply makes the peers the wanted ones. It returns at once; Run brings it about. Of several peers with
// one address the first counts. Without peers no speaker runs. A peer that one Apply leaves out and the next
// has again begins anew, however soon that is: whoever is told of the peers has forgotten its routes.
func (s *Sessions) Apply(local Local, peers []Peer) {
	local.Listen = slices.Clone(local.Listen)
	s.mu.Lock()
	for _, old := range s.peers {
		stays := slices.ContainsFunc(peers, func(p Peer) bool { return p.Address == old.Address && p.Partner == old.Partner })
		s.left[old.Address] = s.left[old.Address] || !stays
	}
	s.local, s.peers = local, slices.Clone(peers)
	s.mu.Unlock()
	signal(s.applied)
}

// Run holds the sessions until ctx ends, tells the peers goodbye, and returns nil when everything that
// it started has ended. The sink hears nothing of that end. It runs once.
func (s *Sessions) Run(ctx context.Context) error {
	if err := secretsHindered(); err != nil {
		s.log.Warn("local users could pose as peers: connections to the speaker cannot be signed", "cause", err)
	} else {
		s.signs = true
	}
	talking, silence := context.WithCancel(context.WithoutCancel(ctx))
	var speaker, rest sync.WaitGroup
	speaker.Go(func() { s.child.run(talking) })
	defer speaker.Wait()
	defer silence() // after the relays have parted from the peers
	defer rest.Wait()
	for {
		select {
		case <-ctx.Done():
			s.disband()
			return nil
		case <-s.applied:
			s.follow(ctx, &rest)
		case m := <-s.child.events:
			s.hearAll(m)
		}
	}
}

// disband takes the peers and listeners that Run's end takes along out of view.
func (s *Sessions) disband() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.relays)
	clear(s.listeners)
}

// follow makes the relays, the listeners and the speaker's neighbours those that are wanted.
func (s *Sessions) follow(ctx context.Context, rest *sync.WaitGroup) {
	s.mu.Lock()
	local, peers, left := s.local, s.peers, s.left
	s.left = make(map[netip.Addr]bool)
	s.mu.Unlock()
	wanted := make(map[netip.Addr]Peer, len(peers))
	for _, p := range peers {
		if first, twice := wanted[p.Address]; twice {
			s.log.Error("peer left out, another has its address", "partner", p.Partner, "peer", p.Address, "other", first.Partner)
			continue
		}
		wanted[p.Address] = p
	}
	s.listen(ctx, rest, local.Listen)
	now := identity{local.ASN, local.RouterID}
	leaving := s.leave(wanted, left, now != s.ourself)
	s.ourself = now
	for _, address := range slices.SortedFunc(maps.Keys(wanted), netip.Addr.Compare) {
		if s.relays[address] == nil {
			s.join(ctx, rest, wanted[address], leaving[address])
		}
	}
	s.child.want(s.configuration(local))
}

// leave ends the relays whose peers are not wanted as they are, or all when we are no longer who we were, and
// gives them by address.
func (s *Sessions) leave(wanted map[netip.Addr]Peer, left map[netip.Addr]bool, all bool) map[netip.Addr]*relay {
	leaving := make(map[netip.Addr]*relay)
	for address, w := range s.relays {
		p, stays := wanted[address]
		stays = stays && !left[address]
		if stays && p == w.peer && !all {
			continue
		}
		why := changed()
		if !stays {
			why = removed()
		}
		s.mu.Lock()
		delete(s.relays, address)
		s.mu.Unlock()
		leaving[address] = w.relay
		w.end(why)
		w.log.Info("peer ended", "cause", why.text)
		gone := !stays || p.Partner != w.peer.Partner || p.ASN != w.peer.ASN
		if gone || s.up[w.id] {
			s.sink.Down(w.peer, Cause{Administrative: gone, Text: why.text})
		}
		delete(s.ids, w.id)
		delete(s.up, w.id)
	}
	return leaving
}

// join starts a relay, once the one that held the peer's address before has ended.
func (s *Sessions) join(ctx context.Context, rest *sync.WaitGroup, p Peer, before *relay) {
	s.last++
	life, end := context.WithCancelCause(ctx)
	sign := func(password string) error { return s.sign(p.Address, password) }
	secret := ""
	if s.signs {
		secret = rand.Text()
	}
	w := &worker{relay: newRelay(p, loopback(s.last), secret, s.gate, sign, s.log), id: s.last, end: end}
	s.ids[w.id] = w.relay
	s.mu.Lock()
	s.relays[p.Address] = w
	s.mu.Unlock()
	rest.Go(func() {
		defer end(nil)
		if before != nil {
			<-before.done
		}
		w.run(life)
	})
}

// loopback is the address that the speaker knows a neighbour by.
func loopback(id uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{127, 64 | byte(id>>16)&63, byte(id >> 8), byte(id)})
}

// configuration is what the speaker is to know.
func (s *Sessions) configuration(local Local) wire.Configure {
	c := wire.Configure{ASN: local.ASN, RouterID: local.RouterID}
	for _, id := range slices.Sorted(maps.Keys(s.ids)) {
		r := s.ids[id]
		c.Neighbours = append(c.Neighbours, wire.Neighbour{
			ID: id, Address: r.loopback, Secret: r.secret, ASN: r.peer.ASN, HoldTime: cmp.Or(r.peer.HoldTime, DefaultHoldTime),
			Keepalive: r.peer.Keepalive, IPv4: r.peer.Only != OnlyIPv6, IPv6: r.peer.Only != OnlyIPv4, AddPath: r.peer.AddPath, GracefulRestart: true,
		})
	}
	return c
}

// listen makes the listeners those of the addresses.
func (s *Sessions) listen(ctx context.Context, rest *sync.WaitGroup, addresses []netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a, l := range s.listeners {
		if !slices.Contains(addresses, a) {
			l.end()
			delete(s.listeners, a)
		}
	}
	for _, a := range addresses {
		if s.listeners[a] != nil {
			continue
		}
		life, end := context.WithCancel(ctx)
		l := newListener(a, s.relay, s.log)
		s.listeners[a] = &listening{l, end}
		rest.Go(func() { l.run(life) })
	}
}

// sign gives all listeners the key of a peer.
func (s *Sessions) sign(peer netip.Addr, password string) error {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.listeners))
	s.mu.Unlock()
	for _, l := range all {
		if err := l.key(peer, password); err != nil {
			return err
		}
	}
	return nil
}

// relay is that of the peer with the address, or nil.
func (s *Sessions) relay(address netip.Addr) *relay {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.relays[address]; w != nil {
		return w.relay
	}
	return nil
}

// Reset ends the session of a peer, if there is one, and begins it anew at once, whatever pause or
// backoff the peer is in. It tells whether there is such a peer.
func (s *Sessions) Reset(peer netip.Addr) bool { return s.order(peer, reset()) }

// Suspend ends the session of a peer that announced too many prefixes (RFC 4486 section 4), and leaves
// the peer alone for so long or until [Sessions.Reset]. It tells whether there is such a peer.
func (s *Sessions) Suspend(peer netip.Addr, d time.Duration) bool {
	return s.order(peer, ending{subcode: ceaseMaxPrefixes, text: "it announced too many prefixes", pause: d})
}

func (s *Sessions) order(peer netip.Addr, e ending) bool {
	r := s.relay(peer)
	if r == nil {
		return false
	}
	r.order(e)
	return true
}

// Peers shows all peers, by partner and address.
func (s *Sessions) Peers() []PeerView {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.relays))
	s.mu.Unlock()
	views := make([]PeerView, 0, len(all))
	for _, w := range all {
		views = append(views, w.show())
	}
	slices.SortFunc(views, func(a, b PeerView) int {
		return cmp.Or(cmp.Compare(a.Peer.Partner, b.Peer.Partner), a.Peer.Address.Compare(b.Peer.Address))
	})
	return views
}

// Listeners shows all listening addresses.
func (s *Sessions) Listeners() []ListenView {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.listeners))
	s.mu.Unlock()
	views := make([]ListenView, 0, len(all))
	for _, l := range all {
		views = append(views, l.view())
	}
	slices.SortFunc(views, func(a, b ListenView) int { return a.Address.Compare(b.Address) })
	return views
}
