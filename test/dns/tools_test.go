package dns

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// steered is a server with services: clients of 203.0.113.0/24 and 2001:db8:203::/48 are sent to the site of a
// partner, all others to a datacenter. LONG is text that does not fit one packet.
const steered = `
server: {listen: ["DNS"], state: state.db, nsid: ours, explain: [127.0.0.0/8], tsig_keys: tsig.keys}
admin: {listen: "ADMIN"}
datacenters: {msk: {location: [55.7, 37.6]}}
sites: {nsk: {partners_only: true}}
partners: {sibtel: {site: nsk, networks: [203.0.113.0/24, "2001:db8:203::/48"]}}
services:
  video: {ttl: 300, at: {nsk: [198.51.100.1, "2001:db8:1::1"], msk: [192.0.2.1, "2001:db8:2::1"]}}
zones:
  ok.test:
    soa: {mname: ns1, rname: hostmaster, serial: 2026113001, minimum: 60}
    ns: [ns1, ns2]
    transfer: {keys: [xfr]}
    records: |
      ns1   A     192.0.2.53
      ns1   AAAA  2001:db8::53
      ns2   A     192.0.2.54
      mail  MX    10 ns1
      long  TXT   "LONG" "LONG" "LONG" "LONG" "LONG" "LONG"
    services: {www: video, "*.vid": video}
`

// secret is the key by which zones are transferred, as every program knows it.
const secret = "OVW2QkuMSB4CtpkyFGEk1grdb5qHGjO1KBG6jJLC4vA="

// keyFile is the key in BIND's form, which dig, kdig, drill and we read.
const keyFile = "key \"xfr\" {\n  algorithm hmac-sha256;\n  secret \"" + secret + "\";\n};\n"

// servedServices is a server with services.
func servedServices(t *testing.T) (at netip.AddrPort, p *process) {
	t.Helper()
	at, p = gslb(t, strings.ReplaceAll(steered, "LONG", strings.Repeat("x", 250)), map[string]string{"tsig.keys": keyFile})
	answers(t, at, "ok.test.", dns.TypeSOA)
	return at, p
}

// tool is one call of a program that asks, and what it must print.
type tool struct {
	name, program, debian string
	arguments             string // SERVER, PORT, KEY stand for ours
	want                  []string
	not                   []string // nil: warnings
}

func (c tool) run(t *testing.T, at netip.AddrPort, key string) {
	arguments := strings.NewReplacer("SERVER", at.Addr().String(), "PORT", fmt.Sprint(at.Port()), "KEYFILE", key, "SECRET", secret).Replace(c.arguments)
	out := run(t, rig.Installed(t, c.program, c.debian), strings.Fields(arguments)...)
	flat := strings.Join(strings.Fields(out), " ")
	for _, want := range c.want {
		if !regexp.MustCompile(want).MatchString(flat) {
			t.Errorf("%s %s\nprints no %q:\n%s", c.program, arguments, want, out)
		}
	}
	if c.not == nil {
		c.not = []string{"WARNING", "Warning", "malformed"}
	}
	for _, not := range c.not {
		if strings.Contains(flat, not) {
			t.Errorf("%s %s\nprints %q:\n%s", c.program, arguments, not, out)
		}
	}
}

func TestToolsReadTheAnswers(t *testing.T) {
	at, p := servedServices(t)
	key := filepath.Join(p.folder, "tsig.keys")
	const dig, kdig, drill = "@SERVER -p PORT +norec +time=10 ", "@SERVER -p PORT +time=10 ", "-p PORT @SERVER -o rd "
	const www, partner = `www\.ok\.test\. 300 IN A 192\.0\.2\.1`, `www\.ok\.test\. 300 IN A 198\.51\.100\.1`
	for _, c := range []tool{
		{"dig", "dig", "bind9-dnsutils", dig + "www.ok.test A", []string{www, "status: NOERROR", "flags: qr aa;", "COOKIE: [0-9a-f]{48} \\(good\\)"}, nil},
		{"dig for the client's network", "dig", "bind9-dnsutils", dig + "www.ok.test A +subnet=203.0.113.0/24", []string{partner, "CLIENT-SUBNET: 203.0.113.0/24/24"}, nil},
		{"dig for no client's network", "dig", "bind9-dnsutils", dig + "www.ok.test A +subnet=0", []string{www, "CLIENT-SUBNET: 0.*/0/0"}, nil},
		{"dig with NSID", "dig", "bind9-dnsutils", dig + "www.ok.test AAAA +nsid +dnssec", []string{`NSID: .*\("ours"\)`, "flags: do"}, nil},
		{"dig over TCP, which is kept", "dig", "bind9-dnsutils", dig + "+tcp +keepopen +keepalive www.ok.test A mail.ok.test MX", []string{www, "10 ns1.ok.test.", "KEEPALIVE: 10.0 secs", "ns1.ok.test. 3600 IN A 192.0.2.53"}, nil},
		{"dig after TC", "dig", "bind9-dnsutils", dig + "+bufsize=1232 long.ok.test TXT", []string{"Truncated, retrying in TCP mode", "ANSWER: 1"}, nil},
		{"dig of another version of EDNS", "dig", "bind9-dnsutils", dig + "+edns=1 +noednsneg www.ok.test A", []string{"status: BADVERS", "EDNS: version: 0"}, nil},
		{"dig for the reasons", "dig", "bind9-dnsutils", dig + "CH TXT www.ok.test", []string{`"placed=geo map=nearest"|"placed=`, "place=msk tier=1 verdict=chosen"}, nil},
		{"dig with a key", "dig", "bind9-dnsutils", dig + "-k KEYFILE www.ok.test A", []string{www, "xfr. 0 ANY TSIG hmac-sha256"}, []string{"Couldn't verify"}},
		{"dig with a key that nobody knows", "dig", "bind9-dnsutils", dig + "-y hmac-sha256:nobody:SECRET www.ok.test A", []string{"status: NOTAUTH", "Couldn't verify signature: tsig indicates error", `TSIG hmac-sha256\. \d{10} 300 0 \d+ BADKEY 0`, "ANSWER: 0"}, []string{"unsynchronized"}},
		{"dig for a zone without a key", "dig", "bind9-dnsutils", dig + "AXFR ok.test", []string{"Transfer failed"}, nil},
		{"kdig", "kdig", "knot-dnsutils", kdig + "+nsid +cookie +subnet=203.0.113.0/24 +bufsize=1232 www.ok.test A", []string{partner, "ours", "CLIENT-SUBNET: 203.0.113.0/24/24", "COOKIE: [0-9a-f]{48}|COOKIE: [0-9A-F ]+"}, nil},
		{"kdig with an unknown option", "kdig", "knot-dnsutils", kdig + "+ednsopt=65001:abcd www.ok.test A", []string{www, "status: NOERROR"}, []string{"65001"}},
		{"kdig over TCP, which is kept", "kdig", "knot-dnsutils", kdig + "+tcp +keepopen www.ok.test A ns2.ok.test A", []string{www, "192.0.2.54"}, nil},
		{"kdig with a key", "kdig", "knot-dnsutils", kdig + "-y hmac-sha256:xfr:SECRET www.ok.test A", []string{www, "status: NOERROR"}, []string{"TSIG error", "failed"}},
		{"drill", "drill", "ldnsutils", drill + "www.ok.test A", []string{`www\.ok\.test\. 300 IN A 192\.0\.2\.1`, "rcode: NOERROR"}, nil},
		{"drill over TCP", "drill", "ldnsutils", drill + "-t long.ok.test TXT", []string{"ANSWER: 1"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, at, key) })
	}
}

// The zone as it is transferred is a zone: BIND's checker reads it, and all of it is there.
func TestTransferredZoneIsGoodForOthers(t *testing.T) {
	at, p := servedServices(t)
	key := filepath.Join(p.folder, "tsig.keys")
	out := run(t, rig.Installed(t, "dig", "bind9-dnsutils"), "@"+at.Addr().String(), "-p", fmt.Sprint(at.Port()), "-k", key, "+onesoa", "+nostats", "+nocmd", "+nocomments", "AXFR", "ok.test")
	text := regexp.MustCompile(`(?m)^.*\bTSIG\b.*$`).ReplaceAllString(out, "")
	for _, want := range []string{"www.ok.test.\t\t300\tIN\tA\t192.0.2.1", "*.vid.ok.test.\t\t300\tIN\tAAAA\t2001:db8:2::1", "mail.ok.test.\t\t3600\tIN\tMX\t10 ns1.ok.test."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	file := filepath.Join(t.TempDir(), "ok.test.zone")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, check := range []tool{{program: "named-checkzone", debian: "bind9-utils"}, {program: "ldns-read-zone", debian: "ldnsutils"}, {program: "nsd-checkzone", debian: "nsd"}, {program: "kzonecheck", debian: "knot-dnssecutils"}} {
		arguments := []string{"ok.test", file}
		switch check.program {
		case "ldns-read-zone":
			arguments = arguments[1:]
		case "kzonecheck":
			arguments = []string{"-o", "ok.test", file}
		}
		out := run(t, rig.Installed(t, check.program, check.debian), arguments...)
		if check.program == "ldns-read-zone" && !strings.Contains(out, "*.vid.ok.test.") {
			t.Errorf("ldns-read-zone prints\n%s", out)
		}
	}
}

// A short load loses nothing: dnsperf waits for every answer.
func TestLoadLosesNothing(t *testing.T) {
	path := rig.Installed(t, "dnsperf", "dnsperf")
	at, _ := servedServices(t)
	file := filepath.Join(t.TempDir(), "questions")
	questions := "www.ok.test A\nwww.ok.test AAAA\na.b.vid.ok.test A\nns1.ok.test A\nmail.ok.test MX\nnothing.ok.test A\nok.test SOA\nexample. A\n"
	if err := os.WriteFile(file, []byte(questions), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"udp", "tcp"} {
		out := run(t, path, "-s", at.Addr().String(), "-p", fmt.Sprint(at.Port()), "-m", mode, "-d", file, "-n", "500", "-c", "8", "-q", "100", "-t", "20", "-e")
		if !strings.Contains(out, "Queries lost:         0 (0.00%)") || !strings.Contains(out, "Queries completed:    4000 (100.00%)") {
			t.Errorf("over %s:\n%s", mode, out)
		}
	}
}
