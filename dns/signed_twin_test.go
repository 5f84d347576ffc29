package dns_test

import (
	"net/netip"
	"testing"
	"time"

	mdns "github.com/miekg/dns"
	"pgregory.net/rapid"

	"gslb/dns"
)

// A request that is signed gets what it gets without a signature, though the library makes that reply: whatever the name, the
// type, the class, the opcode, the version of EDNS and the options are.
func TestSignedRequestsGetWhatOthersGet(t *testing.T) {
	w := signed(t, "nsec")
	names := append(w.names(), longest()...)
	names = append(names, "example.", ".", "host.sub.ok.test.", "version.bind.", "www.ok.test.")
	types := []uint16{
		mdns.TypeA, mdns.TypeAAAA, mdns.TypeNS, mdns.TypeSOA, mdns.TypeMX, mdns.TypeTXT, mdns.TypeCNAME, mdns.TypeDNAME, mdns.TypeSRV, mdns.TypeHTTPS, mdns.TypeDS,
		mdns.TypeANY, mdns.TypeAXFR, mdns.TypeIXFR, mdns.TypeOPT, mdns.TypeTSIG, mdns.TypeDNSKEY, mdns.TypeNSEC, mdns.TypeRRSIG, 128, 0, 65280,
	}
	responder := dns.NewResponder("ns1", "test")
	rapid.Check(t, func(t *rapid.T) {
		words, asked, stream := drawn(t, names, types, "CH", "+rd", "+cd", "+do", "+nsid", "+keepalive", "+expire", "+unknown", "+tcp", "+edns=700", "+cookie=2464c4abcf10c957", "+ecs=203.0.113.0/24", "+ecs=2001:db8::/32")
		asked.Opcode = rapid.SampledFrom([]int{0, 0, 0, 0, 2, 4, 5, 6, 15}).Draw(t, "opcode")
		if o := asked.IsEdns0(); o != nil && rapid.IntRange(0, 9).Draw(t, "version") == 0 {
			o.SetVersion(1)
		}
		packet, err := asked.Pack()
		if err != nil {
			t.Fatal(err)
		}
		request := dns.Request{Packet: packet, Source: netip.MustParseAddr("192.88.99.1"), Over: over(stream), Now: time.Now(), Seed: rapid.Uint64().Draw(t, "seed")}
		plain, got := responder.Respond(w.s, request, nil), new(mdns.Msg)
		signedBy("other.", mdns.HmacSHA512)(asked)
		if request.Packet, _, err = mdns.TsigGenerate(asked, secrets["other."], "", false); err != nil {
			t.Fatal(err)
		}
		if err := got.Unpack(responder.Respond(w.s, request, nil)); err != nil || got.IsTsig() == nil || got.IsTsig().Error != 0 {
			t.Fatalf("%s: %v in\n%s", words, err, got)
		}
		want := new(mdns.Msg)
		if err := want.Unpack(plain); err != nil {
			t.Fatal(err)
		}
		got.Extra = got.Extra[:len(got.Extra)-1]
		if got.Truncated && !stream { // the signature takes room
			return
		}
		if g, w := got.String(), want.String(); g != w {
			t.Fatalf("%s\nsigned:\n%s\nnot:\n%s", words, g, w)
		}
	})
}
