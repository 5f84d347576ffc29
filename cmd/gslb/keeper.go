package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"gslb/bgp"
	"gslb/config"
	"gslb/config/state"
	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/health"
)

// Buckets and keys of the state file.
const (
	windowsBucket = "windows" // a health.Saved for each endpoint and check
	tenuresBucket = "tenures" // a steer.Tenure for each place of a service that has a ramp
	drainsBucket  = "drains"  // since when each drain holds
	routesBucket  = "routes"  // what bgp.RIB saves
	metaBucket    = "meta"
	configKey     = "config" // a numbered
)

// Bounds of the work of keeping; how long the journal is, the configuration says.
const (
	trimInterval   = time.Hour
	pendingEvents  = 4096 // that wait for the disk; the oldest are given up first
	keeperInterval = time.Second
	keeperRest     = 100 * time.Millisecond // between two writes: a storm of events costs few
	keeperShare    = 4                      // rest so many times as long as the write took, within the interval of saving
	keeperRetry    = time.Second            // between two tries on a disk that fails
	routesInterval = 5 * time.Second        // between two writes of routes
	tidyPieces     = 500                    // of routes, written at once, whose memory is given back: tens of thousands of routes
)

// keeper brings to the state file what is to survive the process: windows, the journal, and the
// number of the configuration. It is the only one that writes there, in a goroutine of its own: a slow
// disk delays nobody. A disk that fails is told once, and once more when it is well again.
//
// What happens is on the disk after half the shortest interval of a check, and the time that the write under way and its
// own one take: within an interval, unless a write takes a quarter of one.
type keeper struct {
	store *state.Store
	write func(func(*state.Writer) error) error // of the store
	board *health.Board
	rib   *bgp.RIB
	steer func() *steer.Tenures               // what the publisher remembers
	begun func() map[steer.DrainKey]time.Time // likewise
	log   *slog.Logger
	wake  chan struct{} // one slot

	mu      sync.Mutex
	pending []state.Event
	lost    int               // events given up
	counts  map[string]uint64 // events since the start, by kind
	config  numbered
	every   time.Duration
	journal config.Journal
	told    chan struct{} // closed when the next events are in the journal
	saving  admin.Saving

	// owned by the goroutine of Run, and after it by whoever flushes
	saved   numbered
	routed  time.Time  // when routes were saved last
	table   *bgp.Table // that they were of; nil: not by this process
	trimmed time.Time

	remembered *steer.Tenures               // that were saved last
	drained    map[steer.DrainKey]time.Time // likewise
}

// numbered is the number of a configuration among those of this server.
type numbered struct {
	Number uint64 `json:"number"`
	Hash   string `json:"hash"`
}

func newKeeper(store *state.Store, board *health.Board, rib *bgp.RIB, log *slog.Logger) *keeper {
	return &keeper{
		store: store, write: store.Write, board: board, rib: rib, log: log,
		steer: func() *steer.Tenures { return nil }, begun: func() map[steer.DrainKey]time.Time { return nil },
		wake: make(chan struct{}, 1), every: keeperInterval, counts: map[string]uint64{}, told: make(chan struct{}),
	}
}

// happened counts the events since the start, by kind.
func (k *keeper) happened() map[string]uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.counts)
}

// follow says which configuration is in force, how often windows are saved with it, and how long the journal is.
func (k *keeper) follow(number uint64, hash string, every time.Duration, journal config.Journal) {
	k.mu.Lock()
	k.config, k.every, k.journal = numbered{number, hash}, every, journal
	k.mu.Unlock()
	k.poke()
}

// add puts an event into the journal soon. It never waits.
func (k *keeper) add(e state.Event) {
	k.mu.Lock()
	if len(k.pending) == pendingEvents {
		k.pending = k.pending[1:]
		k.lost++
	}
	k.pending = append(k.pending, e)
	k.counts[e.Kind]++
	k.mu.Unlock()
	k.poke()
}

func (k *keeper) poke() { signalSlot(k.wake) }

// Run saves whenever something happened, and windows at least as often as the quickest check, until
// ctx ends.
func (k *keeper) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		woken := false
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-k.wake:
			woken = true
		}
		begin := time.Now()
		k.flush()
		k.mu.Lock()
		rest, next := pace(k.every, time.Since(begin))
		if k.saving.Failing != "" {
			rest, next = max(rest, keeperRetry), max(next, keeperRetry)
		}
		k.mu.Unlock()
		timer.Reset(next)
		if !woken {
			continue // the next event need not wait
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(rest):
		}
	}
}

// pace gives how long to rest after a write that took so long, whatever happens, and when to write again though nothing does.
func pace(every, took time.Duration) (rest, next time.Duration) {
	rest = max(keeperRest, min(keeperShare*took, every))
	return rest, max(every-took, rest)
}

// flush writes all there is to write.
func (k *keeper) flush() {
	begin := time.Now()
	err := k.mend()
	if err == nil {
		err = errors.Join(k.save(begin), k.saveRoutes(begin))
	}
	k.tell(err, begin)
}

// mend looks whether the file can be written to. What was written to another one counts for nothing.
func (k *keeper) mend() error {
	notice, anew, err := k.store.Mend()
	switch {
	case notice != "":
		k.log.Error("state lost", "cause", notice)
	case anew && k.stands().Failing == "":
		k.log.Warn("state begun anew: its file was removed or replaced")
	}
	if anew {
		k.saved, k.table, k.routed, k.remembered, k.drained = numbered{}, nil, time.Time{}, nil, nil
	}
	return err
}

// save writes in one transaction everything but the routes: a verdict waits for as little as the disk allows, and who
// reads of it in the journal finds it in the windows too.
func (k *keeper) save(now time.Time) error {
	k.mu.Lock()
	events, lost, inForce, journal := k.pending, k.lost, k.config, k.journal
	k.pending, k.lost = nil, 0
	k.mu.Unlock()
	var saved []func()
	err := k.write(func(w *state.Writer) error {
		for _, part := range []func(*state.Writer) (func(), error){k.saveWindows, k.saveTenures, k.saveDrains} {
			done, err := part(w)
			if err != nil {
				return err
			}
			saved = append(saved, done)
		}
		err := errors.Join(k.saveConfig(w, inForce), w.Append(events...))
		done, failed := k.trim(w, journal, now)
		saved = append(saved, done)
		return errors.Join(err, failed)
	})
	if err != nil {
		k.putBack(events, lost)
		return err
	}
	for _, done := range saved {
		done()
	}
	k.saved = inForce
	if lost > 0 {
		k.log.Warn("journal has a gap", "events", lost)
	}
	if len(events) > 0 {
		k.appended()
	}
	return nil
}

// trim keeps the journal as long as it is to be. It gives what is to be done when that is on the disk.
func (k *keeper) trim(w *state.Writer, journal config.Journal, now time.Time) (func(), error) {
	if now.Sub(k.trimmed) <= trimInterval || journal.Keep == 0 {
		return func() {}, nil
	}
	return func() { k.trimmed = now }, w.Trim(now.Add(-journal.Keep), journal.Events)
}

// appended says that there are events in the journal which were not there before.
func (k *keeper) appended() {
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.told)
	k.told = make(chan struct{})
}

// Appended is closed when there is more in the journal than at the time of the call.
func (k *keeper) Appended() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.told
}

// finish writes everything that there is, once Run has ended.
func (k *keeper) finish() {
	k.routed = time.Time{}
	k.flush()
}

// putBack keeps events that could not be written for the next time, with how many were lost before them.
func (k *keeper) putBack(events []state.Event, lost int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := append(events, k.pending...)
	over := max(0, len(all)-pendingEvents)
	k.pending, k.lost = all[over:], k.lost+lost+over
}

// tell says how saving stands after a write that began at a time.
func (k *keeper) tell(err error, begin time.Time) {
	now := time.Now()
	k.mu.Lock()
	was := k.saving
	switch {
	case err == nil:
		k.saving = admin.Saving{At: begin, Took: now.Sub(begin).Seconds()}
	case was.Failing == "":
		k.saving.Failing, k.saving.Since = err.Error(), begin
	default:
		k.saving.Failing = err.Error()
	}
	k.mu.Unlock()
	switch {
	case err != nil && was.Failing == "":
		k.log.Error("state not saved: verdicts and events since now may be lost by a restart", "cause", err)
	case err == nil && was.Failing != "":
		k.log.Info("state saved again", "after", now.Sub(was.Since).Round(time.Millisecond))
	}
}

// stands tells how saving stands.
func (k *keeper) stands() admin.Saving {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.saving
}
