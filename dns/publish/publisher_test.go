package publish_test

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/publish"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// shop is a service at three datacenters, and a partner.
const shop = `
checks: {web: {tcp: {port: 80}}}
datacenters: {a: {}, b: {}, c: {}}
sites: {s: {partners_only: true}}
partners: {sibtel: {site: s, networks: [203.0.113.0/24, 203.0.112.0/20]}}
services: {shop: {check: web, steer: [datacenters], answer: all, at: {a: [192.0.2.1], b: [192.0.2.2], c: [192.0.2.3]}}}
drains: []
`

// world is a publisher with everything that it reads.
type world struct {
	policy *steer.Policy
	board  *health.Board
	rib    *bgp.RIB
	geo    atomic.Pointer[geo.Map]
	*publish.Publisher

	mu   sync.Mutex
	told strings.Builder
}

// newWorld puts a config in force; every endpoint is up. Each source can be another by adapt; nil: none is.
func newWorld(t *testing.T, text string, adapt func(*world, *publish.Sources)) *world {
	w := &world{policy: compile(t, text), board: health.NewBoard(), rib: bgp.NewRIB()}
	w.geo.Store(nowhere())
	w.board.Apply(w.policy.Targets(), time.Now())
	for _, target := range w.policy.Targets() {
		w.record(target, true, target.Check.Window)
	}
	sources := publish.Sources{Health: w.board.Latest, Routes: w.rib.Latest, Geo: w.geo.Load, Changed: []<-chan struct{}{w.board.Changed()}}
	if adapt != nil {
		adapt(w, &sources)
	}
	w.Publisher = publish.New(sources, w.tell)
	w.Use(w.policy, 1, time.Now, func() { w.rib.Apply(w.policy.Partners(), w.policy.Peers(), time.Now()) })
	return w
}

// run is newWorld with the publisher running, in a bubble of virtual time.
func run(t *testing.T, text string, test func(*testing.T, *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, text, nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			if err := w.Run(ctx); err != nil {
				t.Error(err)
			}
		}()
		test(t, w)
	})
}

func compile(t *testing.T, text string) *steer.Policy {
	t.Helper()
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(text)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	return policy
}

// nowhere is a map that knows no address, another one each time.
func nowhere() *geo.Map { return geo.NewMap(func(func(netip.Prefix, geo.Location) bool) {}) }

func (w *world) record(target health.Target, ok bool, times int) {
	for range times {
		w.board.Record(target.Key(), health.Result{OK: ok, Cause: "refused"}, time.Now())
	}
}

// fell has the check of an address fail until it is withdrawn.
func (w *world) fell(address string) {
	for _, target := range w.policy.Targets() {
		if target.Address.String() == address {
			w.record(target, false, target.Check.Fall)
		}
	}
}

func (w *world) tell(events []steer.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range events {
		w.told.WriteString(e.Kind + ": " + e.Text + "\n")
	}
}

// heard gives what was told since it was asked last.
func (w *world) heard() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.told.Reset()
	return w.told.String()
}

// gives tells whether an address is in the answers.
func (w *world) gives(address string) bool {
	s := w.Latest()
	d := steer.Decide(s, steer.Query{Client: s.Client(netip.MustParseAddr("11.0.0.1"), steer.Subnet{})})
	for _, a := range d.Addresses(s, 0, nil) {
		if a.String() == address {
			return true
		}
	}
	return false
}

func TestPublisherMakesOneSnapshotOfABurst(t *testing.T) {
	run(t, shop, func(t *testing.T, w *world) {
		time.Sleep(time.Second) // what changed before the start makes a snapshot, too
		before, made := w.Latest(), w.Built().Snapshots
		w.fell("192.0.2.2")
		if w.Latest() != before {
			t.Error("a snapshot was made before the burst was over")
		}
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		if got, want := w.heard(), "endpoint: b/web withdrawn: 10 of 20 failed, last: refused\n"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
		after := w.Latest()
		time.Sleep(time.Second)
		if w.Latest() != after {
			t.Error("another snapshot was made of nothing")
		}
		if n := w.Built().Snapshots - made; n != 1 {
			t.Errorf("%d snapshots were made, want 1", n)
		}
	})
}

func TestDrainRunsOutWithoutAReload(t *testing.T) {
	until := time.Date(2000, 1, 1, 2, 0, 0, 0, time.UTC) // synctest's clock begins at midnight
	text := strings.Replace(shop, "drains: []", "drains: [{target: c, until: "+until.Format(time.RFC3339)+"}]", 1)
	run(t, text, func(t *testing.T, w *world) {
		if got := w.heard(); got != "drain: c drained: until 2000-01-01T02:00:00Z\n" {
			t.Errorf("told %q at the start", got)
		}
		begun := w.Begun()
		if since, holds := begun[steer.DrainKey{Place: "c"}]; !holds || !since.Equal(time.Now()) {
			t.Errorf("drains hold since %v", begun)
		}
		time.Sleep(time.Until(until) - time.Millisecond)
		synctest.Wait()
		if w.gives("192.0.2.3") {
			t.Error("it is given just before the end")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if !w.gives("192.0.2.3") {
			t.Error("it is not given just after the end")
		}
		if got := w.heard(); got != "drain: c no longer drained\n" {
			t.Errorf("told %q", got)
		}
		if len(w.Begun()) > 0 {
			t.Errorf("drains hold since %v", w.Begun())
		}
	})
}

// The end of a drain is waited for also when the drain came while the publisher waited for nothing.
func TestDrainOfALaterPolicyRunsOutToo(t *testing.T) {
	run(t, shop, func(t *testing.T, w *world) {
		time.Sleep(time.Hour)
		until := time.Now().Add(time.Hour)
		drained := compile(t, strings.Replace(shop, "drains: []", "drains: [{target: c, until: "+until.Format(time.RFC3339)+"}]", 1))
		w.Use(drained, 2, time.Now, func() {})
		if w.gives("192.0.2.3") {
			t.Error("it is given while it is drained")
		}
		time.Sleep(time.Until(until) + time.Millisecond)
		synctest.Wait()
		if !w.gives("192.0.2.3") {
			t.Error("it is not given after the end")
		}
	})
}

func TestPolicyChangesAreTold(t *testing.T) {
	run(t, shop, func(t *testing.T, w *world) {
		other := compile(t, strings.Replace(shop, "203.0.113.0/24, ", "", 1))
		prepared := false
		w.Use(other, 2, time.Now, func() {
			prepared = w.Latest().Version().Config == 1
			w.rib.Apply(other.Partners(), other.Peers(), time.Now())
		})
		if !prepared {
			t.Error("the targets were not handed over before the policy was in force")
		}
		v := w.Latest().Version()
		if v.Config != 2 || v.Routes != 2 || v.Hash != other.Hash() {
			t.Errorf("version %s", v)
		}
		want := "config: config 2:" + v.Hash + " in force\n"
		if got := w.heard(); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// A new geo map may take seconds to cut. Verdicts go on to count meanwhile, by the old one.
func TestVerdictsDoNotWaitForTheWorldToBeCut(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	w := newWorld(t, shop, func(_ *world, s *publish.Sources) {
		s.Aside = func(do func()) {
			close(begun)
			<-end
			do()
		}
	})
	old, newer := w.geo.Load(), nowhere()
	w.geo.Store(newer)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Survey(time.Now)
	}()
	<-begun
	w.fell("192.0.2.2")
	w.Refresh(time.Now())
	if s := w.Latest(); s.Geo() != old || s.Version().Health != w.board.Latest().Version() {
		t.Errorf("while the world was cut: version %s", s.Version())
	}
	close(end)
	<-done
	s := w.Latest()
	if s.Geo() != newer || s.Version().Health != w.board.Latest().Version() {
		t.Errorf("when it was cut: version %s", s.Version())
	}
	if w.gives("192.0.2.2") {
		t.Error("the verdict is lost")
	}
	w.Survey(time.Now)
	if w.Latest() != s {
		t.Error("a map that is in force was put in force again")
	}
}

// What an earlier process remembered counts until the first policy is in force, and not any more then.
func TestWhatWasRememberedCountsAtTheStart(t *testing.T) {
	text := strings.Replace(shop, "a: {}", "a: {ramp: 10m}", 1)
	text = strings.Replace(text, "drains: []", "drains: [{target: c}]", 1)
	now := time.Now()
	since := map[steer.DrainKey]time.Time{{Place: "c"}: now.Add(-time.Hour)}
	tenures := steer.NewTenures(map[string]steer.Tenure{"shop a": {Since: now.Add(-time.Minute)}})
	ramping := func(p *publish.Publisher) bool { return p.Latest().View(0, now).Places[0].Ramp != nil }
	policy, board, rib := compile(t, text), health.NewBoard(), bgp.NewRIB()
	start := func() *publish.Publisher {
		return publish.New(publish.Sources{Health: board.Latest, Routes: rib.Latest, Geo: nowhere}, func([]steer.Event) {})
	}
	p := start()
	p.Restore(tenures)
	p.RestoreBegun(since)
	p.Use(policy, 1, func() time.Time { return now }, func() {})
	if !ramping(p) || !p.Begun()[steer.DrainKey{Place: "c"}].Equal(now.Add(-time.Hour)) {
		t.Errorf("restored before: ramps %t, drains hold since %v", ramping(p), p.Begun())
	}
	p = start()
	p.Use(policy, 1, func() time.Time { return now }, func() {})
	p.Restore(tenures)
	p.RestoreBegun(since)
	p.Refresh(now)
	if ramping(p) || !p.Begun()[steer.DrainKey{Place: "c"}].Equal(now) {
		t.Errorf("restored too late: ramps %t, drains hold since %v", ramping(p), p.Begun())
	}
}
