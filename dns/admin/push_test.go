package admin_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// TestPushedReports: the token abc is in the config by its hash, the token of the file is s3cret.
func TestPushedReports(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "token"), []byte("s3cret\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `
checks:
  app: {push: {token: "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}
  lb: {push: {token_file: token}}
  gone: {push: {token_file: none}}
  web: {tcp: {port: 80}}
datacenters: {msk: {}}
services:
  a: {check: app, steer: [datacenters], at: {msk: [192.0.2.1, "2001:db8::1"]}}
  b: {check: lb, steer: [datacenters], at: {msk: [192.0.2.2]}}
`
	cfg, problems := config.Parse(config.Source{File: filepath.Join(folder, "gslb.yaml"), Text: []byte(text)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	snapshot := steer.Build(steer.Inputs{
		Policy: policy, Config: 1, Health: health.NewBoard().Latest(), Routes: bgp.NewTable(1, nil), Geo: geo.NewMap(maps.All(map[netip.Prefix]geo.Location{})), Now: now,
	}, nil)
	var got []string
	w := newWorld(t)
	w.deps.Snapshot = func() *steer.Snapshot { return snapshot }
	w.deps.Report = func(check string, at netip.Addr, r health.Result) {
		got = append(got, fmt.Sprint(check, " ", at, " ", r.OK, " ", r.Cause))
	}
	door := admin.New(w.deps)
	for _, c := range []struct {
		name, check, token, body string
		code                     int
		said                     string // in the answer
		want                     []string
	}{
		{"a good one", "app", "Bearer abc", `[{"endpoint": "192.0.2.1", "ok": true}]`, 204, "", []string{"app 192.0.2.1 true "}},
		{"several", "app", "Bearer abc", `[{"endpoint": "192.0.2.1", "ok": false, "cause": "queue full"}, {"endpoint": "2001:db8::1", "ok": true}]`,
			204, "", []string{"app 192.0.2.1 false queue full", "app 2001:db8::1 true "}},
		{"by a token of a file", "lb", "Bearer s3cret", `[{"endpoint": "192.0.2.2", "ok": true}]`, 204, "", []string{"lb 192.0.2.2 true "}},
		{"by another check's token", "lb", "Bearer abc", `[]`, 401, "token is not that", nil},
		{"without a token", "app", "", `[]`, 401, "token is not that", nil},
		{"with an empty token", "app", "Bearer ", `[]`, 401, "token is not that", nil},
		{"with a token by another way", "app", "Basic abc", `[]`, 401, "token is not that", nil},
		{"of a check that is none", "nope", "Bearer abc", `[]`, 401, "token is not that", nil},
		{"of a check that is not pushed", "web", "Bearer abc", `[]`, 401, "token is not that", nil},
		{"of a check that nobody has", "gone", "Bearer abc", `[]`, 401, "token is not that", nil},
		{"of another's endpoint", "app", "Bearer abc", `[{"endpoint": "192.0.2.1", "ok": true}, {"endpoint": "192.0.2.2", "ok": true}]`,
			422, "endpoint 192.0.2.2: not one of check app", nil},
		{"of no endpoint", "app", "Bearer abc", `[{"ok": true}]`, 422, "not one of check app", nil},
		{"without a result", "app", "Bearer abc", `[{"endpoint": "192.0.2.1"}]`, 422, "ok: not given", nil},
		{"none", "app", "Bearer abc", `[]`, 422, "must be a list of 1 to 4096", nil},
		{"not a list", "app", "Bearer abc", `{"endpoint": "192.0.2.1", "ok": true}`, 400, "reports: ", nil},
		{"a key that is none", "app", "Bearer abc", `[{"endpoint": "192.0.2.1", "okay": true}]`, 400, "okay", nil},
		{"too much", "app", "Bearer abc", `[{"endpoint": "192.0.2.1", "ok": true, "cause": "` + strings.Repeat("x", 300<<10) + `"}]`, 413, "reports: more than 262144 bytes", nil},
		{"by a scheme in small letters", "app", "bearer abc", `[{"endpoint": "192.0.2.1", "ok": true}]`, 204, "", []string{"app 192.0.2.1 true "}},
		{"twice", "app", "Bearer abc", `[{"endpoint": "192.0.2.1", "ok": true}] []`, 400, "reports: something follows the value: send one", nil},
		{"an endpoint that is no address", "app", "Bearer abc", `[{"endpoint": "www", "ok": true}]`, 400, `reports: ParseAddr(\"www\")`, nil},
		{"a result that is none", "app", "Bearer abc", `[{"endpoint": "192.0.2.1", "ok": "yes"}]`, 400, "reports: ok: must be true or false, not a string", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got = nil
			r := httptest.NewRequest("POST", "http://127.0.0.1/v1/push/"+c.check, strings.NewReader(c.body))
			r.Header.Set("Authorization", c.token)
			answer := httptest.NewRecorder()
			door.ServeHTTP(answer, r)
			if answer.Code != c.code || !strings.Contains(answer.Body.String(), c.said) {
				t.Errorf("%d %s, want %d %q", answer.Code, answer.Body, c.code, c.said)
			}
			if strings.Contains(answer.Body.String(), "abc") || strings.Contains(answer.Body.String(), "s3cret") {
				t.Errorf("the answer has a token: %s", answer.Body)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("reports (-want +got):\n%s", diff)
			}
		})
	}
	os.Remove(filepath.Join(folder, "token"))
	r := httptest.NewRequest("POST", "http://127.0.0.1/v1/push/lb", strings.NewReader("[]"))
	r.Header.Set("Authorization", "Bearer s3cret")
	answer := httptest.NewRecorder()
	if door.ServeHTTP(answer, r); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("without the file: %d %s", answer.Code, answer.Body)
	}
}
