package test

import (
	"slices"
	"strings"
	"testing"
)

// house is the floors from the roof down. A package imports only packages of lower floors, and never a
// sister on its own. Tests inside a package keep to the same.
var house = []floor{
	{"5", []room{
		{"test", "does the whole do what the stories say?"},
		{"test/...", "the tools of the whole: benchmarks, peers"},
	}},
	{"4", []room{{"cmd/gslb", "wiring and flags only"}}},
	{"3.5", []room{
		{"cmd/gslb/demo", "what does a newcomer see in the first minute?"},
		{"cmd/gslb/sheet", "what does an operator read at a terminal?"},
		{"deploy/grafana", "what does an operator look at first?"},
	}},
	{"3", []room{
		{"dns/admin", "what does the operator see?"},
		{"dns/sim", "the world on a table: scripted scenarios on a virtual clock"},
	}},
	{"2.5", []room{
		{"dns", "bytes in, bytes out"},
		{"dns/traffic", "where do many clients go, before and after a change, and when a place is lost?"},
	}},
	{"2.2", []room{{"dns/publish", "which snapshot is in force?"}}},
	{"2", []room{{"dns/steer", "which sites does this client get, and why?"}}},
	{"1.5", []room{{"geo/builtin/generate", "how is the built-in country database made?"}}},
	{"1", []room{
		{"health", "does this endpoint deserve traffic?"},
		{"geo", "where is this address?"},
		{"bgp", "which networks do our partners announce?"},
		{"bgp/speaker", "gobgp in its child process"},
		{"bgp/kit", "what is a partner's router to be configured with?"},
		{"dns/sign", "signed RRsets"},
	}},
	{"0", []room{
		{"dns/admin/page", "what is the operator's browser shown?"},
		{"health/spread", "how are durations spread?"},
		{"geo/prefix", "address to value, with its span"},
		{"bgp/screen", "which bytes may reach gobgp?"},
		{"bgp/wire", "the protocol on the speaker's pipe"},
		{"bgp/rpki", "may this AS originate this prefix?"},
		{"config", "the operator's words"},
		{"config/state", "what survives a restart, with the journal"},
		{"dns/zone", "names to RRsets"},
		{"dns/proxy", "who stands behind a proxy?"},
		{"dns/doh", "which DNS message does an HTTP request carry?"},
		{"dns/dnstap", "how is DNS traffic told to a reader of dnstap?"},
		{"dns/doq", "which DNS message does a QUIC stream carry?"},
	}},
	{"-1", []room{
		{"config/regular", "what does a file that the operator has named hold?"},
		{"test/golden", "is a text still what a file beside the tests says?"},
		{"test/rig", "how does a test run programs as their users would?"},
	}},
}

const (
	floorReason  = "imports go down only, so that every package can be read, tested and trusted without those above it"
	sisterReason = "sisters never import each other: what two of them share belongs on a lower floor, and what joins them on a higher one"
)

// fences say which packages may touch a library. A path covers what lies below it.
var fences = []fence{
	{"github.com/osrg/gobgp", []string{"bgp/speaker"}, false,
		"a malformed UPDATE can end gobgp's process: it must never be ours"},
	{"github.com/oschwald", []string{"geo", "geo/builtin/generate"}, false,
		"a database is read once and flattened: nobody else sees its format"},
	{"github.com/maxmind", []string{"geo", "geo/builtin/generate", "test/bench"}, true,
		"a database is read once and flattened: nobody else sees its format, but who writes one for other servers"},
	{"go.etcd.io/bbolt", []string{"config/state"}, false,
		"bbolt ends the process on a damaged page: only config/state knows how to keep it from that"},
	{"github.com/miekg/dns", []string{"dns", "dns/zone", "dns/sign", "dns/sim", "health"}, true,
		"it is the compiler, the slow path, the oracle of tests and the client in scenarios; what decides must not know DNS messages"},
	{"net/http", []string{"dns/admin", "dns/admin/page", "dns/doh", "health", "cmd/gslb", "cmd/gslb/demo"}, true,
		"the doors to HTTP are the operator's, the probe's, that of DNS over HTTPS and the demo's"},
	{"github.com/quic-go/quic-go", []string{"dns/doq"}, true,
		"what answers must not know by which envelope a message comes"},
	{"go.yaml.in/yaml", []string{"config"}, false,
		"all errors of a config come from one walker, with their positions"},
	{"github.com/spf13/cobra", []string{"cmd/gslb"}, false,
		"flags are wiring: what lies below takes values"},
}

// folders are the top-level folders that were agreed on; dot-folders are free.
var folders = []string{"cmd", "dns", "health", "geo", "bgp", "config", "deploy", "test"}

// longest is the most lines that a file of code may have.
const longest = 500

func TestHouseStandsAsDesigned(t *testing.T) {
	sources, err := readSources("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range inspect(sources) {
		t.Error(fault)
	}
}

func TestOnlyTheAgreedFoldersAreAtTheTop(t *testing.T) {
	found, err := topFolders("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		if !slices.Contains(folders, name) {
			t.Errorf("folder %s: the top-level folders are %s and no other: a reader must find every thing in one of a few places",
				name, strings.Join(folders, ", "))
		}
	}
}

// The rules are no good when they find nothing: a small house with every fault in it.
func TestRulesFindEveryFault(t *testing.T) {
	good := func(file string, imports ...string) source {
		return source{file: file, comment: true, lines: 100, imports: imports}
	}
	with := func(s source, change func(*source)) source {
		change(&s)
		return s
	}
	cases := []struct {
		name    string
		sources []source
		want    []string // words of each fault, in order
	}{
		{"a good house", []source{
			good("config/config.go", "go.yaml.in/yaml/v3", "net/netip"),
			good("dns/steer/decide.go", "gslb/config", "gslb/geo"),
			good("geo/geo.go", "github.com/oschwald/maxminddb-golang/v2", "gslb/geo/prefix"),
			good("test/bench/main.go", "gslb/dns"),
			with(good("test/dns/soak_test.go", "gslb/test/rig"), func(s *source) { s.test, s.comment = true, false }),
			with(good("dns/steer/decide_test.go", "gslb/dns/steer", "github.com/miekg/dns"), func(s *source) { s.test, s.comment = true, false }),
			with(good("health/probe_test.go", "net/http/httptest"), func(s *source) { s.test, s.lines, s.comment = true, 900, false }),
			good("health/probe.go", "net/http"),
			with(good("geo/prefix/generated.go"), func(s *source) { s.generated, s.lines = true, 2000 }),
		}, nil},
		{"up the stairs", []source{good("config/config.go", "gslb/dns/steer")},
			[]string{"config/config.go: config (floor 0) imports dns/steer (floor 2): imports go down only"}},
		{"up the stairs in a test", []source{good("health/a.go"), with(good("health/a_test.go", "gslb/dns"), func(s *source) { s.test, s.comment = true, false })},
			[]string{"health/a_test.go: health (floor 1) imports dns (floor 2.5): imports go down only"}},
		{"sisters", []source{good("health/a.go", "gslb/geo")},
			[]string{"health/a.go: health (floor 1) imports geo (floor 1): sisters never import each other"}},
		{"a room that nobody knows", []source{good("dns/cache/cache.go")},
			[]string{"dns/cache: is not in the table of floors: give it a floor and its question in test/arch_test.go"}},
		{"an import that nobody knows", []source{good("dns/a.go", "gslb/dns/cache")},
			[]string{"dns/a.go: imports dns/cache, which is not in the table of floors"}},
		{"code at the top", []source{good("main.go")},
			[]string{".: is not in the table of floors"}},
		{"over a fence", []source{good("dns/steer/a.go", "github.com/miekg/dns")},
			[]string{"dns/steer/a.go: imports github.com/miekg/dns, which is fenced in to dns, dns/zone, dns/sign, dns/sim, health and tests: it is the compiler"}},
		{"over a fence in a test", []source{good("health/a.go"), with(good("health/a_test.go", "go.etcd.io/bbolt"), func(s *source) { s.test, s.comment = true, false })},
			[]string{"health/a_test.go: imports go.etcd.io/bbolt, which is fenced in to config/state: bbolt ends"}},
		{"over a fence into a subpackage", []source{good("bgp/a.go", "github.com/osrg/gobgp/v3/pkg/server")},
			[]string{"bgp/a.go: imports github.com/osrg/gobgp/v3/pkg/server, which is fenced in to bgp/speaker: a malformed"}},
		{"no package comment", []source{with(good("bgp/a.go"), func(s *source) { s.comment = false })},
			[]string{"bgp: has no package comment: say first which question it answers"}},
		{"two package comments", []source{good("bgp/a.go"), good("bgp/b.go")},
			[]string{"bgp: has 2 package comments (a.go, b.go): keep one"}},
		{"a comment in a test does not count", []source{with(good("bgp/a.go"), func(s *source) { s.comment = false }), with(good("bgp/a_test.go"), func(s *source) { s.test = true })},
			[]string{"bgp: has no package comment"}},
		{"a long file", []source{with(good("bgp/a.go"), func(s *source) { s.lines = 501 })},
			[]string{"bgp/a.go: 501 lines are over 500: look for two rooms in it"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := inspect(c.sources)
			if len(got) != len(c.want) {
				t.Fatalf("got %d faults, want %d:\n%s", len(got), len(c.want), strings.Join(got, "\n"))
			}
			for i, want := range c.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got  %s\nwant %s…", got[i], want)
				}
			}
		})
	}
}

// A table that names a package twice would leave it to chance on which floor it stands.
func TestEveryRoomStandsOnOneFloor(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range house {
		for _, r := range f.rooms {
			if seen[r.path] {
				t.Errorf("%s is in the table twice", r.path)
			}
			seen[r.path] = true
			if r.question == "" {
				t.Errorf("%s has no question", r.path)
			}
		}
	}
}
