package config

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// write makes a file below a folder and gives its path.
func write(t testing.TB, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// loaded is a config that must have no errors.
func loaded(t testing.TB, file string) *Config {
	t.Helper()
	c, ps := Load(file)
	if err := ps.Err(); err != nil {
		t.Fatalf("%s:\n%v", file, err)
	}
	return c
}

func parsedText(t testing.TB, text string) *Config {
	t.Helper()
	c, ps := Parse(Source{File: "gslb.yaml", Text: []byte(text)})
	if err := ps.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := parsedText(t, `
checks: {web: {http: {}, interval: 8s}, ssl: {https: {}}}
datacenters: {msk: {}}
sites: {nsk: {weight: 30}}
partners: {sibtel: {site: nsk, networks: [203.0.113.0/24]}}
services:
  odd: {ttl: 1, at: {msk: [192.0.2.1]}}
  web: {check: web, at: {msk: [192.0.2.1], nsk: {addresses: [192.0.2.2], weight: 0, check: ssl}}}
zones: {ok.test: {}, with.test: {soa: {}}}
`)
	check := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }),
			cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("server", c.Server, Server{
		Listen:  []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:5353"), netip.MustParseAddrPort("[::1]:5353")},
		State:   "gslb.state.db",
		Journal: Journal{Keep: 720 * time.Hour, Events: 100000},
		Explain: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		Log:     Log{Format: "text", Level: "info"},
		Cookies: true,
	})
	check("admin", c.Admin, Admin{Listen: netip.MustParseAddrPort("127.0.0.1:8053")})
	check("geo", c.Geo, Geo{Database: "builtin"})
	check("http check", c.Checks[0], Check{Name: "web", Kind: CheckHTTP, Port: 80, Method: "GET", Path: "/", Status: "200-299",
		Interval: 8 * time.Second, Timeout: 4 * time.Second, Window: 20, Fall: 10, Rise: 20})
	check("https check", c.Checks[1], Check{Name: "ssl", Kind: CheckHTTPS, Port: 443, Method: "GET", Path: "/", Status: "200-299", TLS: Trust{Verify: true},
		Interval: 10 * time.Second, Timeout: 5 * time.Second, Window: 20, Fall: 10, Rise: 20})
	check("places", c.Places, []Place{{Name: "msk", Weight: 100, DegradedWeight: 100}, {Name: "nsk", Kind: Site, Weight: 30, DegradedWeight: 30}})
	check("partner", c.Partners[0], Partner{Name: "sibtel", Site: "nsk", Networks: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")},
		Accept: Accept{IPv4: Lengths{8, 24}, IPv6: Lengths{16, 48}, MaxPrefixes: 100000}, Stale: 15 * time.Minute})
	check("brake", c.Brake, Brake{Percent: 100})
	check("ttl_min of 1", c.Services[0].TTLMin, uint32(1))
	one := []Endpoint{{Address: netip.MustParseAddr("192.0.2.1"), Probe: netip.MustParseAddr("192.0.2.1")}}
	two := []Endpoint{{Address: netip.MustParseAddr("192.0.2.2"), Probe: netip.MustParseAddr("192.0.2.2")}}
	check("service", c.Services[1], Service{Name: "web", Checks: []string{"web"}, TTL: 60, TTLMin: 30, Answer: 1, MaxAddresses: 16,
		Steer: []Stage{StagePartners, StageGeo, StageDatacenters}, At: []Member{
			{Place: "msk", Endpoints: one, Weight: 100, DegradedWeight: 100, Checks: []string{"web"}, MinHealthy: Share{Count: 1}},
			{Place: "nsk", Endpoints: two, Weight: 0, Checks: []string{"ssl"}, MinHealthy: Share{Count: 1}},
		}})
	check("zone without soa", c.Zones[0], Zone{Path: "zones.ok.test", Name: "ok.test.", TTL: 3600})
	check("soa", c.Zones[1].SOA, &SOA{Auto: true, Refresh: 3600, Retry: 600, Expire: 604800, Minimum: 60})
}

func TestDropInsMergeInNameOrder(t *testing.T) {
	folder := t.TempDir()
	main := write(t, folder, "gslb.yaml", "server: {nsid: ns1}\ndatacenters: {msk: {}}\nservices: {web: {at: {msk: [192.0.2.1]}}}\ndrains: [{target: msk}]\n")
	write(t, folder, "gslb.yaml.d/20.yaml", "drains: [{target: spb, reason: second}]\nservices: {web: {at: {spb: [192.0.2.2]}}}\n")
	write(t, folder, "gslb.yaml.d/10.yaml", "drains: [{target: spb, reason: first}]\nserver: {state: s.db}\ndatacenters: {spb: {weight: 5}}\n")
	write(t, folder, "gslb.yaml.d/.hidden.yaml", "nonsense: true\n")
	write(t, folder, "gslb.yaml.d/README", "nonsense: true\n")
	c := loaded(t, main)
	var drains []string
	for _, d := range c.Drains {
		drains = append(drains, d.Target+" "+d.Reason+" "+strings.TrimPrefix(d.Pos.String(), folder+"/"))
	}
	want := []string{"msk  gslb.yaml:4:10", "spb first gslb.yaml.d/10.yaml:1:10", "spb second gslb.yaml.d/20.yaml:1:10"}
	if diff := cmp.Diff(want, drains); diff != "" {
		t.Errorf("drains (-want +got):\n%s", diff)
	}
	if got := len(c.Services[0].At); got != 2 {
		t.Errorf("the service is in %d places, want msk and spb", got)
	}
	if want := filepath.Join(folder, "gslb.yaml.d", "s.db"); c.Server.State != want || c.Server.NSID != "ns1" {
		t.Errorf("state is %s, want %s; nsid is %q, want ns1", c.Server.State, want, c.Server.NSID)
	}
	if got := c.At("drains[2].target").String(); got != filepath.Join(folder, "gslb.yaml.d/20.yaml")+":1:11" {
		t.Errorf("drains[2].target stands at %s", got)
	}
}

func TestConflictNamesBothPlaces(t *testing.T) {
	_, ps := Parse(
		Source{"gslb.yaml", []byte("server: {nsid: a, explain: [10.0.0.0/8]}\ndatacenters: {msk: {location: [1, 2]}}\n")},
		Source{"gslb.yaml.d/a.yaml", []byte("server:\n  nsid: b\n  explain: [192.168.0.0/16]\ndatacenters: [msk]\n")},
		Source{"gslb.yaml.d/b.yaml", []byte("datacenters: {msk: {location: {}}}\n")},
	)
	want := `gslb.yaml.d/a.yaml:2:3: server.nsid: is given twice: first at gslb.yaml:1:10
gslb.yaml.d/a.yaml:3:3: server.explain: is given twice: first at gslb.yaml:1:19
gslb.yaml.d/a.yaml:4:1: datacenters: is given twice: first at gslb.yaml:2:1
gslb.yaml.d/b.yaml:1:21: datacenters.msk.location: is given twice: first at gslb.yaml:2:21
`
	if diff := cmp.Diff(want, told(ps)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// Whoever writes drop-ins by a template may have nothing to say in one.
func TestNothingInADropInTakesNothingAway(t *testing.T) {
	main := Source{"gslb.yaml", []byte("server: {nsid: a}\ndatacenters: {msk: {location: [1, 2]}}\ndrains: []\n")}
	alone, ps := Parse(main)
	if told(ps) != "" {
		t.Fatal(told(ps))
	}
	for _, nothing := range []string{"", "# not yet\n", "---\n", "datacenters:\nserver: {nsid: }\ndrains:\n", "datacenters: {msk: {location: null}}\n"} {
		c, ps := Parse(main, Source{"gslb.yaml.d/a.yaml", []byte(nothing)})
		if told(ps) != "" || c.Hash() != alone.Hash() || c.Server.NSID != "a" || len(c.Places) != 1 || !c.Places[0].Located {
			t.Errorf("%q: %s%+v", nothing, told(ps), c.Places)
		}
	}
}

func TestFilesAreWhatAWatcherWatches(t *testing.T) {
	folder := t.TempDir()
	main := write(t, folder, "gslb.yaml", "zones: {ok.test: {file: zones/ok.zone}}\n")
	zone := write(t, folder, "zones/ok.zone", "www A 192.0.2.1\n")
	c := loaded(t, main)
	if want := []string{main, main + ".d", zone}; !slices.Equal(c.Files, want) {
		t.Errorf("files %q, want %q", c.Files, want)
	}
	if got := c.Zones[0].FileText; got != "www A 192.0.2.1\n" {
		t.Errorf("the zone's text is %q", got)
	}
	dropin := write(t, folder, "gslb.yaml.d/a.yaml", "admin: {listen: \"off\"}\n")
	if c, want := loaded(t, main), []string{main, dropin, main + ".d", zone}; !slices.Equal(c.Files, want) {
		t.Errorf("files %q, want %q", c.Files, want)
	} else if c.Admin.Listen.IsValid() {
		t.Errorf("the admin door is at %s, want off", c.Admin.Listen)
	}
}

func TestMissingMainFileIsToldAndLeavesDefaults(t *testing.T) {
	c, ps := Load("testdata/no-such.yaml")
	if want := "testdata/no-such.yaml: cannot be read: no such file or directory\n"; told(ps) != want {
		t.Errorf("got %q, want %q", told(ps), want)
	}
	if c.File != "testdata/no-such.yaml" || len(c.Server.Listen) != 2 {
		t.Errorf("got %+v", c)
	}
}

func TestPipeIsRefusedAndNotWaitedFor(t *testing.T) {
	folder := t.TempDir()
	main, dropin := filepath.Join(folder, "gslb.yaml"), filepath.Join(folder, "gslb.yaml.d", "a.yaml")
	if err := errors.Join(os.Mkdir(main+".d", 0o755), syscall.Mkfifo(main, 0o644), syscall.Mkfifo(dropin, 0o644)); err != nil {
		t.Fatal(err)
	}
	_, ps := Load(main)
	want := main + ": cannot be read: it is not a regular file\n" + dropin + ": cannot be read: it is not a regular file"
	if err := ps.Err(); err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

// A folder of drop-ins may be missing. A link to one that is missing is told of: drains stood there.
func TestFolderOfDropinsThatALinkLosesIsTold(t *testing.T) {
	main := write(t, t.TempDir(), "gslb.yaml", "")
	loaded(t, main)
	folder := main + ".d"
	if err := os.Symlink("nowhere", folder); err != nil {
		t.Fatal(err)
	}
	_, ps := Load(main)
	if got, want := told(ps), folder+": cannot be read: no such file or directory\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	write(t, filepath.Join(filepath.Dir(main), "nowhere"), "drain.yaml", "datacenters: {a: {}}\ndrains: [{target: a}]\n")
	if c := loaded(t, main); len(c.Drains) != 1 {
		t.Errorf("through the link there are %d drains, want 1", len(c.Drains))
	}
}

func TestAdminIsFoundInATextThatIsNoYAML(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"above the fault", "admin: {listen: 127.0.0.1:1}\nzones: [", "127.0.0.1:1"},
		{"below the fault", "zones: {a: ]\nadmin:\n  # the door\n\n  listen: 127.0.0.1:2\nserver: {}\n", "127.0.0.1:2"},
		{"a key of another", "zones: [\n  admin: {listen: 127.0.0.1:3}\n", ""},
		{"the fault itself", "admin: {listen: 127.0.0.1:4\n", ""},
		{"the value is wrong", "admin: {listen: nowhere}\nzones: [", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			door, ok := LoadAdmin(write(t, t.TempDir(), "gslb.yaml", c.text))
			if ok != (c.want != "") || ok && door.Listen.String() != c.want {
				t.Errorf("got %v %v, want %q", door.Listen, ok, c.want)
			}
		})
	}
}

func TestDropInWithAnotherEndingIsNotPassedOverInSilence(t *testing.T) {
	folder := t.TempDir()
	main := write(t, folder, "gslb.yaml", "")
	other := write(t, folder, "gslb.yaml.d/a.yml", "server: {nsid: a}\n")
	_, ps := Load(main)
	if want := other + ": warning: is not read: the name of a drop-in ends in .yaml\n"; told(ps) != want {
		t.Errorf("got %q, want %q", told(ps), want)
	}
}

func TestHugeFileIsRefused(t *testing.T) {
	_, ps := Parse(Source{"gslb.yaml", make([]byte, maxText+1)})
	if want := "gslb.yaml: is larger than 64 MiB: names in bulk belong in zone files\n"; told(ps) != want {
		t.Errorf("got %q, want %q", told(ps), want)
	}
}

func TestEveryKeyHasItsPosition(t *testing.T) {
	c := loaded(t, "testdata/good/example.yaml")
	text, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for path, word := range map[string]string{
		"server": "server:", "checks.web.http.status": "status:", "datacenters.msk-1.location[1]": "37.62",
		"partners.sibtel.peers[0]": "{address", "partners.sibtel.communities.64501:666": `"64501:666"`,
		"maps.world[1].to[0][1]": "msk-2]", "services.video.at.nsk": "nsk:", "services.video.at.nsk[1]": "198.51.100.2]",
		"services.video.at.msk-1.addresses[0]": "192.0.2.11", "zones.ok.test.ns[1]": "ns2]", "zones.ok.test.services.*.vid": `"*.vid"`,
		"drains[1].service": "service:",
	} {
		at := c.At(path)
		if at.Line == 0 || !strings.HasPrefix(lines[at.Line-1][at.Column-1:], word) {
			t.Errorf("%s stands at %s, which is not %q", path, at, word)
		}
	}
	if got := c.At("services.none"); got != (Pos{}) {
		t.Errorf("an unknown path stands at %s", got)
	}
}

func TestRecordsPositionIsTheFirstLineOfText(t *testing.T) {
	for name, tc := range map[string]struct {
		text         string
		line, column int
	}{
		"block":             {"zones:\n  ok.test:\n    records: |\n      a A 192.0.2.1\n", 4, 7},
		"block, comment":    {"zones:\n  ok.test:\n    records: |  # ours\n        a A 192.0.2.1\n", 4, 9},
		"block, blank line": {"zones:\n  ok.test:\n    records: |\n\n      a A 192.0.2.1\n", 4, 7},
		"block, stripped":   {"zones:\n  ok.test:\n    records: |-\n     a A 192.0.2.1\n", 4, 6},
		"one line":          {"zones: {ok.test: {records: a A 192.0.2.1}}\n", 1, 28},
		"windows":           {"zones:\r\n  ok.test:\r\n    records: |\r\n\r\n      a A 192.0.2.1\r\n", 4, 7},
	} {
		z := parsedText(t, tc.text).Zones[0]
		if want := (Pos{"gslb.yaml", tc.line, tc.column}); z.RecordsPos != want {
			t.Errorf("%s: records start at %s, want %s", name, z.RecordsPos, want)
		}
		if !strings.Contains(z.Records, "a A 192.0.2.1") {
			t.Errorf("%s: records are %q", name, z.Records)
		}
	}
}

func TestHashIsOfTheContent(t *testing.T) {
	base := "datacenters: {msk: {weight: 5}, spb: {}}\nservices: {web: {at: {msk: [192.0.2.1]}}}\n"
	hash := parsedText(t, base).Hash()
	if len(hash) != 8 {
		t.Fatalf("the hash is %q, want 8 digits", hash)
	}
	for name, text := range map[string]string{
		"other order":      "services: {web: {at: {msk: [192.0.2.1]}}}\ndatacenters: {spb: {}, msk: {weight: 5}}\n",
		"comments":         "# ours\n" + base + "drains:\n",
		"server and admin": base + "server: {nsid: ns2}\nadmin: {listen: \"off\"}\n",
	} {
		if got := parsedText(t, text).Hash(); got != hash {
			t.Errorf("%s: the hash is %s, want %s", name, got, hash)
		}
	}
	for name, text := range map[string]string{
		"weight": strings.Replace(base, "5", "6", 1),
		"drain":  base + "drains: [{target: msk}]\n",
	} {
		if got := parsedText(t, text).Hash(); got == hash {
			t.Errorf("%s: the hash is still %s", name, got)
		}
	}
	c, _ := Parse(Source{"gslb.yaml", []byte("datacenters: {msk: {weight: 5}, spb: {}}\n")}, Source{"d", []byte("services: {web: {at: {msk: [192.0.2.1]}}}\n")})
	if c.Hash() != hash {
		t.Errorf("split over two files: the hash is %s, want %s", c.Hash(), hash)
	}
}

func TestHashCoversZoneFiles(t *testing.T) {
	folder := t.TempDir()
	main := write(t, folder, "gslb.yaml", "zones: {ok.test: {file: ok.zone}}\n")
	write(t, folder, "ok.zone", "www A 192.0.2.1\n")
	before := loaded(t, main).Hash()
	write(t, folder, "ok.zone", "www A 192.0.2.2\n")
	if after := loaded(t, main).Hash(); after == before {
		t.Errorf("the zone file changed, and the hash is still %s", after)
	}
}
