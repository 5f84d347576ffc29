package dns_test

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	mdns "github.com/miekg/dns"

	"gslb/dns"
	"gslb/dns/steer"
)

// checkReply asks, and checks what holds for every reply to every packet.
func checkReply(t *testing.T, s *steer.Snapshot, packet []byte, stream bool) {
	t.Helper()
	asked := bytes.Clone(packet)
	reply := dns.NewResponder("ns1", "test").Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Over: over(stream), Now: noon}, nil)
	if !bytes.Equal(asked, packet) {
		t.Error("the request was written to")
	}
	if reply == nil {
		if len(packet) >= 12 && packet[2]&0x80 == 0 {
			t.Error("silence to a request with a whole header")
		}
		return
	}
	m := new(mdns.Msg)
	if err := m.Unpack(reply); err != nil {
		t.Fatalf("reply does not unpack: %v", err)
	}
	if !bytes.Equal(reply[:2], packet[:2]) || !m.Response || m.Opcode != int(packet[2]>>3&0xf) {
		t.Errorf("header %x to %x", reply[:4], packet[:4])
	}
	if m.RecursionAvailable || m.AuthenticatedData || m.Zero {
		t.Errorf("bits that are not ours: %x", reply[:4])
	}
	if request := new(mdns.Msg); request.Unpack(packet) == nil && hasOPT(request) && !hasOPT(m) { // RFC 6891 section 6.1.1
		t.Errorf("no OPT in\n%s", m)
	}
	limit := 65535
	if !stream {
		limit = 1232
		if m.IsEdns0() == nil {
			limit = 512
		}
	}
	if len(reply) > limit {
		t.Errorf("reply of %d octets, at most %d fit", len(reply), limit)
	}
	if m.Truncated && (stream || len(m.Answer) > 0 || len(m.Ns) > 0) {
		t.Errorf("truncated with data: %s", m)
	}
	if len(m.Question) == 1 {
		question := reply[12:]
		if len(packet) < 12+len(question) {
			question = question[:len(packet)-12]
		}
		n := 0
		for n < len(question) && question[n] != 0 {
			n += 1 + int(question[n])
		}
		if n+5 <= len(question) && !bytes.Equal(question[:n+5], packet[12:12+n+5]) {
			t.Errorf("question %x to %x", question[:n+5], packet[12:12+n+5])
		}
	}
}

// hasOPT tells whether a message has an OPT record where one may be, with the owner that it has to have.
func hasOPT(m *mdns.Msg) bool {
	return slices.ContainsFunc(m.Extra, func(rr mdns.RR) bool { return rr.Header().Rrtype == mdns.TypeOPT && rr.Header().Name == "." })
}
