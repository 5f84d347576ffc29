package dns

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb/dns/sign"
	"gslb/test/rig"
)

// hosts are the addresses of the servers on the island: the root's, the one of the zone test, and ours.
var hosts = []string{
	"198.41.0.4", "170.247.170.2", "2001:503:ba3e::2:30", "2801:1b8:10::b",
	"45.90.28.10", "5.45.207.10", "2a07:a8c0::10", "2a02:6b8::10",
	"45.90.28.53", "5.45.207.54", "2a07:a8c0::53", "2a02:6b8::54",
}

// others is how many of the hosts are not ours.
const others = 8

// island is a network namespace that has nothing but loopback. There, port 53 and the root zone are ours to give
// away, and who follows NS records meets nobody else.
type island struct {
	t    *testing.T
	name string
	ip   string
}

// bareIsland makes an island on which nothing runs, and gives our program for it.
func bareIsland(t *testing.T) (i island, binary string) {
	t.Helper()
	i = island{t: t, name: fmt.Sprintf("gslb-%d", os.Getpid()), ip: rig.Installed(t, "ip", "iproute2")}
	if os.Getuid() != 0 {
		rig.Missing(t, "only root may make a network namespace")
	}
	binary, err := rig.Program()
	if err != nil {
		t.Fatal(err)
	}
	run(t, i.ip, "netns", "add", i.name)
	t.Cleanup(func() { run(t, i.ip, "netns", "delete", i.name) })
	run(t, i.ip, "-n", i.name, "link", "set", "lo", "up")
	return i, binary
}

// newIsland makes an island with NSD as the root and the zone above ours, and our server with two names. With a way to
// deny, ours is signed, and so are those above it.
func newIsland(t *testing.T, denial string) island {
	t.Helper()
	i, binary := bareIsland(t)
	server := rig.Installed(t, "nsd", "nsd")
	for _, host := range hosts {
		run(t, i.ip, "-n", i.name, "address", "add", host, "dev", "lo", "nodad")
	}
	above := newProcess(t, map[string]string{"root.zone": text(t, "root.zone"), "test.zone": text(t, "test.zone")})
	ours := text(t, "gslb.yaml") + small(t)
	if denial != "" {
		ours = i.signed(above, ours, denial)
	}
	config := fmt.Sprintf("server:\n  username: \"\"\n  zonesdir: %q\n  database: \"\"\n  pidfile: \"%[2]s/nsd.pid\"\n  xfrdfile: \"%[2]s/xfrd.state\"\n  xfrdir: %[2]q\n  zonelistfile: \"%[2]s/zone.list\"\n",
		above.folder, above.folder)
	for _, host := range hosts[:others] {
		config += "  ip-address: " + host + "\n"
	}
	above.write("nsd.conf", config+"remote-control:\n  control-enable: no\nzone:\n  name: \".\"\n  zonefile: root.zone\nzone:\n  name: test\n  zonefile: test.zone\n")
	i.begin(above, server, "-d", "-c", filepath.Join(above.folder, "nsd.conf"))
	i.begin(newProcess(t, map[string]string{"gslb.yaml": ours}), binary, "serve", "-c", "gslb.yaml")
	for _, host := range hosts {
		i.knows(host)
	}
	return i
}

// signed signs the zones above ours, and gives our configuration with a key whose DS record they have.
func (i island) signed(above *process, ours, denial string) string {
	i.t.Helper()
	now := time.Now().Add(-time.Hour)
	folder := i.t.TempDir()
	k := key(i.t, folder, "ok.test", sign.ECDSAP256SHA256, sign.Times{Created: now, Publish: now, Activate: now})
	for _, digest := range []sign.Digest{sign.SHA256, sign.SHA384} {
		_, ds := k.DS(digest)
		above.add("test.zone", "ok DS "+ds+"\n")
	}
	above.add("root.zone", "test. DS "+i.sign(above, "test", "test.zone")+"\n")
	i.sign(above, ".", "root.zone")
	return strings.Replace(ours, "    ns: [ns1, ns2]\n", fmt.Sprintf("    ns: [ns1, ns2]\n    dnssec: {keys: %q, denial: %s}\n", folder, denial), 1)
}

// sign signs a zone of others by a key of its own, as BIND does, and gives the data of the DS record.
func (i island) sign(p *process, origin, file string) (ds string) {
	i.t.Helper()
	now := time.Now().Add(-time.Hour)
	k := key(i.t, p.folder, origin, sign.ECDSAP256SHA256, sign.Times{Created: now, Publish: now, Activate: now})
	path := filepath.Join(p.folder, file)
	run(i.t, rig.Installed(i.t, "dnssec-signzone", "bind9-utils"), "-q", "-z", "-S", "-K", p.folder, "-d", p.folder, "-o", origin, "-f", path, path)
	_, ds = k.DS(sign.SHA256)
	return ds
}

// file is the path of a file of the island.
func file(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "island", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func text(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(file(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// begin runs a program on the island until the test ends.
func (i island) begin(p *process, path string, arguments ...string) {
	p.begin(i.ip, append([]string{"netns", "exec", i.name, path}, arguments...)...)
}

// prints runs a program on the island and gives what it prints.
func (i island) prints(path string, arguments ...string) string {
	i.t.Helper()
	out, err := exec.Command(i.ip, append([]string{"netns", "exec", i.name, path}, arguments...)...).Output()
	if err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			out = append(out, ended.Stderr...)
		}
		i.t.Errorf("%s %s: %v\n%s", filepath.Base(path), strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

// knows waits until a server of the island knows of our zone.
func (i island) knows(server string) {
	i.t.Helper()
	rig.Until(i.t, rig.Soon, "an answer", func() string {
		out, _ := exec.Command(i.ip, "netns", "exec", i.name, rig.Installed(i.t, "dig", "bind9-dnsutils"), "@"+server, "+norec", "+tries=1", "+time=1", "NS", "ok.test").Output()
		if strings.Contains(string(out), "ns1.ok.test.") {
			return "an answer"
		}
		return string(out)
	})
}

// zonemaster gives what zonemaster finds to be wrong with a zone: its words for it, without those that are accepted.
func (i island) zonemaster(zone string) (findings []string) {
	i.t.Helper()
	accepted := map[string]bool{
		"NAMESERVER_IP_WITHOUT_REVERSE": true, // of level WARNING: there are no reverse zones on the island
	}
	out := i.prints(rig.Installed(i.t, "zonemaster-cli", "zonemaster-cli"), "--hints", file(i.t, "hints"), "--level", "WARNING", "--json", zone)
	var found []struct{ Level, Tag string }
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		i.t.Fatalf("zonemaster prints %q: %v", out, err)
	}
	for _, f := range found {
		if !accepted[f.Tag] {
			findings = append(findings, f.Level+" "+f.Tag)
		}
	}
	return findings
}

// dnsviz gives what dnsviz finds to be wrong with a zone.
func (i island) dnsviz(zone string) string {
	i.t.Helper()
	path, probe := rig.Installed(i.t, "dnsviz", "dnsviz"), filepath.Join(i.t.TempDir(), "probe.json")
	i.prints(path, "probe", "-A", "-a", ".", "-x", ".:a.root-servers.net=198.41.0.4", "-x", "root-servers.net:a.root-servers.net=198.41.0.4", "-o", probe, zone)
	return strings.TrimSpace(i.prints(path, "grok", "-l", "warning", "-r", probe))
}

// Those who judge zones follow the delegation from the root, and find nothing wrong with ours. In a zone that is
// delegated to us and not served they find that, so they would have told.
func TestJudgesFindNoFault(t *testing.T) {
	i := newIsland(t, "")
	if found := i.zonemaster("ok.test"); len(found) > 0 {
		t.Errorf("zonemaster finds %q", found)
	}
	if found := i.dnsviz("ok.test"); found != "" {
		t.Errorf("dnsviz finds %s", found)
	}
	if found := i.zonemaster("lame.test"); len(found) == 0 {
		t.Error("zonemaster finds nothing wrong with a zone that is not served")
	}
	if found := i.dnsviz("lame.test"); !strings.Contains(found, "REFUSED") {
		t.Errorf("dnsviz finds of a zone that is not served: %s", found)
	}
}

// They find nothing wrong with ours when it is signed, nor with how the zones above lead there.
func TestJudgesFindNoFaultInASignedZone(t *testing.T) {
	denials := []string{"nsec", "nsec3", "compact"}
	if os.Getenv("GSLB_LONG") == "" {
		denials = denials[:1] // the judges take their time
	}
	for _, denial := range denials {
		t.Run(denial, func(t *testing.T) {
			i := newIsland(t, denial)
			if found := i.zonemaster("ok.test"); len(found) > 0 {
				t.Errorf("zonemaster finds %q", found)
			}
			for _, name := range []string{"www.ok.test", "nothing.ok.test"} {
				if found := i.dnsviz(name); found != "" {
					t.Errorf("dnsviz finds in %s %s", name, found)
				}
			}
		})
	}
}

// Resolvers that know nothing but the root come to us by the delegation, unbound with the clients' subnets.
func TestResolversComeFromTheRoot(t *testing.T) {
	i := newIsland(t, "")
	u := newProcess(t, nil)
	config := fmt.Sprintf("server:\n  interface: 127.0.0.1@5301\n  root-hints: %q\n  module-config: \"subnetcache iterator\"\n  local-zone: \"test.\" nodefault\n  directory: %q\n  chroot: \"\"\n  username: \"\"\n  pidfile: unbound.pid\n  use-syslog: no\n  do-daemonize: no\n  num-threads: 1\n  use-caps-for-id: yes\n",
		file(t, "hints"), u.folder)
	for _, host := range hosts[others:] {
		config += "  send-client-subnet: " + host + "\n"
	}
	u.write("unbound.conf", config+"remote-control:\n  control-enable: no\n")
	i.begin(u, rig.Installed(t, "unbound", "unbound"), "-d", "-c", "unbound.conf")
	b := newProcess(t, nil)
	b.write("named.conf", fmt.Sprintf("options { directory %[1]q; pid-file \"%[1]s/named.pid\"; session-keyfile \"%[1]s/session.key\"; managed-keys-directory %[1]q; listen-on port 5302 { 127.0.0.1; }; listen-on-v6 { none; }; recursion yes; dnssec-validation no; empty-zones-enable no; };\ncontrols { };\nzone \".\" { type hint; file %[2]q; };\n",
		b.folder, file(t, "hints")))
	i.begin(b, rig.Installed(t, "named", "bind9"), "-g", "-n", "1", "-c", filepath.Join(b.folder, "named.conf"))
	dig := rig.Installed(t, "dig", "bind9-dnsutils")
	for _, c := range []struct{ resolver, question, want string }{
		{"unbound", "-p 5301 @127.0.0.1 www.ok.test +subnet=203.0.113.0/24", "198.51.100.1"},
		{"unbound", "-p 5301 @127.0.0.1 www.ok.test +subnet=8.8.8.0/24", "45.90.28.80"},
		{"unbound", "-p 5301 @127.0.0.1 a.vid.ok.test AAAA +subnet=203.0.113.0/24", "2001:db8:1::1"},
		{"unbound", "-p 5301 @127.0.0.1 ok.test MX", "10 mail.ok.test."},
		{"BIND", "-p 5302 @127.0.0.1 www.ok.test", "45.90.28.80"},
		{"BIND", "-p 5302 @127.0.0.1 a.vid.ok.test AAAA", "2a07:a8c0::80"},
		{"BIND", "-p 5302 @127.0.0.1 ok.test MX", "10 mail.ok.test."},
	} {
		rig.Until(t, rig.Soon, c.want, func() string {
			out, _ := exec.Command(i.ip, append([]string{"netns", "exec", i.name, dig, "+short", "+tries=1", "+time=2"}, strings.Fields(c.question)...)...).Output()
			return strings.TrimSpace(string(out))
		})
	}
}
