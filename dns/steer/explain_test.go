package steer_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb/dns/steer"
	"gslb/dns/zone"
)

func TestReasons(t *testing.T) {
	drained := strings.NewReplacer("drains: []", `drains:
  - {target: msk-1, until: 2026-12-24T06:00:00Z, reason: cooling work, by: nikita}
  - {target: fra, service: portal, hard: true}
  - {target: msk-2, until: 2026-11-01T00:00:00Z, reason: long over}`).Replace(cdn)
	moved := strings.NewReplacer("services:\n", `services:
  led: {steer: [datacenters], at: {msk-1: {cname: video.ok.test.}}}
`, "records: |\n", `records: |
      old     DNAME new
      www.new CNAME www
      deep    DNAME deeper.and.deeper
      loop    CNAME pool
      pool    CNAME loop
`, "{www: portal", "{led: led, www: portal").Replace(cdn)
	for _, tc := range []struct {
		name    string
		config  string
		asked   string
		source  string
		ecs     string
		results map[string]string
		want    string
	}{
		{
			name: "a partner's client", asked: "video.ok.test", source: "127.0.0.1", ecs: "203.0.113.0/24",
			results: map[string]string{"192.0.2.11": "-----------", "2001:db8:1::11": "----------"},
			want: `
client=203.0.113.0/24 via=ecs
name=video.ok.test service=video answer="198.51.100.1 198.51.100.2" ttl=60 scope=25
placed=partners partner=sibtel prefix=203.0.113.0/24 peer=static
place=nsk tier=1 verdict=chosen
place=spb tier=2 verdict=spare
place=msk-1 tier=3 verdict=withdrawn endpoint=192.0.2.11 failed=11/20 last="status 503" since=0s
place=fra tier=3 verdict=spare
`},
		{
			name: "covering prefixes follow", asked: "video.ok.test", source: "203.0.113.200",
			results: map[string]string{"198.51.100.17": "----------+++"},
			want: `
client=203.0.113.200 via=source
name=video.ok.test service=video answer="198.51.100.1 198.51.100.2" ttl=60 scope=25
placed=partners partner=sibtel prefix=203.0.113.0/24 peer=static
place=spb tier=1 verdict=withdrawn endpoint=198.51.100.17 failed=10/20 last="status 503" since=0s good=3/20
place=nsk tier=2 verdict=chosen
place=msk-1 tier=3 verdict=spare
place=fra tier=3 verdict=spare
`},
		{
			name: "geography, some servers of the place down, a bogus subnet", asked: "VIDEO.ok.test", source: "198.18.0.9", ecs: "10.0.0.0/8",
			results: map[string]string{"2001:db8:3::31": "----------"},
			want: `
client=198.18.0.9 via=source ignored=10.0.0.0/8
name=video.ok.test service=video answer=192.0.2.31 ttl=60 scope=8
placed=geo map=nearest continent=EU country=DE
place=fra tier=1 verdict=chosen healthy=1/2 endpoint=2001:db8:3::31 failed=10/20 last="status 503" since=0s
place=spb tier=2 verdict=spare
place=msk-1 tier=3 verdict=spare
`},
		{
			name: "failures that are too few", asked: "www.ok.test", source: "8.8.8.8",
			results: map[string]string{"192.0.2.2": "---", "192.0.2.3": "-++"},
			want: `
client=8.8.8.8 via=source
name=www.ok.test service=portal answer="192.0.2.1 192.0.2.2 192.0.2.3 2001:db8:1::1" ttl=150 scope=0
placed=datacenters
place=msk-1 tier=1 verdict=chosen
place=msk-2 tier=1 verdict=chosen endpoint=192.0.2.2 failed=3/20 last="status 503" degraded=1/1
place=fra tier=1 verdict=chosen endpoint=192.0.2.3 failed=1/20 last="status 503" degraded=1/1
`},
		{
			name: "drains", config: drained, asked: "www.ok.test", source: "8.8.8.8",
			want: `
client=8.8.8.8 via=source
name=www.ok.test service=portal answer=192.0.2.2 ttl=300 scope=0
placed=datacenters
place=msk-1 tier=1 verdict=drained reason="cooling work" until=2026-12-24T06:00:00Z by=nikita
place=msk-2 tier=1 verdict=chosen
place=fra tier=1 verdict=drained hard=yes
`},
		{
			name: "all down", asked: "www.ok.test", source: "8.8.8.8",
			results: map[string]string{"192.0.2.1": "----------", "2001:db8:1::1": "----------", "192.0.2.2": "----------", "192.0.2.3": "----------"},
			want: `
client=8.8.8.8 via=source
name=www.ok.test service=portal answer="192.0.2.1 192.0.2.2 192.0.2.3 2001:db8:1::1" ttl=150 scope=0
placed=all_down
place=msk-1 tier=1 verdict=chosen endpoint=192.0.2.1 failed=10/20 last="status 503" since=0s
place=msk-2 tier=1 verdict=chosen endpoint=192.0.2.2 failed=10/20 last="status 503" since=0s
place=fra tier=1 verdict=chosen endpoint=192.0.2.3 failed=10/20 last="status 503" since=0s
`},
		{
			name: "shares of a draw", asked: "video.ok.test", source: "192.88.98.1",
			want: `
client=192.88.98.1 via=source
name=video.ok.test service=video answer="192.0.2.31 2001:db8:3::31" ttl=60 scope=24
placed=datacenters
place=msk-1 tier=1 verdict=spare share=50%
place=fra tier=1 verdict=chosen share=50%
place=spb tier=2 verdict=spare
`},
		{name: "a static name", asked: "ns1.ok.test", source: "8.8.8.8", want: `
client=8.8.8.8 via=source
name=ns1.ok.test zone=ok.test records=A
`},
		{name: "no such name", asked: "nope.ok.test", source: "8.8.8.8", want: `
client=8.8.8.8 via=source
name=nope.ok.test zone=ok.test records=none rcode=NXDOMAIN
`},
		{
			name: "below a DNAME beside a service", asked: "x.www.ok.test", source: "8.8.8.8",
			config: strings.Replace(cdn, "records: |\n", "records: |\n      www DNAME elsewhere\n", 1),
			want: `
client=8.8.8.8 via=source
name=x.www.ok.test zone=ok.test dname=www.ok.test records=DNAME target=x.elsewhere.ok.test
name=x.elsewhere.ok.test zone=ok.test records=none rcode=NXDOMAIN
`},
		{
			name: "an alias below a DNAME, and the service that it leads to", config: moved, asked: "www.old.ok.test", source: "8.8.8.8",
			want: `
client=8.8.8.8 via=source
name=www.old.ok.test zone=ok.test dname=old.ok.test records=DNAME target=www.new.ok.test
name=www.new.ok.test zone=ok.test records=CNAME target=www.ok.test
name=www.ok.test service=portal answer="192.0.2.1 192.0.2.2 192.0.2.3 2001:db8:1::1" ttl=300 scope=0
placed=datacenters
place=msk-1 tier=1 verdict=chosen
place=msk-2 tier=1 verdict=chosen
place=fra tier=1 verdict=chosen
`},
		{
			name: "a DNAME that makes a name too long", config: moved, asked: strings.Repeat("x.", 120) + "deep.ok.test", source: "8.8.8.8",
			want: "\nclient=8.8.8.8 via=source\nname=" + strings.Repeat("x.", 120) + "deep.ok.test zone=ok.test dname=deep.ok.test records=DNAME rcode=YXDOMAIN\n",
		},
		{
			name: "a service that gives an alias, and the service that the alias leads to", config: moved, asked: "led.ok.test", source: "203.0.113.200",
			want: `
client=203.0.113.200 via=source
name=led.ok.test service=led answer=video.ok.test ttl=60 scope=0
placed=datacenters
place=msk-1 tier=1 verdict=chosen
name=video.ok.test service=video answer=198.51.100.17 ttl=60 scope=25
placed=partners partner=neva prefix=203.0.113.128/25 peer=static
place=spb tier=1 verdict=chosen
place=nsk tier=2 verdict=spare
place=msk-1 tier=3 verdict=spare
place=fra tier=3 verdict=spare
`},
		{
			name: "a loop", config: moved, asked: "loop.ok.test", source: "8.8.8.8",
			want: `
client=8.8.8.8 via=source
name=loop.ok.test zone=ok.test records=CNAME target=pool.ok.test
name=pool.ok.test zone=ok.test records=CNAME target=loop.ok.test
`},
		{name: "not our zone", asked: "example.", source: "8.8.8.8", want: "\nnot ours\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := tc.config
			if text == "" {
				text = cdn
			}
			w := newWorld(t, text)
			for address, results := range tc.results {
				w.check(address, results)
			}
			if got := "\n" + w.explain(tc.asked, tc.source, tc.ecs); got != tc.want {
				t.Errorf("got:%swant:%s", got, tc.want)
			}
		})
	}
}

// A name is given to questions for any type, so reasons for one type tell of it as those for the other do.
func TestReasonsForEitherTypeTellOfNames(t *testing.T) {
	w := newWorld(t, strings.NewReplacer("services:\n", `services:
  led: {steer: [datacenters], at: {msk-1: {cname: cdn.example.}}}
  sip: {steer: [datacenters], at: {msk-1: {srv: {target: sip.example., port: 5060}}}}
`, "{www: portal", "{led: led, _sip._udp: sip, www: portal").Replace(cdn))
	s := w.snapshot()
	for name, want := range map[string]string{
		"led.ok.test":       "name=led.ok.test service=led answer=cdn.example ttl=60 scope=0\nplaced=datacenters\nplace=msk-1 tier=1 verdict=chosen\n",
		"_sip._udp.ok.test": "name=_sip._udp.ok.test service=sip answer=sip.example:5060 ttl=60 scope=0\nplaced=datacenters\nplace=msk-1 tier=1 verdict=chosen\n",
	} {
		for only, word := range map[steer.Only]string{steer.BothFamilies: "both", steer.OnlyIPv4: "A", steer.OnlyIPv6: "AAAA"} {
			n, err := zone.ParseName(name)
			if err != nil {
				t.Fatal(err)
			}
			lines, _, _ := steer.Explain(s, steer.Question{Name: n, Client: s.Client(netip.MustParseAddr("8.8.8.8"), steer.Subnet{}), Only: only, Now: w.now})
			var got strings.Builder
			for _, l := range lines[1 : len(lines)-1] {
				got.WriteString(l.String() + "\n")
			}
			if got.String() != want {
				t.Errorf("%s, %s: got\n%swant\n%s", name, word, &got, want)
			}
		}
	}
}

func TestReasonsEndWithTheVersion(t *testing.T) {
	w := newWorld(t, cdn)
	s := w.snapshot()
	if got := s.Version().String(); !strings.HasPrefix(got, "config=7:") || !strings.HasSuffix(got, " routes=1 geo=1") {
		t.Errorf("version %q", got)
	}
}

func TestLineQuotesWhatHasSpaces(t *testing.T) {
	line := steer.Line{{Key: "a", Value: "plain"}, {Key: "b", Value: "two words"}, {Key: "c", Value: `say "no"`}, {Key: "d", Value: ""}, {Key: "e", Value: "naïve"}}
	want := `a=plain b="two words" c="say \"no\"" d="" e="na\u00efve"`
	if got := line.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got, err := json.Marshal(line)
	if want := `{"a":"plain","b":"two words","c":"say \"no\"","d":"","e":"naïve"}`; err != nil || string(got) != want {
		t.Errorf("JSON: got %s (%v), want %s", got, err, want)
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 40*time.Second + 900*time.Millisecond: "40s", 4*time.Minute + 59*time.Second: "4m",
		3 * time.Hour: "3h", 47 * time.Hour: "47h", 49 * time.Hour: "2d", 300 * time.Hour: "12d",
	} {
		if got := steer.Ago(d); got != want {
			t.Errorf("Ago(%s) = %s, want %s", d, got, want)
		}
	}
}
