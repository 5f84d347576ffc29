// Package publish answers the question: which snapshot is in force? It is where the decisions of gslb/dns/steer, in which
// no time passes, meet the running server.
//
// The [Publisher] keeps the newest snapshot behind one pointer. It waits for newer inputs, for drains to run out and for
// ramps to end, makes the next snapshot beside the one that answers, puts it in force and tells what happened. [Ahead]
// follows it, and has signed what services can come to give, before they give it:
//
//	p := publish.New(publish.Sources{Health: board.Latest, Routes: rib.Latest, Geo: source.Latest, Changed: …}, tell)
//	p.Use(policy, 1, time.Now, func() { board.Apply(policy.Targets(), time.Now()) })
//	go p.Run(ctx)
//	decision := steer.Decide(p.Latest(), query)
//
// Nothing waits in a queue: a signal says that there is something newer, and it is read when the snapshot is made. The
// package decides nothing, and knows no sockets and no files.
package publish

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"gslb/bgp"
	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// settle is how long the publisher waits after a first change for others, so that a burst of
// changes makes one snapshot. An answer is never staler than this and the time of a build.
const settle = 10 * time.Millisecond

// Sources is where the publisher reads the newest inputs. Each signal of Changed and GeoChanged says only that
// its source has something newer: what it is, is read when the snapshot is built, so that no
// change is lost and none is queued.
type Sources struct {
	Health  func() *health.Report
	Routes  func() *bgp.Table
	Changed []<-chan struct{} // of the two

	Geo        func() *geo.Map
	GeoChanged <-chan struct{} // nil: it never does

	Signed func() *sign.Signed // nil: no zone is signed

	// Aside does what takes long and what no verdict waits for, and returns when it is done; nil: at once.
	Aside func(do func())
}

func (s *Sources) aside(do func()) {
	if s.Aside == nil {
		do()
		return
	}
	s.Aside(do)
}

// signed gives the signed zones that belong to the policy in force.
func (s *Sources) signed() *sign.Signed {
	if s.Signed == nil {
		return nil
	}
	return s.Signed()
}

// Publisher keeps the newest snapshot. It is the only writer; readers call Latest.
type Publisher struct {
	sources Sources
	tell    func([]steer.Event)
	latest  atomic.Pointer[steer.Snapshot]
	wake    chan struct{}
	stored  chan struct{} // one slot: there is another snapshot

	turning sync.Mutex // held while another policy or geo map is put in force, which can take long

	mu      sync.Mutex // held while a snapshot is made of what follows and the newest verdicts and routes
	config  uint64
	policy  *steer.Policy
	world   *geo.Map
	tenures *steer.Tenures
	built   Built
	begun   map[steer.DrainKey]time.Time // since when the drains of the newest snapshot hold
}

// Built is how many snapshots were made, and how long that took.
type Built struct {
	Snapshots uint64
	Last      time.Duration // of the newest
	Total     time.Duration
	At        time.Time // when the newest was made
}

// Built tells how many snapshots were made since the start, and how long that took.
func (p *Publisher) Built() Built {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.built
}

// New makes a publisher that hands the events of each new snapshot to tell, which may be
// called by several goroutines. Latest gives nil until the first Use.
func New(sources Sources, tell func([]steer.Event)) *Publisher {
	return &Publisher{sources: sources, tell: tell, wake: make(chan struct{}, 1), stored: make(chan struct{}, 1)}
}

// Restore hands the publisher what an earlier process remembered: a place that was being given does not count as one
// that comes back now, and one that was coming back goes on from where it was. It has no effect after the first Use.
func (p *Publisher) Restore(t *steer.Tenures) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.policy == nil {
		p.tenures = t
	}
}

// Tenures is what is to be remembered over a restart.
func (p *Publisher) Tenures() *steer.Tenures {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tenures
}

// RestoreBegun hands the publisher what an earlier process remembered of drains. It has no effect after the first Use.
func (p *Publisher) RestoreBegun(since map[steer.DrainKey]time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.policy == nil {
		p.begun = since
	}
}

// Begun tells since when each drain has held. The map is immutable, and stays the same while nothing changes.
func (p *Publisher) Begun() map[steer.DrainKey]time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.begun
}

// Latest is the newest snapshot.
func (p *Publisher) Latest() *steer.Snapshot { return p.latest.Load() }

// Use puts another policy in force, with the newest geo map, and returns when answers come from them.
// Meanwhile prepare is called, at a moment when no snapshot is made: there the caller hands the
// policy's targets to the checker and its partners to the RIB, whose reports and tables thus never meet a
// policy that they do not belong to. The clock is read when answers are about to come.
func (p *Publisher) Use(policy *steer.Policy, number uint64, clock func() time.Time, prepare func()) {
	p.turning.Lock()
	defer p.turning.Unlock()
	p.turn(policy, number, p.sources.Geo(), clock, prepare)
}

// Survey puts the newest geo map in force, and returns when answers come from it.
func (p *Publisher) Survey(clock func() time.Time) {
	p.turning.Lock()
	defer p.turning.Unlock()
	if world := p.sources.Geo(); p.policy != nil && world != p.world {
		p.turn(p.policy, p.config, world, clock, func() {})
	}
}

// turn puts a policy and a geo map in force. The world is cut by them beside the snapshots that go on to be made by
// the old ones, since that can take seconds, in which no verdict may wait. The caller holds turning, under
// which alone policy and map change.
func (p *Publisher) turn(policy *steer.Policy, number uint64, world *geo.Map, clock func() time.Time, prepare func()) {
	draft := p.latest.Load()
	if draft != nil { // before the first one nobody waits
		p.sources.aside(func() {
			draft = steer.Build(steer.Inputs{Policy: policy, Health: p.sources.Health(), Routes: p.sources.Routes(), Geo: world, Now: clock()}, draft)
		})
	}
	p.mu.Lock()
	prepare()
	p.policy, p.config, p.world = policy, number, world
	events := p.build(clock(), draft)
	p.mu.Unlock()
	p.report(events)
	select {
	case p.wake <- struct{}{}: // the time of the next expiry may be another
	default:
	}
}

// Refresh makes a snapshot of the newest verdicts and routes.
func (p *Publisher) Refresh(now time.Time) {
	p.mu.Lock()
	var events []steer.Event
	if p.policy != nil {
		events = p.build(now, p.latest.Load())
	}
	p.mu.Unlock()
	p.report(events)
}

func (p *Publisher) report(events []steer.Event) {
	if len(events) > 0 {
		p.tell(events)
	}
}

// build makes a snapshot and says what changed. It is built on another one, as a cache. The caller holds mu.
func (p *Publisher) build(now time.Time, on *steer.Snapshot) []steer.Event {
	begin, prev := time.Now(), p.latest.Load()
	next := steer.Follow(steer.Inputs{
		Policy: p.policy, Config: p.config, Health: p.sources.Health(), Routes: p.sources.Routes(), Geo: p.world, Now: now, Tenures: p.tenures, Signed: p.sources.signed(),
	}, prev, on)
	p.tenures, p.begun = next.Tenures(), steer.Begun(p.begun, next)
	p.latest.Store(next)
	took := time.Since(begin)
	p.built = Built{p.built.Snapshots + 1, took, p.built.Total + took, now}
	select {
	case p.stored <- struct{}{}:
	default:
	}
	return steer.Diff(prev, next)
}

// Run makes a new snapshot whenever an input has changed, a drain runs out or a ramp ends, until the context ends.
func (p *Publisher) Run(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	var crew sync.WaitGroup
	defer crew.Wait()
	for _, c := range p.sources.Changed {
		crew.Go(func() { forward(ctx, c, changed) })
	}
	crew.Go(func() { p.survey(ctx) })
	for {
		expiry, stop := p.untilExpiry()
		select {
		case <-ctx.Done():
			stop()
			return nil
		case <-p.wake:
			stop()
			continue
		case <-expiry:
			if !p.latest.Load().Outdated(time.Now()) {
				continue // only the clock was looked at
			}
		case <-changed:
			stop()
			if !pause(ctx, settle) {
				return nil
			}
			select {
			case <-changed: // by the rest of the burst, which is read now
			default:
			}
		}
		p.Refresh(time.Now())
	}
}

// survey puts every newer geo map in force, until the context ends.
func (p *Publisher) survey(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.sources.GeoChanged:
			p.Survey(time.Now)
		}
	}
}

// clockCheck bounds how long the publisher trusts a timer: the wall clock may be set meanwhile.
const clockCheck = 30 * time.Second

// untilExpiry gives a channel that receives when the next drain runs out or ramp ends.
func (p *Publisher) untilExpiry() (<-chan time.Time, func()) {
	s := p.latest.Load()
	if s == nil || s.Expiry().IsZero() {
		return nil, func() {}
	}
	t := time.NewTimer(min(time.Until(s.Expiry()), clockCheck))
	return t.C, func() { t.Stop() }
}

// forward passes signals on into a channel of one slot.
func forward(ctx context.Context, from <-chan struct{}, to chan<- struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-from:
			select {
			case to <- struct{}{}:
			default:
			}
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
