package steer_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gslb/bgp"
	"gslb/dns/steer"
	"gslb/geo"
)

// published runs a publisher over a world, in a bubble of virtual time that begins at the world's.
func published(t *testing.T, text string, test func(*world, *steer.Publisher, *bgp.RIB, func() string)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, text)
		w.now = time.Now()
		var mu sync.Mutex
		var told []steer.Event
		rib := bgp.NewRIB()
		use := func(policy *steer.Policy) { rib.Apply(policy.Partners(), policy.Peers(), time.Now()) }
		p := steer.NewPublisher(steer.Sources{
			Health: w.board.Latest, Routes: rib.Latest, Geo: func() *geo.Map { return w.geo }, Changed: []<-chan struct{}{w.board.Changed()},
		}, func(events []steer.Event) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, events...)
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p.Use(w.policy, 1, time.Now, func() { use(w.policy) })
		go func() {
			if err := p.Run(ctx); err != nil {
				t.Error(err)
			}
		}()
		test(w, p, rib, func() string {
			mu.Lock()
			defer mu.Unlock()
			defer func() { told = nil }()
			return words(told)
		})
	})
}

func TestPublisherMakesOneSnapshotOfABurst(t *testing.T) {
	published(t, cdn, func(w *world, p *steer.Publisher, _ *bgp.RIB, told func() string) {
		synctest.Wait()
		before := p.Latest()
		w.check("192.0.2.2", "----------")
		if p.Latest() != before {
			t.Error("a snapshot was made before the burst was over")
		}
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		if got, want := told(), "endpoint: msk-2/web withdrawn: 10 of 20 failed, last: status 503\n"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		after := p.Latest()
		time.Sleep(time.Second)
		if p.Latest() != after {
			t.Error("another snapshot was made of nothing")
		}
	})
}

func TestDrainRunsOutWithoutAReload(t *testing.T) {
	until := time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC) // synctest's clock begins at midnight
	text := strings.Replace(cdn, "drains: []", "drains: [{target: fra, until: "+until.Format(time.RFC3339)+"}]", 1)
	published(t, text, func(_ *world, p *steer.Publisher, _ *bgp.RIB, told func() string) {
		if got := told(); got != "drain: fra drained: until 2000-01-01T02:00:00Z\n" {
			t.Errorf("told %q at the start", got)
		}
		time.Sleep(time.Until(until) - time.Millisecond)
		synctest.Wait()
		if _, got := decide(t, p.Latest(), "portal", "8.8.8.8", steer.IPv4, 1); strings.Contains(got, "192.0.2.3") {
			t.Errorf("just before: %s", got)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if _, got := decide(t, p.Latest(), "portal", "8.8.8.8", steer.IPv4, 1); !strings.Contains(got, "192.0.2.3") {
			t.Errorf("just after: %s", got)
		}
		if got := told(); got != "drain: fra no longer drained\n" {
			t.Errorf("told %q", got)
		}
	})
}

func TestPolicyChangesAreTold(t *testing.T) {
	published(t, cdn, func(w *world, p *steer.Publisher, rib *bgp.RIB, told func() string) {
		other := compile(t, strings.Replace(cdn, "203.0.113.0/24, ", "", 1))
		prepared := false
		p.Use(other, 2, time.Now, func() {
			prepared = p.Latest().Version().Config == 1
			rib.Apply(other.Partners(), other.Peers(), time.Now())
		})
		if !prepared {
			t.Error("the targets were not handed over before the policy was in force")
		}
		v := p.Latest().Version()
		if v.Config != 2 || v.Routes != 2 || v.Hash != other.Hash() {
			t.Errorf("version %s", v)
		}
		want := "config: config 2:" + v.Hash + " in force\n"
		if got := told(); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// A new geo map may take seconds to cut. Verdicts go on to count meanwhile, by the old one.
func TestVerdictsDoNotWaitForTheWorldToBeCut(t *testing.T) {
	w := newWorld(t, cdn)
	old, large := w.geo, manyLocations(300_000)
	var world atomic.Pointer[geo.Map]
	world.Store(old)
	surveyed := make(chan struct{}, 2)
	p := steer.NewPublisher(steer.Sources{
		Health: w.board.Latest, Routes: func() *bgp.Table { return w.routes },
		Geo: func() *geo.Map { surveyed <- struct{}{}; return world.Load() },
	}, func([]steer.Event) {})
	p.Use(w.policy, 1, time.Now, func() {})
	<-surveyed
	world.Store(large)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Survey(time.Now)
	}()
	<-surveyed
	w.check("192.0.2.2", "----------")
	p.Refresh(time.Now())
	if s := p.Latest(); s.Geo() != old || s.Version().Health != w.board.Latest().Version() {
		t.Errorf("while the world was cut: version %s", s.Version())
	}
	<-done
	s := p.Latest()
	if s.Geo() != large || s.Version().Health != w.board.Latest().Version() {
		t.Errorf("when it was cut: version %s", s.Version())
	}
	if _, got := decide(t, s, "portal", "8.8.8.8", steer.IPv4, 1); strings.Contains(got, "192.0.2.2") {
		t.Errorf("the verdict is lost: %s", got)
	}
}
