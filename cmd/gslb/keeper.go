package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"gslb/bgp"
	"gslb/config"
	"gslb/config/state"
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
	routesInterval = 5 * time.Second        // between two writes of routes
	keeperShare    = 4                      // rest at least so many times as long as the write took
	tidyPieces     = 500                    // of routes, written at once, whose memory is given back: tens of thousands of routes
)

// keeper brings to the state file what is to survive the process: windows, the journal, and the
// number of the configuration. It is the only one that writes there, in a goroutine of its own: a slow
// disk delays nobody. A disk that fails is told once, and once more when it is well again.
type keeper struct {
	store *state.Store
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

	// owned by the goroutine of Run, and after it by whoever flushes
	saved   numbered
	routed  time.Time  // when routes were saved last
	table   *bgp.Table // that they were of; nil: not by this process
	failing bool
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
	return &keeper{store: store, board: board, rib: rib, steer: func() *steer.Tenures { return nil }, begun: func() map[steer.DrainKey]time.Time { return nil }, log: log, wake: make(chan struct{}, 1), every: keeperInterval, counts: map[string]uint64{}, told: make(chan struct{})}
}

// happened counts the events since the start, by kind.
func (k *keeper) happened() map[string]uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.counts)
}

// windows gives what an earlier process saved. What cannot be read is begun anew.
func (k *keeper) windows() []health.Saved {
	all, err := k.store.All(windowsBucket)
	if err != nil {
		k.log.Error("windows lost", "cause", err)
	}
	var windows []health.Saved
	for key, value := range all {
		var s health.Saved
		if err := json.Unmarshal(value, &s); err != nil {
			k.log.Error("window lost", "endpoint", key, "cause", err)
			continue
		}
		windows = append(windows, s)
	}
	return windows
}

// tenures gives what an earlier process remembered of the places that come and go.
func (k *keeper) tenures() *steer.Tenures {
	all, err := k.store.All(tenuresBucket)
	if err != nil {
		k.log.Error("tenures lost", "cause", err)
	}
	tenures := make(map[string]steer.Tenure, len(all))
	for name, value := range all {
		var t steer.Tenure
		if err := json.Unmarshal(value, &t); err != nil {
			k.log.Error("tenure lost", "member", name, "cause", err)
			continue
		}
		tenures[name] = t
	}
	return steer.NewTenures(tenures)
}

// routes gives what an earlier process saved of the partners' routes.
func (k *keeper) routes() map[string][]byte {
	all, err := k.store.All(routesBucket)
	if err != nil {
		k.log.Error("routes lost", "cause", err)
	}
	return all
}

// number gives the number of a configuration at the start: that of last time if it is the same,
// else the next.
func (k *keeper) number(hash string) uint64 {
	value, err := k.store.Get(metaBucket, configKey)
	if err == nil && value != nil {
		err = json.Unmarshal(value, &k.saved)
	}
	if err != nil {
		k.log.Error("config number lost", "cause", err)
	}
	if k.saved.Hash == hash {
		return k.saved.Number
	}
	return k.saved.Number + 1
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
		rest := max(keeperRest, keeperShare*time.Since(begin))
		k.mu.Lock()
		timer.Reset(max(k.every, rest))
		k.mu.Unlock()
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

// flush writes all there is to write. Windows come first: who reads of a withdrawal in the journal
// finds it in the windows too.
func (k *keeper) flush() {
	k.mu.Lock()
	events, lost, inForce, journal := k.pending, k.lost, k.config, k.journal
	k.pending, k.lost = nil, 0
	k.mu.Unlock()
	if lost > 0 {
		k.log.Warn("journal has a gap", "events", lost)
	}
	err := errors.Join(k.saveWindows(), k.saveTenures(), k.saveDrains(), k.saveConfig(inForce), k.saveRoutes())
	if appended := k.store.Append(events...); appended != nil {
		err = errors.Join(err, appended)
		k.putBack(events)
	} else if len(events) > 0 {
		k.appended()
	}
	if time.Since(k.trimmed) > trimInterval && journal.Keep > 0 {
		k.trimmed = time.Now()
		err = errors.Join(err, k.store.Trim(k.trimmed.Add(-journal.Keep), journal.Events))
	}
	k.tell(err)
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

func (k *keeper) saveWindows() error {
	windows := map[string][]byte{}
	for _, s := range k.board.Save() {
		value, err := json.Marshal(s)
		if err != nil {
			return err
		}
		windows[s.Address.String()+" "+s.Name] = value
	}
	return k.store.PutAll(windowsBucket, windows)
}

// saveTenures writes the tenures when there are others.
func (k *keeper) saveTenures() error {
	t := k.steer()
	if t == k.remembered {
		return nil
	}
	tenures := map[string][]byte{}
	for name, is := range t.All() {
		value, err := json.Marshal(is)
		if err != nil {
			return err
		}
		tenures[name] = value
	}
	err := k.store.PutAll(tenuresBucket, tenures)
	if err == nil {
		k.remembered = t
	}
	return err
}

// saveRoutes writes what differs of the routes from last time, or, since they are confirmed with every
// moment that their sessions stand, that alone, when the last time is a while ago. Only the first time it
// writes them all: the file may hold those of an earlier process, in other pieces.
func (k *keeper) saveRoutes() error {
	now := time.Now()
	t := k.rib.Latest()
	if since := now.Sub(k.routed); since < routesInterval || (t == k.table && since < k.rib.SaveInterval()) {
		return nil
	}
	k.routed = now
	saved, err := k.rib.SaveSince(k.table, now)
	if err != nil {
		return err
	}
	if k.table == nil {
		err = k.store.PutAll(routesBucket, saved.Set)
	} else {
		err = k.store.Change(routesBucket, saved.Set, saved.Gone)
	}
	if err == nil {
		k.table = saved.Table
	}
	if len(saved.Set) >= tidyPieces {
		debug.FreeOSMemory()
	}
	return err
}

func (k *keeper) saveConfig(inForce numbered) error {
	if inForce == k.saved {
		return nil
	}
	value, err := json.Marshal(inForce)
	if err == nil {
		err = k.store.Put(metaBucket, configKey, value)
	}
	if err == nil {
		k.saved = inForce
	}
	return err
}

// putBack keeps events that could not be written for the next time.
func (k *keeper) putBack(events []state.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := append(events, k.pending...)
	over := max(0, len(all)-pendingEvents)
	k.pending, k.lost = all[over:], k.lost+over
}

func (k *keeper) tell(err error) {
	if failing := err != nil; failing != k.failing {
		k.failing = failing
		if failing {
			k.log.Error("state not saved: verdicts and events since now may be lost by a restart", "cause", err)
			return
		}
		k.log.Info("state saved again")
	}
}
