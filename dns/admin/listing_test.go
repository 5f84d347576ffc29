package admin_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	miekg "github.com/miekg/dns"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns"
	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// large gives a world of 1,000 services with 10 endpoints each.
func large(t testing.TB) *world {
	t.Helper()
	var text, bound strings.Builder
	text.WriteString("checks: {web: {tcp: {port: 80}}}\ndatacenters: {d0: {}, d1: {}, d2: {}, d3: {}, d4: {}}\nservices:\n")
	for s := range 1000 {
		fmt.Fprintf(&text, "  s%04d:\n    check: web\n    at:\n", s)
		for d := range 5 {
			fmt.Fprintf(&text, "      d%d: [10.%d.%d.%d, 10.%d.%d.%d]\n", d, d, s/250, s%250+1, d+10, s/250, s%250+1)
		}
		fmt.Fprintf(&bound, "n%04d: s%04d, ", s, s)
	}
	fmt.Fprintf(&text, "zones: {ok.test: {ns: [ns.example.], services: {%s}}}\n", strings.TrimSuffix(bound.String(), ", "))
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(text.String())})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	board := health.NewBoard()
	board.Apply(policy.Targets(), now)
	for _, target := range policy.Targets() {
		for range 20 {
			board.Record(target.Key(), health.Result{OK: true, Took: 1234567}, now)
		}
	}
	snapshot := steer.Build(steer.Inputs{Policy: policy, Config: 1, Health: board.Latest(), Routes: bgp.NewTable(1, nil), Geo: geo.NewMap(maps.All(map[netip.Prefix]geo.Location{})), Now: now}, nil)
	w := newWorld(t)
	w.deps.Snapshot = func() *steer.Snapshot { return snapshot }
	w.deps.History = board.History
	return w
}

// A page has a size that does not grow with the configuration, and the pages together are everything, once.
func TestPagesAreBoundedAndCompleteWithThousandServices(t *testing.T) {
	w := large(t)
	handler := admin.New(w.deps)
	const most = 1 << 20
	for path, want := range map[string]int{"/v1/status": 1000, "/v1/services": 1000, "/v1/endpoints": 10000, "/v1/places": 5} {
		seen, pages, next := map[string]bool{}, 0, ""
		for {
			out := httptest.NewRecorder()
			handler.ServeHTTP(out, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path+"?from="+next, nil))
			body := out.Body.String()
			if len(body) > most {
				t.Errorf("%s: %d octets", path, len(body))
			}
			page := read[struct {
				Next      string
				Services  []struct{ Service string }
				Places    []struct{ Place string }
				Endpoints []struct{ Service, Place, Address string }
			}](t, body)
			for _, v := range page.Services {
				seen[v.Service] = true
			}
			for _, v := range page.Places {
				seen[v.Place] = true
			}
			for _, v := range page.Endpoints {
				seen[v.Service+v.Place+v.Address] = true
			}
			if pages++; page.Next == "" {
				break
			}
			next = page.Next
		}
		if len(seen) != want {
			t.Errorf("%s: %d on %d pages, want %d", path, len(seen), pages, want)
		}
	}
}

func TestListsAreFiltered(t *testing.T) {
	w := newWorld(t)
	for query, want := range map[string]string{
		"/v1/services":                    "www bare",
		"/v1/services?match=ww":           "www",
		"/v1/services?match=www.ok":       "www",
		"/v1/services?place=nsk":          "www",
		"/v1/services?standing=drained":   "www",
		"/v1/services?standing=withdrawn": "",
		"/v1/services?standing=unserved":  "",
		"/v1/services?from=bare":          "bare",
		"/v1/services?limit=1":            "www",
	} {
		_, body := w.get(query)
		var names []string
		for _, s := range read[admin.Services](t, body).Services {
			names = append(names, s.Service)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"/v1/endpoints":                                "192.0.2.1 192.0.2.3 2001:db8::1 192.0.2.2 192.0.2.9",
		"/v1/endpoints?verdict=failing":                "192.0.2.1",
		"/v1/endpoints?verdict=withdrawn":              "192.0.2.1",
		"/v1/endpoints?service=www&place=nsk":          "192.0.2.2",
		"/v1/endpoints?check=web&address=192.0.2.3":    "192.0.2.3",
		"/v1/endpoints?from=www/nsk/192.0.2.2&limit=1": "192.0.2.2",
	} {
		_, body := w.get(query)
		var addresses []string
		for _, e := range read[admin.Endpoints](t, body).Endpoints {
			addresses = append(addresses, e.Address)
		}
		if got := strings.Join(addresses, " "); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

func TestEndpointShowsItsWindow(t *testing.T) {
	_, body := newWorld(t).get("/v1/endpoints?address=192.0.2.1")
	e := read[admin.Endpoints](t, body).Endpoints[0]
	if e.Last != "000" || len(e.Took) != 3 || e.Fall != 10 || e.Rise != 20 || e.Cause != "connect refused" || e.Interval != 10 {
		t.Errorf("got %s", body)
	}
}

func TestSharesAreOfWhatWasGiven(t *testing.T) {
	w := newWorld(t)
	r := dns.NewResponder("", "")
	w.deps.Counts = r.Counts
	question := new(miekg.Msg)
	question.SetQuestion("www.ok.test.", miekg.TypeA)
	packet, err := question.Pack()
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		r.Respond(w.deps.Snapshot(), dns.Request{Packet: packet, Source: netip.MustParseAddr("203.0.113.7"), Now: now}, nil)
	}
	_, body := w.get("/v1/services?match=www")
	s := read[admin.Services](t, body).Services[0]
	if msk := s.Places[0]; s.Given != 4 || msk.Given != 4 || msk.Share != 1 || msk.Placed["geo"] != 4 || s.Places[1].Given != 0 || s.Names[0] != "www.ok.test" {
		t.Errorf("got %s", body)
	}
	_, body = w.get("/v1/places")
	msk := read[admin.Places](t, body).Places[0]
	if msk.Given != 4 || msk.Share != 1 || msk.Kind != "datacenter" || msk.Location[0] != 55.75 || msk.Standing != "serving" || msk.Up != 3 {
		t.Errorf("got %s", body)
	}
}
