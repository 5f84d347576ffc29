package sessions

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb/bgp"
	"gslb/test/rig"
)

// birdRouter is a BIRD that runs. Its socket is known from its folder: the path of a socket may not be long.
type birdRouter struct {
	t      *testing.T
	folder string
}

// startBIRD runs BIRD as AS 64501 with one BGP protocol "server", whose text is given, and three routes.
func startBIRD(t *testing.T, server string) *birdRouter {
	t.Helper()
	binary := rig.Installed(t, "bird", "bird2")
	folder := t.TempDir()
	b := &birdRouter{t, folder}
	config := filepath.Join(folder, "bird.conf")
	text := fmt.Sprintf(`
log stderr all;
router id 192.0.2.1;
protocol device { }
protocol static four {
	ipv4;
	route 203.0.113.0/24 blackhole;
	route 198.51.100.0/24 blackhole;
}
protocol static six {
	ipv6;
	route 2001:db8:100::/40 blackhole;
}
protocol bgp server {
	local as 64501;
	multihop;
	graceful restart on;
	ipv4 { import none; export all; next hop address 192.0.2.1; };
	ipv6 { import none; export all; next hop address 2001:db8::1; };
	connect delay time 1;
	connect retry time 1;
	error wait time 1, 2;
%s
}
`, server)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-f", "-c", config, "-s", "bird.ctl", "-P", "bird.pid")
	cmd.Dir = folder
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return b
}

// command has BIRD do what its client says.
func (b *birdRouter) command(words ...string) {
	b.t.Helper()
	cmd := exec.Command(rig.Installed(b.t, "birdc", "bird2"), append([]string{"-s", "bird.ctl"}, words...)...)
	cmd.Dir = b.folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("birdc %s: %v: %s", strings.Join(words, " "), err, out)
	}
}

// first is what a session with BIRD brings.
func first(address string) []string {
	return []string{
		"up " + address + " as=64501 ipv4=true ipv6=true",
		"announce 203.0.113.0/24 origin=64501 length=1",
		"announce 198.51.100.0/24 origin=64501 length=1",
		"announce 2001:db8:100::/40 origin=64501 length=1",
		"end ipv6=false",
		"end ipv6=true",
	}
}

func passwordFile(t *testing.T, password string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBIRDConnectsAndIsShutDown(t *testing.T) {
	st, local := newStage(t), ourself
	local.Listen = []netip.AddrPort{freePort(t, "127.0.0.1")}
	st.Apply(local, []bgp.Peer{{
		Partner: "sibtel", Address: netip.MustParseAddr("127.0.1.1"), ASN: 64501, Passive: true,
		PasswordFile: passwordFile(t, "swordfish"), TTLSecurity: 1,
	}})
	b := startBIRD(t, fmt.Sprintf(`
	source address 127.0.1.1;
	neighbor 127.0.0.1 port %d as 64512;
	password "swordfish";
	ttl security on;
`, local.Listen[0].Port()))
	st.expect(first("127.0.1.1")...)
	b.command("disable", "four")
	st.expect("withdraw 203.0.113.0/24", "withdraw 198.51.100.0/24")
	b.command("disable", "server")
	st.expect("down 127.0.1.1 administrative=true: the peer sent cease, administrative shutdown (6/2)")
	b.command("enable", "four")
	b.command("enable", "server")
	st.expect(first("127.0.1.1")...)
}

func TestBIRDIsConnectedTo(t *testing.T) {
	for _, c := range []struct{ name, address, ours string }{
		{"IPv4", "127.0.1.1", "127.0.0.1"},
		{"IPv6", "::1", "::1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, at := newStage(t), freePort(t, c.address)
			startBIRD(t, fmt.Sprintf(`
	local %s port %d as 64501;
	strict bind;
	neighbor %s as 64512;
	passive;
	password "swordfish";
	ttl security on;
`, c.address, at.Port(), c.ours))
			p := bgp.Peer{
				Partner: "sibtel", Address: at.Addr(), Port: at.Port(), Local: netip.MustParseAddr(c.ours), ASN: 64501,
				PasswordFile: passwordFile(t, "swordfish"), TTLSecurity: 1,
			}
			st.Apply(ourself, []bgp.Peer{p})
			st.expect(first(c.address)...)
			st.Reset(p.Address)
			st.expect("down " + c.address + " administrative=false: reset by the operator")
			st.expect(first(c.address)...)
			p.HoldTime = 30 * time.Second
			st.Apply(ourself, []bgp.Peer{p})
			st.expect("down " + c.address + " administrative=false: changed in the configuration")
			st.expect(first(c.address)...)
		})
	}
}
