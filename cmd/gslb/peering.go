package main

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"runtime/debug"
	"time"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/bgp/wire"
	"gslb/cmd/gslb/sheet"
	"gslb/dns/steer"
)

// peering is the daemon's side of the partners: their sessions, and what these bring.
type peering struct {
	rib      *bgp.RIB
	sessions *bgp.Sessions
	vrps     *rpki.Source
	log      *slog.Logger
	record   func(kind, text string) // in the journal
}

func newPeering(log *slog.Logger, record func(kind, text string)) *peering {
	p := &peering{rib: bgp.NewRIB(), vrps: rpki.NewSource(log), log: log, record: record}
	p.sessions = bgp.NewSessions(speakerCommand, p.sink(), log)
	return p
}

// speakerCommand runs this very program as the BGP speaker: a malformed message may end it, but
// never the server. It ends when its input does, also when the server is killed.
func speakerCommand(ctx context.Context) *exec.Cmd {
	return exec.CommandContext(ctx, "/proc/self/exe", speakerVerb)
}

// sink hands on what the sessions bring. Their ups and downs go into the journal; the log has them
// from the sessions themselves.
func (p *peering) sink() bgp.Sink {
	return bgp.Sink{
		Up: func(peer bgp.Peer, session wire.Session) {
			p.rib.Up(peer, bgp.Opened{IPv4: session.IPv4, IPv6: session.IPv6, Ends: session.GracefulRestart})
			p.note(peer, "session up")
		},
		Down: func(peer bgp.Peer, cause bgp.Cause) {
			p.rib.Down(peer, cause, time.Now())
			p.note(peer, "session down: "+cause.Text)
		},
		Routes:   p.routes,
		EndOfRIB: func(peer bgp.Peer, ipv6 bool) { p.rib.EndOfRIB(peer, ipv6, time.Now()) },
		Lost: func() {
			p.rib.Lost(time.Now())
			p.record(sessionEvent, "all sessions lost: the BGP speaker died; learned prefixes stay, stale")
		},
	}
}

// sessionEvent is the kind of the journal's entries on partners' sessions.
const sessionEvent = "session"

func (p *peering) note(peer bgp.Peer, what string) {
	p.record(sessionEvent, peer.Partner+" "+peer.Address.String()+" "+what)
}

// routes takes in routes.
func (p *peering) routes(peer bgp.Peer, changes []wire.Change) {
	if !p.rib.Routes(peer, changes, time.Now()) {
		p.suspend(peer)
	}
}

// suspend leaves a peer that announces too many prefixes alone until what it had announced before is no longer used.
func (p *peering) suspend(peer bgp.Peer) {
	pause := p.rib.Stale(peer.Partner)
	p.log.Error("too many prefixes: session closed, the last set stays, stale", "partner", peer.Partner, "peer", peer.Address, "until", time.Now().Add(pause))
	p.note(peer, "announced too many prefixes: the last set stays, stale")
	p.sessions.Suspend(peer.Address, pause)
}

// age has stale routes leave when their time has run out, until ctx ends. That moves clients as the loss of the session
// did not, often at night and long after it.
func (p *peering) age(ctx context.Context) error {
	return p.rib.Run(ctx, func(e bgp.Expired) {
		p.log.Warn("stale prefixes left", "partner", e.Partner, "peer", e.Peer, "prefixes", e.Routes, "stale", e.Stale)
		what := fmt.Sprintf("%s left: stale for longer than %s", sheet.Prefixes(e.Routes), steer.Ago(e.Stale))
		p.note(bgp.Peer{Partner: e.Partner, Address: e.Peer}, what)
	})
}

// restore takes in what an earlier process had learned.
func (p *peering) restore(saved map[string][]byte) {
	if err := p.rib.Restore(saved); err != nil {
		p.log.Error("routes lost", "cause", err)
	}
}

// use makes the partners those of a policy.
func (p *peering) use(policy *steer.Policy, now time.Time) {
	p.rib.Apply(policy.Partners(), policy.Peers(), now)
	p.sessions.Apply(policy.Local(), policy.Peers())
	for _, peer := range policy.Peers() {
		if !p.rib.Within(peer, now) {
			p.suspend(peer)
		}
	}
	p.vrps.Apply(policy.RPKI())
}

// validate has origins judged by the newest VRPs, until ctx ends.
func (p *peering) validate(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.vrps.Changed():
			p.rib.Validate(p.vrps.Latest())
		}
	}
}

// tidyInterval is how often the size of the table is looked at, and tidyStep by how many prefixes it has to have
// changed for memory to be given back.
const (
	tidyInterval = 5 * time.Second
	tidyStep     = 100_000
)

// tidy gives memory back to the system after a large announcement came or went, until ctx ends: its taking
// in leaves behind more than the table needs, which the runtime would keep for long.
func (p *peering) tidy(ctx context.Context) error {
	ticker := time.NewTicker(tidyInterval)
	defer ticker.Stop()
	tidied, last := 0, 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		size := p.rib.Latest().Len()
		if settled := max(size, last)-min(size, last) < tidyStep; settled && max(size, tidied)-min(size, tidied) >= tidyStep {
			debug.FreeOSMemory()
			tidied = size
		}
		last = size
	}
}
