package dns_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/dns"
)

// signedWith signs a question of its own, as the words of RFC 8945 section 4.3.3 say and not as the library does, which knows
// no fudge and no time of 0.
func signedWith(t *testing.T, change func(*mdns.TSIG)) []byte {
	t.Helper()
	m := new(mdns.Msg)
	m.SetQuestion("www.ok.test.", mdns.TypeA)
	plain, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	g := &mdns.TSIG{
		Hdr:       mdns.RR_Header{Name: "xfr.", Rrtype: mdns.TypeTSIG, Class: mdns.ClassANY},
		Algorithm: mdns.HmacSHA256, TimeSigned: uint64(time.Now().Unix()), Fudge: 300, OrigId: m.Id,
	}
	change(g)
	b := binary.BigEndian.AppendUint16(nil, g.OrigId)
	b = append(append(b, plain[2:]...), "\x03xfr\x00"...)
	b = binary.BigEndian.AppendUint16(b, g.Hdr.Class)
	b = binary.BigEndian.AppendUint32(b, g.Hdr.Ttl)
	b = append(b, "\x0bhmac-sha256\x00"...)
	b = append(b, binary.BigEndian.AppendUint64(nil, g.TimeSigned)[2:]...)
	b = binary.BigEndian.AppendUint16(b, g.Fudge)
	b = binary.BigEndian.AppendUint16(b, g.Error)
	b = binary.BigEndian.AppendUint16(b, g.OtherLen)
	other, err := hex.DecodeString(g.OtherData)
	if err != nil {
		t.Fatal(err)
	}
	g.MAC, g.MACSize = hmacSHA256(t, secrets["xfr."], append(b, other...)), 32
	m.Extra = []mdns.RR{g}
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

// hmacSHA256 is the MAC of a message, in hexadecimal digits.
func hmacSHA256(t *testing.T, secret string, message []byte) string {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	h := hmac.New(sha256.New, key)
	_, _ = h.Write(message) // never fails
	return hex.EncodeToString(h.Sum(nil))
}

// A signature is judged by what it says: also one that allows no second between the clocks, one of a clock that stands at
// its beginning, and one of a question that came by somebody who gave it another ID.
func TestSignaturesAreReadAsTheyStand(t *testing.T) {
	now := uint64(time.Now().Unix())
	for name, tc := range map[string]struct {
		change func(*mdns.TSIG)
		rcode  int
		err    int // -1: the answer is not signed
	}{
		"as usual":                            {func(*mdns.TSIG) {}, mdns.RcodeSuccess, 0},
		"in capitals":                         {func(g *mdns.TSIG) { g.Hdr.Name, g.Algorithm = "XFR.", "HMAC-SHA256." }, mdns.RcodeSuccess, 0},
		"with another ID":                     {func(g *mdns.TSIG) { g.OrigId++ }, mdns.RcodeSuccess, 0},
		"with other data":                     {func(g *mdns.TSIG) { g.OtherLen, g.OtherData = 3, "616263" }, mdns.RcodeSuccess, 0},
		"with an error":                       {func(g *mdns.TSIG) { g.Error = mdns.RcodeBadKey }, mdns.RcodeSuccess, 0},
		"within the widest fudge":             {func(g *mdns.TSIG) { g.TimeSigned, g.Fudge = now-60000, 65535 }, mdns.RcodeSuccess, 0},
		"without a fudge, an hour ago":        {func(g *mdns.TSIG) { g.TimeSigned, g.Fudge = now-3600, 0 }, mdns.RcodeNotAuth, mdns.RcodeBadTime},
		"without a fudge, in an hour":         {func(g *mdns.TSIG) { g.TimeSigned, g.Fudge = now+3600, 0 }, mdns.RcodeNotAuth, mdns.RcodeBadTime},
		"at the beginning of time":            {func(g *mdns.TSIG) { g.TimeSigned = 0 }, mdns.RcodeNotAuth, mdns.RcodeBadTime},
		"at its end":                          {func(g *mdns.TSIG) { g.TimeSigned = 1<<48 - 1 }, mdns.RcodeNotAuth, mdns.RcodeBadTime},
		"in class IN (RFC 8945 section 4.2)":  {func(g *mdns.TSIG) { g.Hdr.Class = mdns.ClassINET }, mdns.RcodeFormatError, -1},
		"to be kept for a second (likewise)":  {func(g *mdns.TSIG) { g.Hdr.Ttl = 1 }, mdns.RcodeFormatError, -1},
		"in no class and with a TTL likewise": {func(g *mdns.TSIG) { g.Hdr.Class, g.Hdr.Ttl = 0, 1<<31 }, mdns.RcodeFormatError, -1},
	} {
		req := dns.Request{Packet: signedWith(t, tc.change), Source: netip.MustParseAddr("127.0.0.1"), Now: time.Now()}
		got := new(mdns.Msg)
		if err := got.Unpack(dns.NewResponder("ns1", "test").Respond(snapshot(t), req, nil)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		err := -1
		if g := got.IsTsig(); g != nil {
			err = int(g.Error)
		}
		if got.Rcode != tc.rcode || err != tc.err || (len(got.Answer) > 0) != (tc.rcode == mdns.RcodeSuccess) {
			t.Errorf("signed %s: want %s and error %d, got error %d in\n%s", name, mdns.RcodeToString[tc.rcode], tc.err, err, got)
		}
	}
}
