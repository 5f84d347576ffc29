package admin_test

import (
	"math"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	miekg "github.com/miekg/dns"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns"
	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

const leavingText = `
checks: {app: {push: {token: "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}}
datacenters: {msk: {}, nsk: {}}
services:
  www: {check: app, ttl: 30, steer: [datacenters], at: {msk: [192.0.2.1, 192.0.2.3], nsk: [192.0.2.2]}}
zones: {ok.test: {ns: [ns.example.], services: {www: www}}}
`

// leaving is a server one of whose places is drained while clients come.
type leaving struct {
	*world
	t         *testing.T
	responder *dns.Responder
	worker    *dns.Worker
	latest    *steer.Snapshot
	number    uint64
	loads     map[netip.Addr]health.Load
	begun     map[steer.DrainKey]time.Time
}

func newLeaving(t *testing.T) *leaving {
	t.Helper()
	l := &leaving{world: newWorld(t), t: t, responder: dns.NewResponder("", ""), loads: map[netip.Addr]health.Load{}, begun: map[steer.DrainKey]time.Time{}}
	l.worker = l.responder.Worker()
	l.server.Since = time.Now().Add(-time.Hour)
	l.deps.Counts = l.responder.Counts
	l.deps.Snapshot = func() *steer.Snapshot { return l.latest }
	l.deps.Load = func(t health.Target) (health.Load, bool) { load, ok := l.loads[t.Address]; return load, ok }
	l.deps.Begun = func() map[steer.DrainKey]time.Time { return l.begun }
	l.configure("")
	return l
}

// configure puts a configuration with some drains in force.
func (l *leaving) configure(drains string) {
	l.t.Helper()
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(leavingText + drains)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		l.t.Fatal(err)
	}
	l.number++
	l.latest = steer.Build(steer.Inputs{
		Policy: policy, Config: l.number, Health: health.NewBoard().Latest(), Routes: bgp.NewTable(1, nil),
		Geo: geo.NewMap(func(func(netip.Prefix, geo.Location) bool) {}), Now: time.Now(),
	}, nil)
	l.responder.Counts.Settle(l.latest)
}

// come has a client of each of some networks ask.
func (l *leaving) come(networks int, at time.Time) {
	l.t.Helper()
	question := new(miekg.Msg)
	question.SetQuestion("www.ok.test.", miekg.TypeA)
	packet, err := question.Pack()
	if err != nil {
		l.t.Fatal(err)
	}
	for i := range networks {
		source := netip.AddrFrom4([4]byte{100, byte(i >> 8), byte(i), 7})
		l.worker.Respond(l.latest, dns.Request{Packet: packet, Source: source, Now: at, Seed: uint64(i) * 0x9e3779b97f4a7c15}, nil)
	}
}

func (l *leaving) departure() admin.Departure {
	l.t.Helper()
	code, body := l.get("/v1/drains/msk")
	if code != http.StatusOK {
		l.t.Fatalf("%d %s", code, body)
	}
	return read[admin.Departure](l.t, body)
}

func TestDrainIsWatchedUntilItIsSafe(t *testing.T) {
	l := newLeaving(t)
	before := time.Now().Add(-10 * time.Minute)
	l.come(8000, before)
	if d := l.departure(); d.Drained || d.Safe || d.Because != "it is not drained for every service that it has" {
		t.Fatalf("before: %+v", d)
	}
	began := before.Add(20 * time.Second)
	l.begun[steer.DrainKey{Place: "msk"}] = began
	l.configure("drains: [{target: msk, reason: cooling work, by: nikita}]")
	d := l.departure()
	if !d.Drained || d.Given != 0 || !d.Since.Equal(began) || d.Drains[0].By != "nikita" {
		t.Fatalf("drained: %+v", d)
	}
	if want := before.Truncate(time.Second).Add(30 * time.Second); !d.Expired.Equal(want) {
		t.Errorf("the last answer was at %s with a TTL of 30 s, and leaves caches at %s", before, d.Expired)
	}
	if had := d.Clients.Had * d.Clients.Share; had < 2000 || had > 6000 || d.Clients.Moved.Moved != 0 {
		t.Errorf("of 8000 networks half had been given it: %+v", d.Clients)
	}

	// A quarter of the networks come back, and get another place.
	l.come(2000, began.Add(30*time.Second))
	d = l.departure()
	if part := float64(d.Clients.Moved.Moved) / float64(d.Clients.Had); part < 0.15 || part > 0.35 || d.Given != 0 {
		t.Errorf("a quarter came back: %+v", d.Clients)
	}
	if d.Safe || !strings.HasPrefix(d.Because, "its load is not measured") {
		t.Errorf("nothing is measured, and yet: %v %s", d.Safe, d.Because)
	}

	// Only what the endpoints say makes it safe.
	first, second := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.3")
	for _, step := range []struct {
		loads map[netip.Addr]health.Load
		safe  bool
		words string
	}{
		{map[netip.Addr]health.Load{first: {Value: 0, At: time.Now()}}, false, "only 1 of its 2 endpoints have reported their load of late"},
		{map[netip.Addr]health.Load{first: {Value: 3, At: time.Now()}, second: {Value: 0.5, At: time.Now()}}, false, "its endpoints report a load of 3.5"},
		{map[netip.Addr]health.Load{first: {At: time.Now()}, second: {At: time.Now().Add(-time.Hour)}}, false, "only 1 of its 2 endpoints have reported their load of late"},
		{map[netip.Addr]health.Load{first: {At: time.Now()}, second: {At: time.Now()}}, true, "its endpoints report no load"},
	} {
		l.loads = step.loads
		if d := l.departure(); d.Safe != step.safe || d.Because != step.words {
			t.Errorf("%v: %v %q, want %v %q", step.loads, d.Safe, d.Because, step.safe, step.words)
		}
	}
}

// A place that is given although it is drained, since nobody else serves, is told; a later drain begins at 0.
func TestAnswersThatGaveADrainedPlaceAreCounted(t *testing.T) {
	l := newLeaving(t)
	l.begun[steer.DrainKey{Place: "msk"}] = time.Now()
	both := "drains: [{target: msk}, {target: nsk}]"
	l.configure(both)
	l.come(50, time.Now())
	d := l.departure()
	if d.Given == 0 || d.Given > 50 || d.Safe {
		t.Errorf("all places are drained, and %d answers gave msk", d.Given)
	}
	l.configure("")
	l.come(50, time.Now())
	l.configure("drains: [{target: msk}]")
	if d := l.departure(); d.Given != 0 {
		t.Errorf("a new drain begins with %d answers", d.Given)
	}
}

// The line is the published one: at its ends, at the knee and in the tail.
func TestForecastFollowsTheModel(t *testing.T) {
	l := newLeaving(t)
	began := time.Now()
	l.begun[steer.DrainKey{Place: "msk"}] = began
	l.configure("drains: [{target: msk}]")
	f, least := l.departure().Forecast, 1-0.90*time.Since(began).Seconds()/70
	const life = 70.0 // seconds: a TTL of 30 and 40 more
	for _, p := range f.Points {
		x := p.At.Sub(began).Seconds() / life
		want := 0.90*math.Max(0, 1-x) + 0.095*math.Min(1, math.Pow(x, -0.7)) + 0.005
		if math.Abs(p.Left-want) > 0.001 {
			t.Errorf("after %.2f lives: %v, want %v", x, p.Left, want)
		}
	}
	if f.Now < least-0.001 || f.Now > 1.001 || !strings.HasPrefix(f.Model, "a model, not a measurement") {
		t.Errorf("%v of %s", f.Now, f.Model)
	}
}
