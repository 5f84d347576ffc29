package bgp

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"gslb/test/rig"
)

// routeServer is a BIRD.
type routeServer struct {
	t       testing.TB
	folder  string
	at      netip.AddrPort // where it listens
	cmd     *exec.Cmd
	log     *rig.Output
	program string
}

// newRouteServer makes a BIRD at an address of the server's network; nothing runs before begin.
func newRouteServer(t testing.TB, at netip.AddrPort) *routeServer {
	t.Helper()
	b := &routeServer{t: t, folder: t.TempDir(), at: at, log: &rig.Output{}, program: rig.Installed(t, "bird", "bird2")}
	t.Cleanup(func() {
		b.kill()
		if t.Failed() {
			t.Logf("log of BIRD %s:\n%s", at.Addr(), b.log)
		}
	})
	return b
}

// routes is a static protocol with these routes of one family, each "PREFIX" or "PREFIX { COMMANDS }".
func routes(name string, prefixes ...string) string {
	family := "ipv4"
	if len(prefixes) > 0 && strings.Contains(strings.Fields(prefixes[0])[0], ":") {
		family = "ipv6"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "protocol static %s {\n\t%s;\n", name, family)
	for _, p := range prefixes {
		prefix, commands, _ := strings.Cut(p, " ")
		fmt.Fprintf(&b, "\troute %s blackhole %s;\n", prefix, commands)
	}
	return b.String() + "}\n"
}

// session is a BGP protocol with gslb as a client of the route server. Options are further lines of it.
// The path of every route is AS 64502, a member of the exchange.
func (b *routeServer) session(name string, ours netip.AddrPort, options string) string {
	return fmt.Sprintf(`protocol bgp %s {
	local %s port %d as 64501;
	strict bind yes;
	neighbor %s port %d as 64512;
	rs client;
	multihop;
	connect delay time 1;
	connect retry time 1;
	error wait time 1, 2;
	ipv4 { import none; export filter { bgp_path.prepend(64502); accept; }; next hop address 192.0.2.9; };
	ipv6 { import none; export filter { bgp_path.prepend(64502); accept; }; next hop address 2001:db8::9; };
	%s
}
`, name, b.at.Addr(), b.at.Port(), ours.Addr(), ours.Port(), options)
}

func (b *routeServer) configure(parts ...string) {
	b.t.Helper()
	id := b.at.Addr()
	if !id.Is4() {
		id = netip.AddrFrom4([4]byte{192, 0, 2, 9})
	}
	head := fmt.Sprintf("log stderr all;\nrouter id %s;\ntimeformat protocol iso long us;\nprotocol device { }\n", id)
	if err := os.WriteFile(filepath.Join(b.folder, "bird.conf"), []byte(head+strings.Join(parts, "")), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if b.cmd != nil {
		b.command("configure")
	}
}

// begin runs BIRD until it is killed or the test ends.
func (b *routeServer) begin(options ...string) {
	b.t.Helper()
	b.cmd = exec.Command(b.program, append(options, "-f", "-c", "bird.conf", "-s", "bird.ctl", "-P", "bird.pid")...)
	b.cmd.Dir, b.cmd.Stdout, b.cmd.Stderr = b.folder, b.log, b.log
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	rig.Until(b.t, rig.Soon, "a control socket", func() string {
		if _, err := os.Stat(filepath.Join(b.folder, "bird.ctl")); err != nil {
			return err.Error()
		}
		return "a control socket"
	})
}

// kill ends BIRD as a power cut would.
func (b *routeServer) kill() {
	if b.cmd == nil {
		return
	}
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
	_ = os.Remove(filepath.Join(b.folder, "bird.ctl")) // it may be gone
	b.cmd = nil
}

// command has BIRD do something, and gives what it says.
func (b *routeServer) command(words ...string) string {
	b.t.Helper()
	cmd := exec.Command(rig.Installed(b.t, "birdc", "bird2"), append([]string{"-s", "bird.ctl"}, words...)...)
	cmd.Dir = b.folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("birdc %s: %v: %s", strings.Join(words, " "), err, out)
	}
	return string(out)
}

// state gives the state of a session in BIRD's words, and since when it is in it.
func (b *routeServer) state(name string) (state string, since time.Time) {
	b.t.Helper()
	out := b.command("show", "protocols", name)
	line := regexp.MustCompile(`(?m)^` + name + ` .*$`).FindString(out)
	fields := strings.Fields(line) // name, BGP, table, state, date, time, state of BGP, cause
	if len(fields) < 7 {
		return line, since
	}
	since, err := time.Parse(time.DateTime, fields[4]+" "+fields[5])
	if err != nil {
		b.t.Fatal(err)
	}
	return fields[6], since
}

// established waits for a session, and tells since when it is up.
func (b *routeServer) established(name string) (since time.Time) {
	b.t.Helper()
	rig.Until(b.t, rig.Soon, "Established", func() (state string) {
		state, since = b.state(name)
		return state
	})
	if _, again := b.state(name); again.Before(since) { // see untouched
		since = again
	}
	return since
}

// untouched fails unless the session is up since then. BIRD computes the moment anew each time, from two clocks: when
// it is held up between them that once is wrong, but another session is another session each time.
func (b *routeServer) untouched(name string, since time.Time) {
	b.t.Helper()
	var state string
	var now time.Time
	for range 5 {
		state, now = b.state(name)
		if state == "Established" && now.Sub(since).Abs() <= 100*time.Millisecond {
			return
		}
	}
	b.t.Errorf("session %s is %s since %v, want it up since %v", name, state, now, since)
}

// birdPartner is a partner whose peer is this BIRD; more keys of the peer and of the partner follow.
func birdPartner(b *routeServer, peer, partner string) string {
	return partnerText("sibtel", "nsk", fmt.Sprintf(`address: "%s", port: %d, asn: 64501%s`, b.at.Addr(), b.at.Port(), peer), partner)
}

// partnerText is a partner in the configuration, with one peer, given as its keys.
func partnerText(name, site, peer, partner string) string {
	if !strings.Contains(partner, "accept:") {
		partner += `
    accept: {within: [203.0.112.0/20, "2001:db8:100::/40"]}`
	}
	return fmt.Sprintf("  %s:\n    site: %s\n    peers: [{%s}]\n%s\n", name, site, peer, partner)
}

// beside is a server and a BIRD at its host 9, neither running yet.
func beside(t testing.TB) (*server, *routeServer) {
	t.Helper()
	rig.Installed(t, "bird", "bird2")
	s := newServer(t)
	return s, newRouteServer(t, vacant(t, s.net.host(9)))
}

// steered starts both, with these routes, and waits until the first is in force. It returns the session.
func steered(t testing.TB, partner string, prefixes ...string) (*server, *routeServer, string) {
	t.Helper()
	s, b := beside(t)
	session := b.session("gslb", s.bgp, "")
	b.configure(routes("four", prefixes...), session)
	b.begin()
	s.configure(birdPartner(b, ", local: OURS", partner))
	s.begin()
	s.sends(inside(prefixes[0]), "nsk")
	return s, b, session
}

// inside is a client of the prefix.
func inside(prefix string) string {
	return netip.MustParsePrefix(strings.Fields(prefix)[0]).Addr().Next().String()
}
