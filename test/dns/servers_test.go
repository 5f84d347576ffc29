package dns

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// masters are the zones that all servers serve from the same files.
var masters = []string{
	"alpha.test", "child.alpha.test", "nods.alpha.test", "apart.alpha.test", "own.glue.alpha.test", "beta.test",
}

// zoneFile is the path of a zone's master file.
func zoneFile(t *testing.T, zone string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", zone+".zone"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// expanded is a folder with the masters for those who do not know BIND's $GENERATE: the lines that it makes are there.
func expanded(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	generate := regexp.MustCompile(`(?m)^\$GENERATE (\d+)-(\d+) (.*)$`)
	for _, zone := range masters {
		text, err := os.ReadFile(zoneFile(t, zone))
		if err != nil {
			t.Fatal(err)
		}
		text = generate.ReplaceAllFunc(text, func(line []byte) (lines []byte) {
			words := generate.FindSubmatch(line)
			first, _ := strconv.Atoi(string(words[1]))
			last, _ := strconv.Atoi(string(words[2]))
			for i := first; i <= last; i++ {
				lines = append(append(lines, bytes.ReplaceAll(words[3], []byte("$"), []byte(strconv.Itoa(i)))...), '\n')
			}
			return lines
		})
		if err := os.WriteFile(filepath.Join(folder, zone+".zone"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// small is the line that names a small geo database: the one that is built in takes seconds with the race detector.
func small(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../cmd/gslb/testdata/globe.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("geo: {database: %q}\n", path)
}

// gslb runs the server with a configuration in which DNS and ADMIN stand for its addresses, and gives the first.
func gslb(t *testing.T, config string, files map[string]string) (at netip.AddrPort, p *process) {
	t.Helper()
	binary, err := rig.Program()
	if err != nil {
		t.Fatal(err)
	}
	at, admin := vacant(t), vacant(t)
	p = newProcess(t, files)
	p.write("gslb.yaml", strings.NewReplacer("DNS", at.String(), "ADMIN", admin.String()).Replace(config)+small(t))
	p.begin(binary, "serve", "-c", "gslb.yaml")
	return at, p
}

// served is our server with the masters.
func served(t *testing.T) netip.AddrPort {
	t.Helper()
	config := "server: {listen: [\"DNS\"], state: state.db, nsid: ours}\nadmin: {listen: \"ADMIN\"}\nzones:\n"
	for _, zone := range masters {
		config += fmt.Sprintf("  %s: {file: %q}\n", zone, zoneFile(t, zone))
	}
	at, _ := gslb(t, config, nil)
	answers(t, at, masters[0]+".", dns.TypeSOA)
	return at
}

// nsd runs NSD with more lines of configuration: zones and keys, and such as belong to the server.
func nsd(t *testing.T, more string, server ...string) netip.AddrPort {
	t.Helper()
	path, at := rig.Installed(t, "nsd", "nsd"), vacant(t)
	p := newProcess(t, nil)
	config := fmt.Sprintf(`server:
  ip-address: %s@%d
  username: ""
  zonesdir: "%[3]s"
  database: ""
  pidfile: "%[3]s/nsd.pid"
  xfrdfile: "%[3]s/xfrd.state"
  xfrdir: "%[3]s"
  zonelistfile: "%[3]s/zone.list"
  server-count: 1
  nsid: "ascii_ours"
  answer-cookie: yes
  minimal-responses: yes
  rrl-ratelimit: 0
`, at.Addr(), at.Port(), p.folder)
	p.write("nsd.conf", config+strings.Join(server, "")+"remote-control:\n  control-enable: no\n"+more)
	p.begin(path, "-d", "-c", filepath.Join(p.folder, "nsd.conf"))
	return at
}

// knot runs Knot with more lines of configuration.
func knot(t *testing.T, more string) netip.AddrPort {
	t.Helper()
	path, at := rig.Installed(t, "knotd", "knot"), vacant(t)
	p := newProcess(t, nil)
	config := fmt.Sprintf(`server:
  listen: %s@%d
  rundir: "%[3]s"
  nsid: ours
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
  edns-client-subnet: on
  tcp-io-timeout: 0
log:
  - target: stderr
    any: info
database:
  storage: "%[3]s"
template:
  - id: default
    storage: "%[3]s"
`, at.Addr(), at.Port(), p.folder)
	p.write("knot.conf", config+more)
	p.begin(path, "-c", filepath.Join(p.folder, "knot.conf"))
	return at
}

// bind runs BIND with more lines before its options, in them and behind them. It listens only on addresses that an
// interface has.
func bind(t *testing.T, before, options, behind string) netip.AddrPort {
	t.Helper()
	path, loopback := rig.Installed(t, "named", "bind9"), netip.MustParseAddr("127.0.0.1")
	at := netip.AddrPortFrom(loopback, rig.Vacant(t, loopback))
	if !strings.Contains(options, "dnssec-validation") {
		options += " dnssec-validation no;"
	}
	p := newProcess(t, nil)
	p.write("named.conf", before+fmt.Sprintf(`options {
  directory "%[3]s"; pid-file "%[3]s/named.pid"; session-keyfile "%[3]s/session.key"; managed-keys-directory "%[3]s";
  listen-on port %[2]d { %[1]s; }; listen-on-v6 { none; };
  allow-query { 127.0.0.0/8; }; notify no; minimal-responses no-auth;
  %[4]s
};
controls { };
%[5]s
`, at.Addr(), at.Port(), p.folder, options, behind))
	p.begin(path, "-g", "-n", "1", "-c", filepath.Join(p.folder, "named.conf"))
	return at
}

// nsdMasters and knotMasters are the configuration of the same zones from the same files.
func nsdMasters(folder string) (more string) {
	for _, zone := range masters {
		more += fmt.Sprintf("zone:\n  name: %s\n  zonefile: \"%s/%[1]s.zone\"\n", zone, folder)
	}
	return more
}

func knotMasters(folder string) string {
	more := "zone:\n"
	for _, zone := range masters {
		more += fmt.Sprintf("  - domain: %s\n    file: \"%s/%[1]s.zone\"\n    zonefile-load: whole\n    zonefile-sync: -1\n    journal-content: none\n", zone, folder)
	}
	return more
}

// readZone gives the records of a master.
func readZone(t *testing.T, folder, zone string) (records []dns.RR) {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, zone+".zone"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parser := dns.NewZoneParser(file, zone+".", zone)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		records = append(records, rr)
	}
	if err := parser.Err(); err != nil {
		t.Fatal(err)
	}
	return records
}
