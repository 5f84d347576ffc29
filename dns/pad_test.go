package dns_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/dns"
)

// padded asks for something with EDNS and a request to pad, signed by a key unless that is "".
func padded(t *testing.T, name string, rrtype uint16, key, algorithm string, at time.Time) []byte {
	t.Helper()
	m := new(mdns.Msg)
	m.SetQuestion(name, rrtype)
	m.Id = 0 // as any transport takes it
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = []mdns.EDNS0{&mdns.EDNS0_PADDING{}}
	var packet []byte
	var err error
	if key == "" {
		packet, err = m.Pack()
	} else {
		m.SetTsig(key, algorithm, 300, at.Unix())
		packet, _, err = mdns.TsigGenerate(m, secrets[key], "", false)
	}
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

// Whoever watches a connection sees the length of a message with its signature, so that is what is padded (RFC 8467 section 4.1).
func TestSignedRepliesArePaddedWithTheirSignature(t *testing.T) {
	s, now := snapshotOf(t, text), time.Now()
	for _, over := range []dns.Transport{dns.TLS, dns.HTTPS, dns.QUIC} {
		for _, tc := range []struct {
			what, name string
			rrtype     uint16
			key        string
			at         time.Time
			err        int // of the signature
		}{
			{"unsigned", "www.ok.test.", mdns.TypeA, "", now, 0},
			{"signed", "www.ok.test.", mdns.TypeA, "xfr.", now, 0},
			{"long", "many.ok.test.", mdns.TypeAAAA, "xfr.", now, 0},
			{"no such name", "none.ok.test.", mdns.TypeA, "xfr.", now, 0},
			{"refused", "www.example.", mdns.TypeA, "xfr.", now, 0},
			{"by another clock", "www.ok.test.", mdns.TypeA, "xfr.", now.Add(-time.Hour), mdns.RcodeBadTime},
			{"by nobody", "www.ok.test.", mdns.TypeA, "nobody.", now, mdns.RcodeBadKey},
		} {
			req := dns.Request{Packet: padded(t, tc.name, tc.rrtype, tc.key, mdns.HmacSHA256, tc.at), Source: netip.MustParseAddr("127.0.0.1"), Over: over, Now: now}
			reply := dns.NewResponder("ns1", "test").Respond(s, req, nil)
			m := new(mdns.Msg)
			if err := m.Unpack(reply); err != nil || (m.IsTsig() != nil) != (tc.key != "") || m.IsTsig() != nil && int(m.IsTsig().Error) != tc.err {
				t.Errorf("%s over %s: %v, %v", tc.what, over, m, err)
			}
			if len(reply)%468 != 0 {
				t.Errorf("%s over %s: %d octets", tc.what, over, len(reply))
			}
		}
	}
}

// Each message of a transfer is padded likewise, and can be checked against the one before.
func TestTransfersArePaddedWithTheirSignatures(t *testing.T) {
	s := snapshotOf(t, strings.Replace(text, "      mail     MX    10 ns1\n", "      $GENERATE 0-4999 host$ A 198.18.0.1\n", 1))
	for _, over := range []dns.Transport{dns.TLS, dns.QUIC} {
		packet := padded(t, "ok.test.", mdns.TypeAXFR, "xfr.", mdns.HmacSHA256, time.Now())
		ask := new(mdns.Msg)
		if err := ask.Unpack(packet); err != nil {
			t.Fatal(err)
		}
		mac, count := ask.IsTsig().MAC, 0
		req := dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Over: over, Now: time.Now()}
		for message := range dns.NewResponder("ns1", "test").Transfer(s, req) {
			if len(message)%468 != 0 {
				t.Errorf("message %d over %s: %d octets", count, over, len(message))
			}
			m := new(mdns.Msg)
			if err := m.Unpack(message); err != nil || m.IsTsig() == nil {
				t.Fatalf("message %d over %s: %v", count, over, err)
			}
			if err := mdns.TsigVerify(message, secrets["xfr."], mac, count > 0); err != nil {
				t.Errorf("message %d over %s: %v", count, over, err)
			}
			mac, count = m.IsTsig().MAC, count+1
		}
		if count < 3 {
			t.Errorf("%d messages over %s", count, over)
		}
	}
}
