package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
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
			if a.Key == slog.TimeKey || a.Key == "cause" {
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
	if err := k.store.Close(); err != nil { // from here on, every write fails
		t.Fatal(err)
	}
	for i := range 3 {
		k.add(state.Event{Time: time.Now(), Kind: "drain", Text: fmt.Sprint("event ", i)})
		k.flush()
	}
	k.store = openStore(t, file)
	defer k.store.Close()
	k.flush()
	k.flush()
	want := "level=ERROR msg=\"state not saved: verdicts and events since now may be lost by a restart\"\nlevel=INFO msg=\"state saved again\"\n"
	if diff := cmp.Diff(want, log.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"event 0", "event 1", "event 2"}, journal(t, k.store)); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
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
