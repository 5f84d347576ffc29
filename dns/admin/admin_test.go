package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/config"
	"gslb/config/state"
	"gslb/dns"
	"gslb/dns/admin"
	"gslb/dns/publish"
	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
	"gslb/health/spread"
)

const text = `
checks: {web: {tcp: {port: 80}}}
datacenters: {msk: {location: [55.75, 37.62]}, nsk: {location: [55.03, 82.92]}}
services:
  www: {check: web, ttl: 30, at: {msk: [192.0.2.1, 192.0.2.3, "2001:db8::1"], nsk: [192.0.2.2]}}
  bare: {at: {msk: [192.0.2.9]}}
zones:
  ok.test: {soa: {serial: 1}, transfer: {allow: [203.0.113.7/32]}, ns: [ns1], records: ns1 A 192.0.2.53, services: {www: www}}
drains:
  - {target: nsk, reason: cooling work, by: nikita, hard: true}
`

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// world is a server to look at, whose outcomes a test can set.
type world struct {
	deps   admin.Deps
	server admin.Server
	tokens []config.AdminToken
	log    bytes.Buffer
	reload func() (admin.Reload, error)
	events func(since time.Time, limit int) ([]state.Event, error)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(text)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	board := health.NewBoard()
	board.Apply(policy.Targets(), now)
	for range 3 {
		for _, target := range policy.Targets() {
			if target.Address == netip.MustParseAddr("192.0.2.1") {
				board.Record(target.Key(), health.Result{Cause: "connect refused"}, now)
			}
		}
	}
	moscow := geo.Location{Country: "RU", Latitude: 55.75, Longitude: 37.62, Located: true}
	globe := geo.NewMap(maps.All(map[netip.Prefix]geo.Location{netip.MustParsePrefix("203.0.113.0/24"): moscow}))
	snapshot := steer.Build(steer.Inputs{
		Policy: policy, Config: 42, Health: board.Latest(), Routes: bgp.NewTable(1, nil), Geo: globe, Now: now,
	}, nil)
	w := &world{server: admin.Server{
		Ready: true, Since: now, Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:5353")},
		Config: admin.Config{File: "gslb.yaml", Number: 42, Hash: policy.Hash(), Loaded: now},
	}}
	w.deps = admin.Deps{
		Version:  "1.0",
		Listen:   netip.MustParseAddrPort("127.0.0.1:8053"),
		Tokens:   func() []config.AdminToken { return w.tokens },
		Log:      slog.New(slog.NewTextHandler(&w.log, nil)),
		Snapshot: func() *steer.Snapshot { return snapshot },
		Server:   func() admin.Server { return w.server },
		Events:   func(since time.Time, limit int) ([]state.Event, error) { return w.events(since, limit) },
		Reload:   func(context.Context) (admin.Reload, error) { return w.reload() },
		Traces:   func() []admin.TraceView { return []admin.TraceView{{Sink: "dnstap", Taken: 7, Lost: 1}} },
		Buffers: func() map[netip.AddrPort]int {
			return map[netip.AddrPort]int{netip.MustParseAddrPort("127.0.0.1:5353"): 425984}
		},
		Counts: dns.NewResponder("", "").Counts,
		Signed: new(sign.Counts),
		Outlooks: func() []sign.Outlook {
			return []sign.Outlook{{Zone: "\x02ok\x04test\x00", Expires: now.Add(time.Hour), Validity: 24 * time.Hour, Followed: true}}
		},
		Shown: func() map[string]admin.Lifetime {
			return map[string]admin.Lifetime{"tls": {From: now, Until: now.Add(90 * time.Second)}}
		},
		Gaps:     func() health.Gaps { return health.Gaps{Gaps: 3, Discarded: 5, Hindered: 2} },
		Happened: func() map[string]uint64 { return map[string]uint64{"drain": 3} },

		Routes:    func() *bgp.Table { return bgp.NewTable(1, nil) },
		Peers:     func() []bgp.PeerView { return nil },
		Listeners: func() []bgp.ListenView { return nil },
		RPKI:      func() []rpki.View { return nil },
		Reset:     func(netip.Addr) bool { return false },
		Newest:    func() (string, error) { return strings.Repeat("0", 24), nil },
		After:     func(string, int) ([]state.Event, error) { return nil, nil },
		Appended:  func() <-chan struct{} { return nil },
		History:   board.History,
		Begun:     func() map[steer.DrainKey]time.Time { return map[steer.DrainKey]time.Time{{Place: "nsk"}: now} },
		Load:      func(health.Target) (health.Load, bool) { return health.Load{}, false },
		Lag:       func() (s spread.Sum) { return s },
		InFlight:  func() int { return 2 },
		Probes:    func() map[health.Ending]spread.Sum { return map[health.Ending]spread.Sum{{Kind: "tcp", OK: true}: {}} },
		Built: func() publish.Built {
			return publish.Built{Snapshots: 3, Last: time.Second, Total: 4 * time.Second, At: now}
		},
	}
	return w
}

func (w *world) ask(request *http.Request) (code int, body string) {
	out := httptest.NewRecorder()
	admin.New(w.deps).ServeHTTP(out, request)
	return out.Code, out.Body.String()
}

func (w *world) get(path string) (code int, body string) {
	return w.ask(httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8053"+path, nil))
}

func read[T any](t *testing.T, body string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Fatalf("%v in:\n%s", err, body)
	}
	return value
}

func TestStatusTellsHowEveryServiceStands(t *testing.T) {
	code, body := newWorld(t).get("/v1/status")
	s := read[admin.Status](t, body)
	if code != http.StatusOK || s.Version != "1.0" || !s.Ready || s.Config.Number != 42 || s.Geo != "table" || len(s.Services) != 2 {
		t.Fatalf("%d %s", code, body)
	}
	www := s.Services[0]
	if www.Service != "www" || !www.Served || www.Places[0].Endpoints[0].Cause != "connect refused" {
		t.Errorf("got %+v", www)
	}
	if d := www.Places[1].Drain; d == nil || d.Reason != "cooling work" || !d.Hard {
		t.Errorf("drain of nsk: got %+v", d)
	}
}

func TestExplainGivesTheLinesOfDig(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		query string
		want  []string // beginnings of the first lines
	}{
		"an address":     {"name=www.ok.test&client=203.0.113.7", []string{"client=203.0.113.7/32 via=ecs", `name=www.ok.test service=www answer="192.0.2.3 2001:db8::1" ttl=`}},
		"a network":      {"name=WWW.ok.test.&client=203.0.113.7/24", []string{"client=203.0.113.0/24 via=ecs"}},
		"one by itself":  {"name=www.ok.test&client=10.1.2.3", []string{"client=10.1.2.3 via=source"}},
		"a private net":  {"name=www.ok.test&client=10.1.2.0/24", []string{"client=10.1.2.0 via=source"}},
		"no network":     {"name=www.ok.test&client=0.0.0.0/0", []string{"client=127.0.0.1 via=source"}},
		"this machine":   {"name=www.ok.test", []string{"client=127.0.0.1 via=source"}},
		"one family":     {"name=www.ok.test&type=a", []string{"client=127.0.0.1 via=source", `name=www.ok.test service=www answer=192.0.2.3 ttl=`}},
		"another family": {"name=www.ok.test&type=AAAA", []string{"client=127.0.0.1 via=source", `name=www.ok.test service=www answer=2001:db8::1 ttl=`}},
		"a static name":  {"name=ns1.ok.test", []string{"client=127.0.0.1 via=source", "name=ns1.ok.test zone=ok.test records=A"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := w.get("/v1/explain?" + c.query)
			e := read[admin.Explanation](t, body)
			if code != http.StatusOK || len(e.Lines) != len(e.Text) {
				t.Fatalf("%d %s", code, body)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(e.Text[i], want) {
					t.Errorf("line %d: got %q, want %q…", i+1, e.Text[i], want)
				}
			}
			for i, l := range e.Lines {
				if l.String() != e.Text[i] {
					t.Errorf("line %d: the object says %q, the text %q", i+1, l, e.Text[i])
				}
			}
		})
	}
}

func TestObjectsOfReasonsKeepTheirOrder(t *testing.T) {
	_, body := newWorld(t).get("/v1/explain?name=www.ok.test&client=203.0.113.7")
	if want := `{"client":"203.0.113.7/32","via":"ecs"},{"name":"www.ok.test","service":"www","answer":"`; !strings.Contains(body, want) {
		t.Errorf("got %s\nwant …%s…", body, want)
	}
}

func TestBadRequestsAreToldInWords(t *testing.T) {
	w := newWorld(t)
	w.events = func(time.Time, int) ([]state.Event, error) { return nil, errors.New("state state.db: damaged") }
	for path, want := range map[string]struct {
		code  int
		error string
	}{
		"/v1/explain":           {400, `name "": not a domain name`},
		"/v1/explain?name=a..b": {400, `name "a..b": not a domain name`},
		"/v1/explain?name=www.ok.test&client=moscow": {400, `client "moscow": not an address such as 203.0.113.7, nor a network such as 203.0.113.0/24`},
		"/v1/explain?name=www.ok.test&type=MX":       {400, `type "MX": services give A and AAAA`},
		"/v1/status?place=mks":                       {404, `place "mks": not in the configuration (did you mean msk?)`},
		"/v1/explain?name=www.other.test":            {404, "www.other.test lies in no zone of this server: it has ok.test"},
		"/v1/drain":                                  {400, "place: not given"},
		"/v1/events?since=yesterday":                 {400, `since "yesterday": not a span such as 1h, nor a time such as 2026-12-24T06:00:00Z`},
		"/v1/events?limit=0":                         {400, `limit "0": not a number from 1 to 10000`},
		"/v1/events":                                 {500, "state state.db: damaged"},
	} {
		code, body := w.get(path)
		if got := read[admin.Failure](t, body).Error; code != want.code || got != want.error {
			t.Errorf("%s: got %d %q, want %d %q", path, code, got, want.code, want.error)
		}
	}
}

func TestEventsAreBoundedByTimeAndNumber(t *testing.T) {
	w := newWorld(t)
	var since time.Time
	var limit int
	w.events = func(s time.Time, l int) ([]state.Event, error) {
		since, limit = s, l
		return []state.Event{{Time: now, Kind: "drain", Text: "msk drained", Fields: map[string]string{"place": "msk"}}}, nil
	}
	_, body := w.get("/v1/events?since=2026-11-29T11:00:00Z&limit=7")
	if !since.Equal(now.Add(-time.Hour)) || limit != 7 {
		t.Errorf("asked for %s and %d", since, limit)
	}
	want := []admin.Event{{Time: now, Kind: "drain", Text: "msk drained", Fields: map[string]string{"place": "msk"}}}
	if diff := cmp.Diff(want, read[[]admin.Event](t, body)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if w.get("/v1/events?since=1h"); limit != 100 || time.Since(since) < time.Hour || time.Since(since) > 2*time.Hour {
		t.Errorf("asked for %s and %d", since, limit)
	}
}

func TestEventsOfAService(t *testing.T) {
	w := newWorld(t)
	event := func(text string, fields ...string) state.Event {
		e := state.Event{Time: now, Text: text, Fields: map[string]string{}}
		for i := 0; i < len(fields); i += 2 {
			e.Fields[fields[i]] = fields[i+1]
		}
		return e
	}
	w.events = func(time.Time, int) ([]state.Event, error) {
		return []state.Event{
			event("started"),
			event("msk drained", "place", "msk"),
			event("nsk drained", "place", "nsk"),
			event("msk drained for bare", "place", "msk", "service", "bare"),
			event("an endpoint of www", "place", "msk", "endpoint", "192.0.2.1", "check", "web"),
			event("an endpoint of bare", "place", "msk", "endpoint", "192.0.2.9"),
			event("a check that www has no more", "place", "msk", "endpoint", "192.0.2.1", "check", "old"),
			event("an endpoint that nobody has", "place", "msk", "endpoint", "192.0.2.77", "check", "web"),
			event("bare is answered by all", "service", "bare"),
		}, nil
	}
	for query, want := range map[string]string{
		"service=www":            "msk drained, nsk drained, an endpoint of www",
		"service=bare":           "msk drained, msk drained for bare, an endpoint of bare, bare is answered by all",
		"service=www&place=nsk":  "nsk drained",
		"service=bare&place=nsk": "",
	} {
		_, body := w.get("/v1/events?" + query)
		var texts []string
		for _, e := range read[[]admin.Event](t, body) {
			texts = append(texts, e.Text)
		}
		if got := strings.Join(texts, ", "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if code, body := w.get("/v1/events?service=wwww"); code != http.StatusNotFound || !strings.Contains(body, "did you mean www?") {
		t.Errorf("of a service that is none, and that no event names: %d %s", code, body)
	}
}

func TestDrainIsForeseen(t *testing.T) {
	w := newWorld(t)
	for query, want := range map[string]string{
		"place=msk":              "www bare",
		"place=msk&service=bare": "bare",
		"place=nsk":              "",
	} {
		_, body := w.get("/v1/drain?" + query)
		if got := strings.Join(read[admin.Drain](t, body).Bare, " "); got != want {
			t.Errorf("%s: left bare are %q, want %q", query, got, want)
		}
	}
}

func TestReloadGivesTheOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		outcome admin.Reload
		err     error
		code    int
	}{
		"applied": {admin.Reload{Outcome: admin.Applied, Number: 43, Hash: "9f3c2a1e"}, nil, 200},
		"refused": {admin.Reload{Outcome: admin.Refused, Number: 42, Problems: []string{"gslb.yaml:1:1: …"}}, nil, 422},
		"ending":  {admin.Reload{}, context.Canceled, 503},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reload = func() (admin.Reload, error) { return c.outcome, c.err }
			code, body := w.ask(httptest.NewRequest(http.MethodPost, "http://localhost:8053/v1/reload", nil))
			if diff := cmp.Diff(c.outcome, read[admin.Reload](t, body)); code != c.code || diff != "" {
				t.Errorf("code %d, want %d; -want +got:\n%s", code, c.code, diff)
			}
		})
	}
}

func TestReadinessFollowsTheSockets(t *testing.T) {
	w := newWorld(t)
	for _, ready := range []bool{true, false} {
		w.server.Ready = ready
		code, _ := w.get("/readyz")
		if alive, _ := w.get("/healthz"); (code == http.StatusOK) != ready || alive != http.StatusOK {
			t.Errorf("ready %v: readyz gives %d, healthz %d", ready, code, alive)
		}
	}
}
