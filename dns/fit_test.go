package dns_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/dns"
	"gslb/dns/steer"
)

// A reply is as long as its client can take, options and all, and not an octet longer: with one octet less of room it is cut.
func TestRepliesFitToTheOctet(t *testing.T) {
	s := snapshotOf(t, text)
	r := dns.NewResponder("a-name-server-with-a-long-name", "test")
	for _, options := range []string{
		"", "+nsid", "+cookie=0123456789abcdef", "+ecs=203.0.113.0/24", "+nsid +cookie=0123456789abcdef +ecs=2001:db8::/56",
	} {
		t.Run(options, func(t *testing.T) {
			ask := func(size int, over dns.Transport) []byte {
				packet, _ := question(t, fmt.Sprintf("many.ok.test. AAAA +edns=%d %s", size, options))
				return r.Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Over: over, Now: noon}, nil)
			}
			whole := len(ask(1232, dns.TCP))
			if whole < 600 || whole > 1232 {
				t.Fatalf("%d octets show nothing", whole)
			}
			if n := len(ask(whole, dns.UDP)); n != whole {
				t.Errorf("%d octets where the whole has %d, and room", n, whole)
			}
			cut := new(mdns.Msg)
			if err := cut.Unpack(ask(whole-1, dns.UDP)); err != nil || !cut.Truncated || len(cut.Answer) > 0 {
				t.Errorf("with an octet less of room: %v, %v", cut, err)
			}
		})
	}
}

// Over QUIC every reply to a request with EDNS is padded (RFC 9250 section 5.4), wherever in a buffer it stands.
func TestRepliesOverQUICArePaddedUnasked(t *testing.T) {
	s := snapshotOf(t, text)
	packet, _ := question(t, "www.ok.test. A +edns=1232")
	packet[0], packet[1] = 0, 0 // as QUIC wants it
	for _, before := range []string{"", "xy"} {
		req := dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Over: dns.QUIC, Now: noon}
		reply := dns.NewResponder("ns1", "test").Respond(s, req, []byte(before))
		if n := len(reply) - len(before); n != 468 || !bytes.HasPrefix(reply, []byte(before)) {
			t.Errorf("%d octets behind %q", n, before)
		}
	}
}

// signedAt asks with the signature of a moment.
func signedAt(t *testing.T, s *steer.Snapshot, words string, at time.Time) (reply []byte) {
	t.Helper()
	packet, _ := question(t, words)
	ask := new(mdns.Msg)
	if err := ask.Unpack(packet); err != nil {
		t.Fatal(err)
	}
	ask.SetTsig("xfr.", mdns.HmacSHA256, 300, at.Unix())
	packet, _, err := mdns.TsigGenerate(ask, secrets["xfr."], "", false)
	if err != nil {
		t.Fatal(err)
	}
	r := dns.NewResponder("ns1", "test")
	return r.Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Over: dns.TCP, Now: time.Now()}, nil)
}

// Whoever has another time is told ours, and by a signature of his own time, which he can check (RFC 8945 section 5.2.3). The
// library does not: it checks no signature of an error.
func TestOtherClocksAreToldTheTime(t *testing.T) {
	then := time.Now().Add(-time.Hour)
	reply := signedAt(t, snapshotOf(t, text), "www.ok.test. A", then)
	m := new(mdns.Msg)
	if err := m.Unpack(reply); err != nil {
		t.Fatal(err)
	}
	g := m.IsTsig()
	if g == nil || m.Rcode != mdns.RcodeNotAuth || g.Error != mdns.RcodeBadTime || len(m.Answer) > 0 {
		t.Fatalf("got %v", m)
	}
	if g.TimeSigned != uint64(then.Unix()) {
		t.Errorf("it is signed at %d, want %d", g.TimeSigned, then.Unix())
	}
	var ours int64
	if _, err := fmt.Sscanf(g.OtherData, "%x", &ours); err != nil || time.Since(time.Unix(ours, 0)).Abs() > time.Minute {
		t.Errorf("it tells %q: %v", g.OtherData, err)
	}
}

// A reply that is signed is as short as another, but for its signature.
func TestSignedRepliesAreCompressed(t *testing.T) {
	s := snapshotOf(t, text)
	const words = "many.ok.test. AAAA"
	packet, _ := question(t, words)
	plain := dns.NewResponder("ns1", "test").Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Over: dns.TCP, Now: noon}, nil)
	reply := signedAt(t, s, words, time.Now())
	m := new(mdns.Msg)
	if err := m.Unpack(reply); err != nil || m.IsTsig() == nil {
		t.Fatal(m, err)
	}
	if most := len(plain) + mdns.Len(m.IsTsig()); len(reply) > most {
		t.Errorf("%d octets, want %d at most", len(reply), most)
	}
}
