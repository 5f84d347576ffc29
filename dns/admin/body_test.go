package admin_test

import (
	"context"
	"maps"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gslb/bgp"
	"gslb/config"
	"gslb/config/state"
	"gslb/dns/admin"
)

// An order that cannot be read drains nothing, and is told what is wrong in words of JSON, not of Go.
func TestOrdersThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	drained := 0
	w.deps.Drain = func(_ context.Context, d config.Drain) (admin.Drained, error) {
		drained++
		return admin.Drained{Place: d.Target}, nil
	}
	door := admin.New(w.deps)
	for _, c := range []struct {
		name, body, said string
		code             int
	}{
		{"nothing", ``, `drain: the body is empty: send JSON`, 400},
		{"half of one", `{"place": "msk"`, `drain: the JSON ends before it is complete`, 400},
		{"no JSON", `place=msk`, `drain: not JSON: byte 1: invalid character 'p' looking for beginning of value`, 400},
		{"a list", `[]`, `drain: must be an object, not an array`, 400},
		{"a number for a name", `{"place": 5}`, `drain: place: must be a string, not a number`, 400},
		{"a number for a span", `{"place": "msk", "for": 2}`, `drain: for: must be a string, not a number`, 400},
		{"a word for a yes", `{"place": "msk", "hard": "yes"}`, `drain: hard: must be true or false, not a string`, 400},
		{"a day for a time", `{"place": "msk", "until": "tomorrow"}`, `drain: "tomorrow" is not a time such as "2026-12-24T06:00:00Z"`, 400},
		{"a key that is none", `{"place": "msk", "span": "2h"}`, `drain: unknown field "span"`, 400},
		{"two", `{"place": "msk"} {"place": "fra"}`, `drain: something follows the value: send one`, 400},
		{"one, and something", `{"place": "msk"}]`, `drain: something follows the value: send one`, 400},
		{"too much", `{"place": "` + strings.Repeat("x", 20<<10) + `"}`, `drain: more than 16384 bytes`, 413},
		{"too much behind one", `{"place": "msk"}` + strings.Repeat(" ", 20<<10), `drain: more than 16384 bytes`, 413},
		{"one, and white space", "{\"place\": \"msk\"}\n\n", ``, 201},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, out := drained, httptest.NewRecorder()
			r := httptest.NewRequest("POST", "http://127.0.0.1:8053/v1/drains", strings.NewReader(c.body))
			r.RemoteAddr = "127.0.0.1:4711"
			r.Header.Set("Content-Type", "application/json")
			door.ServeHTTP(out, r)
			if out.Code != c.code || c.said != "" && read[admin.Failure](t, out.Body.String()).Error != c.said {
				t.Errorf("%d %s\nwant %d %s", out.Code, out.Body, c.code, c.said)
			}
			if began := drained > before; began != (c.code == 201) {
				t.Errorf("drained: %v", began)
			}
		})
	}
}

// Who asks for what is misspelt is told so: an empty list would say that all is well.
func TestWhatIsMisspeltIsNotFound(t *testing.T) {
	p := newPeering(t)
	p.deps.Undrain = func(context.Context, string, string) (admin.Drained, error) {
		t.Error("a drain was ended that was not meant")
		return admin.Drained{}, nil
	}
	reset := 0
	p.deps.Reset = func(netip.Addr) bool { reset++; return true }
	p.views[0].State = bgp.Established
	for _, c := range []struct {
		method, path string
		code         int
		said         string
	}{
		{"GET", "/v1/endpoints?verdict=faling", 400, `verdict \"faling\": not one of up, unknown, withdrawn, failing`},
		{"GET", "/v1/endpoints?verdict=failing", 200, ""},
		{"GET", "/v1/endpoints?place=nks", 404, `place \"nks\": not in the configuration`},
		{"GET", "/v1/endpoints?service=wwx", 404, `service \"wwx\": not in the configuration (did you mean www?)`},
		{"GET", "/v1/services?standing=up", 400, `standing \"up\": not one of serving, unknown, withdrawn, drained, unserved`},
		{"GET", "/v1/services?standing=unserved", 200, ""},
		{"GET", "/v1/services?place=nks", 404, "nks"},
		{"GET", "/v1/places?place=nks", 404, "nks"},
		{"GET", "/v1/drain?place=nks", 404, "nks"},
		{"GET", "/v1/drain?place=msk&service=wwx", 404, "wwx"},
		{"POST", "/v1/partners/reset?partner=sibtel&all=all", 400, `all \"all\": neither 1 nor 0`},
		{"POST", "/v1/partners/reset?partner=sibtel&all=0", 200, `"begun":false`},
		{"POST", "/v1/partners/reset?partner=sibtel&all=true", 200, `"begun":true`},
		{"GET", "/v1/endpoints?servce=www", 400, `unknown parameter \"servce\" (did you mean service?); known are service, place, address, check, verdict, from, limit`},
		{"GET", "/v1/version?pretty", 400, `unknown parameter \"pretty\": GET /v1/version takes none`},
		{"GET", "/v1/services/www?service=www", 400, `unknown parameter \"service\": GET /v1/services/{service} takes none`},
		{"GET", "/v1/services?place=msk&place=nsk", 400, `place: is given 2 times; once is all that is read`},
		{"GET", "/v1/services?place=msk;limit=1", 400, `query \"place=msk;limit=1\": invalid semicolon separator in query`},
		{"GET", "/v1/services?from=", 200, ""},
		{"GET", "/v1/events?kind=verdict", 400, `kind \"verdict\": not one of endpoint, place, service`},
		{"GET", "/v1/events/stream?plaec=msk", 400, `(did you mean place?)`},
		{"DELETE", "/v1/drains/msk?servce=www", 400, `unknown parameter \"servce\" (did you mean service?)`},
		{"POST", "/v1/reload?force=1", 400, `unknown parameter \"force\"`},
		{"GET", "/v1/endpoint", 404, `{"error":"/v1/endpoint: nothing is there; /v1/openapi.json tells what is"}`},
		{"GET", "/v1/", 404, `{"error":`},
		{"PUT", "/v1/drains", 405, `{"error":"PUT /v1/drains: it can be asked by GET, POST"}`},
		{"GET", "/v1/reload", 405, `{"error":"GET /v1/reload: it can be asked by POST"}`},
		{"GET", "/metrics?name[]=up", 200, ""},
		{"GET", "/healthz?from=balancer", 200, ""},
	} {
		r := httptest.NewRequest(c.method, "http://127.0.0.1:8053"+c.path, nil)
		r.RemoteAddr = "127.0.0.1:4711"
		if code, said := p.ask(r); code != c.code || !strings.Contains(said, c.said) {
			t.Errorf("%s: %d %s, want %d with %s", c.path, code, said, c.code, c.said)
		}
	}
	if reset == 0 {
		t.Error("nothing was begun anew")
	}
}

// The kinds by which events can be asked for are those that the program has.
func TestKindsOfEventsAreAllThatAreMade(t *testing.T) {
	made, of := map[string]bool{}, regexp.MustCompile(`(?:\{\s*Kind: |\brecord\(|sessionEvent = )"([a-z]+)"`)
	for _, folder := range []string{"../steer", "../../cmd/gslb"} {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range of.FindAllSubmatch(text, -1) {
				made[string(found[1])] = true
			}
		}
	}
	if got, want := slices.Sorted(maps.Keys(made)), slices.Sorted(slices.Values(state.Kinds())); !slices.Equal(got, want) {
		t.Errorf("events are made of\n%v, and known are\n%v", got, want)
	}
}
