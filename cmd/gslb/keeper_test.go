package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gslb/bgp"
	"gslb/config"
	"gslb/config/state"
	"gslb/health"
)

func openStore(t *testing.T, file string) *state.Store {
	t.Helper()
	store, notice, err := state.Open(file)
	if err != nil || notice != "" {
		t.Fatal(err, notice)
	}
	return store
}

// plainLog writes lines without their time.
func plainLog(to *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "cause" || a.Key == "after" {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func journal(t *testing.T, store *state.Store) []string {
	t.Helper()
	events, err := store.Events(time.Time{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, e := range events {
		words = append(words, e.Text)
	}
	return words
}

func TestFailingDiskIsToldOnceAndLosesNothingWhenItHeals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	var log bytes.Buffer
	k := newKeeper(openStore(t, file), health.NewBoard(), bgp.NewRIB(), plainLog(&log))
	defer k.store.Close()
	k.write = func(func(*state.Writer) error) error { return errors.New("the disk is gone") }
	for i := range 3 {
		k.add(state.Event{Time: time.Now(), Kind: "drain", Text: fmt.Sprint("event ", i)})
		k.flush()
	}
	failed := k.stands()
	k.write = k.store.Write
	k.flush()
	k.flush()
	want := "level=ERROR msg=\"state not saved: verdicts and events since now may be lost by a restart\"\nlevel=INFO msg=\"state saved again\"\n"
	if diff := cmp.Diff(want, log.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"event 0", "event 1", "event 2"}, journal(t, k.store)); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	if failed.Failing != "the disk is gone" || failed.Since.IsZero() || !failed.At.IsZero() {
		t.Errorf("while it failed: %+v", failed)
	}
	if s := k.stands(); s.Failing != "" || s.At.IsZero() {
		t.Errorf("when it was well: %+v", s)
	}
}

func TestJournalGivesUpTheOldestWhenTheDiskIsTooSlow(t *testing.T) {
	var log bytes.Buffer
	k := newKeeper(openStore(t, filepath.Join(t.TempDir(), "state.db")), health.NewBoard(), bgp.NewRIB(), plainLog(&log))
	defer k.store.Close()
	for i := range pendingEvents + 2 {
		k.add(state.Event{Time: time.Now(), Kind: "drain", Text: fmt.Sprint("event ", i)})
	}
	k.flush()
	words := journal(t, k.store)
	if len(words) != pendingEvents || words[0] != "event 2" {
		t.Errorf("journal has %d events from %q on, want %d from \"event 2\" on", len(words), words[0], pendingEvents)
	}
	if want := "msg=\"journal has a gap\" events=2"; !strings.Contains(log.String(), want) {
		t.Errorf("log %q lacks %q", log.String(), want)
	}
}

// A write that fails after the journal was trimmed in it has trimmed nothing.
func TestTrimsAgainWhatADiskDidNotTake(t *testing.T) {
	k := newKeeper(openStore(t, filepath.Join(t.TempDir(), "state.db")), health.NewBoard(), bgp.NewRIB(), slog.New(slog.DiscardHandler))
	defer k.store.Close()
	k.follow(1, "0f410b8a", keeperInterval, config.Journal{Keep: time.Hour, Events: 100})
	k.write = func(do func(*state.Writer) error) error {
		return k.store.Write(func(w *state.Writer) error { return errors.Join(do(w), errors.New("the disk is full")) })
	}
	k.add(state.Event{Time: time.Now().Add(-2 * time.Hour), Kind: "drain", Text: "of old"})
	k.add(state.Event{Time: time.Now(), Kind: "drain", Text: "of now"})
	k.flush()
	k.write = k.store.Write
	k.flush()
	if diff := cmp.Diff([]string{"of now"}, journal(t, k.store)); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

func TestWindowsOutliveTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	check := health.Check{Kind: health.TCP{Port: 80}, Interval: time.Minute, Timeout: time.Second, Window: 20, Fall: 10, Rise: 20}
	target := health.Target{Address: netip.MustParseAddr("192.0.2.1"), Name: "web", Check: check}
	now := time.Now()
	begin := func() (*keeper, *health.Board) {
		board := health.NewBoard()
		k := newKeeper(openStore(t, file), board, bgp.NewRIB(), slog.New(slog.DiscardHandler))
		board.Restore(k.windows(), now)
		board.Apply([]health.Target{target}, now)
		return k, board
	}
	k, board := begin()
	for range 10 {
		board.Record(target.Key(), health.Result{Cause: "status 503"}, now)
	}
	want := board.Latest().Endpoint(target.Key())
	k.flush()
	if err := k.store.Close(); err != nil {
		t.Fatal(err)
	}
	k, board = begin()
	defer k.store.Close()
	if got := board.Latest().Endpoint(target.Key()); !got.Since.Equal(want.Since) || got.Bits != want.Bits || got.Verdict != health.Withdrawn || got.Cause != want.Cause {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestWindowsAreSavedAtLeastOnceAnInterval(t *testing.T) {
	for _, interval := range []time.Duration{time.Hour, 10 * time.Second, time.Second, 300 * time.Millisecond} {
		cfg := &config.Config{Checks: []config.Check{{Interval: 24 * time.Hour}, {Interval: interval}}}
		if every := saveInterval(cfg); every > interval/2 || every < keeperRest {
			t.Errorf("with a check each %s, windows are saved each %s", interval, every)
		}
	}
	if every := saveInterval(&config.Config{}); every > routesInterval {
		t.Errorf("without checks, routes are saved each %s", every)
	}
}

// TestWhatHappensIsOnTheDiskWithinAnInterval: with a disk that takes up to a quarter of an interval for a write. A
// slower one sets the bound itself: half an interval and two writes.
func TestWhatHappensIsOnTheDiskWithinAnInterval(t *testing.T) {
	for _, c := range []struct{ interval, write time.Duration }{
		{200 * time.Millisecond, time.Millisecond}, {200 * time.Millisecond, 50 * time.Millisecond},
		{time.Second, 20 * time.Millisecond}, {time.Second, 250 * time.Millisecond}, {10 * time.Second, 2500 * time.Millisecond},
		{time.Second, 3 * time.Second},
	} {
		t.Run(fmt.Sprint(c.interval, " ", c.write), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bound := max(c.interval, c.interval/2+2*c.write)
				slowest := saveSlowly(t, c.interval, c.write)
				if slowest > bound {
					t.Errorf("the slowest was on the disk after %v, want %v at most", slowest, bound)
				}
				if c.write > c.interval && slowest <= c.interval {
					t.Errorf("within %v although a write takes %v: the test has lost its teeth", slowest, c.write)
				}
			})
		})
	}
}

// saveSlowly has a keeper save verdicts and results that come at random moments, on a disk that takes some time for
// each write, and tells how long it took for the slowest of them to be there.
func saveSlowly(t *testing.T, interval, write time.Duration) (slowest time.Duration) {
	check := health.Check{Kind: health.TCP{Port: 80}, Interval: interval, Timeout: interval / 2, Window: 20, Fall: 10, Rise: 20}
	target := health.Target{Address: netip.MustParseAddr("192.0.2.1"), Name: "web", Check: check}
	board := health.NewBoard()
	board.Apply([]health.Target{target}, time.Now())
	k := newKeeper(openStore(t, filepath.Join(t.TempDir(), "state.db")), board, bgp.NewRIB(), slog.New(slog.DiscardHandler))
	defer k.store.Close()
	k.follow(1, "", saveInterval(&config.Config{Checks: []config.Check{{Interval: interval}}}), config.Journal{})
	var mu sync.Mutex
	var waiting []time.Time // of the results that are not on the disk
	k.write = func(do func(*state.Writer) error) error {
		mu.Lock()
		known := len(waiting)
		err := k.store.Write(do)
		mu.Unlock()
		time.Sleep(write)
		mu.Lock()
		defer mu.Unlock()
		for _, at := range waiting[:known] {
			slowest = max(slowest, time.Since(at))
		}
		waiting = waiting[known:]
		return err
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = k.Run(ctx) }()
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 300 {
		time.Sleep(time.Duration(random.Int64N(int64(interval))))
		mu.Lock()
		board.Record(target.Key(), health.Result{Cause: "refused"}, time.Now())
		waiting = append(waiting, time.Now())
		mu.Unlock()
		if n%3 == 0 { // a verdict: the publisher tells of it
			k.add(state.Event{Time: time.Now(), Kind: "endpoint", Text: "withdrawn"})
		}
	}
	time.Sleep(interval + 3*write)
	stop()
	<-ended
	if len(waiting) > 0 {
		t.Errorf("%d results never came to the disk", len(waiting))
	}
	return slowest
}
