package health

import (
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestEchoOnLoopback(t *testing.T) {
	if _, err := (ICMP{}).ready(); err != nil {
		t.Skip(err)
	}
	for address, want := range map[string]string{"127.0.0.1": "", "127.0.0.9": "", "::1": ""} {
		got := NewOutside().Probe(t.Context(), netip.MustParseAddr(address), Check{Kind: ICMP{}, Timeout: time.Minute})
		if got.Cause != want {
			t.Errorf("%s: cause %q, want %q", address, got.Cause, want)
		}
	}
}

// A raw socket is what a server without a group of its own uses, and it sees all that comes.
func TestEchoOnARawSocket(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		at := netip.MustParseAddr(address)
		p, err := openRaw(at)
		if err != nil {
			t.Skip(err)
		}
		defer p.Close()
		p.SetDeadline(time.Now().Add(time.Minute))
		if _, err := p.Write(echo(at, []byte("ours"))); err != nil {
			t.Fatal(err)
		}
		for room := make([]byte, 1500); ; {
			n, err := p.receive(room)
			if err != nil {
				t.Fatalf("%s: %v", address, err)
			}
			if replies(at, room[:n], []byte("ours")) {
				break // after the request itself, which loopback shows as well
			}
			if replies(at, room[:n], []byte("theirs")) {
				t.Errorf("%s: the reply is taken for another's", address)
			}
		}
	}
}

// inNamespace runs the named test again where setup has changed the network, which ends with it.
func inNamespace(t *testing.T, setup string) {
	t.Helper()
	for _, name := range []string{"unshare", "ip", "sysctl"} {
		installed(t, name)
	}
	script := setup + ` && exec "$0" -test.run "^$1$" -test.v`
	command := exec.Command("unshare", "--net", "sh", "-c", script, os.Args[0], t.Name())
	command.Env = append(os.Environ(), "GSLB_INSIDE=1")
	out, err := command.CombinedOutput()
	if strings.Contains(string(out), "unshare failed") {
		t.Skipf("no namespaces here: %s", out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestEchoToNobody(t *testing.T) {
	if os.Getenv("GSLB_INSIDE") == "" {
		inNamespace(t, "ip link set lo up && ip link add name echo0 type veth peer name echo1 && ip link set echo1 up && ip addr add 192.0.2.1/24 dev echo0 && ip link set echo0 up")
		return
	}
	for address, want := range map[string]string{
		"192.0.2.9":    "timeout after 300ms",
		"198.51.100.1": "network unreachable",
		"192.0.2.1":    "",
	} {
		timeout := time.Minute
		if strings.HasPrefix(want, "timeout") {
			timeout = 300 * time.Millisecond
		}
		got := NewOutside().Probe(t.Context(), netip.MustParseAddr(address), Check{Kind: ICMP{}, Timeout: timeout})
		if got.Cause != want {
			t.Errorf("%s: cause %q, want %q", address, got.Cause, want)
		}
	}
}

// Without a right to any socket the operator hears of it, rather than of endpoints that fail.
func TestEchoThatIsNotAllowed(t *testing.T) {
	if os.Getenv("GSLB_INSIDE") == "" {
		inNamespace(t, `sysctl -qw net.ipv4.ping_group_range="1 0" && exec setpriv --bounding-set=-net_raw --inh-caps=-net_raw -- "$0" -test.run "^$1$" -test.v`)
		return
	}
	_, err := Ready(ICMP{})
	if err == nil || !strings.Contains(err.Error(), "no ICMP socket is allowed here") {
		t.Errorf("Ready says %v", err)
	}
	got := NewOutside().Probe(t.Context(), loopback, Check{Kind: ICMP{}, Timeout: time.Minute})
	if got.Cause != "operation not permitted" {
		t.Errorf("cause %q", got.Cause)
	}
}

func TestUnprivilegedEcho(t *testing.T) {
	if os.Getenv("GSLB_INSIDE") == "" {
		inNamespace(t, `ip link set lo up && sysctl -qw net.ipv4.ping_group_range="0 0" && exec setpriv --bounding-set=-net_raw --inh-caps=-net_raw -- "$0" -test.run "^$1$" -test.v`)
		return
	}
	if _, err := openRaw(loopback); err == nil {
		t.Error("a raw socket was allowed: the test shows nothing")
	}
	for _, address := range []string{"127.0.0.1", "::1"} {
		got := NewOutside().Probe(t.Context(), netip.MustParseAddr(address), Check{Kind: ICMP{}, Timeout: time.Minute})
		if !got.OK {
			t.Errorf("%s: cause %q", address, got.Cause)
		}
	}
}

func FuzzEchoReply(f *testing.F) {
	at6 := netip.IPv6Loopback()
	f.Add(echo(loopback, []byte("token")))
	f.Add(echo(at6, []byte("token")))
	f.Fuzz(func(t *testing.T, packed []byte) {
		for _, at := range []netip.Addr{loopback, at6} {
			if replies(at, packed, []byte("token")) && len(packed) < 8+len("token") {
				t.Errorf("%x is taken for a reply", packed)
			}
		}
	})
}
