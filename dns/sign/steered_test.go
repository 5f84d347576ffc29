package sign

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// What a service gives is signed whatever its records are, and whatever their order: also where one has a length of more than
// an octet, as an HTTPS record with many hints.
func TestSignsWhatAServiceGives(t *testing.T) {
	s := newScene(t, Rules{})
	z, www := s.signed(), name(t, "www.ok.test")
	steered, now := z.Steered(s.source.Zone.Find(www).Node), uint32(s.now.Unix())
	long, short := "\xff"+strings.Repeat("x", 255)+"\x2c"+strings.Repeat("y", 44), "\x01z"
	first, second := "\x01\x2d"+long, "\x00\x02"+short
	made := steered.Signature(www, dns.TypeTXT, []byte(first+second), now)
	rr := s.source.Zone.RecordsAt(www, made.Records())[0].(*dns.RRSIG)
	set := s.source.Zone.RecordsAt(www, zone.NewRRset(dns.TypeTXT, 60, short, long))
	if err := rr.Verify(&z.apex.Load().ring.data[0].public, set); err != nil {
		t.Error(err)
	}
	asked := s.signer.Counts.Asked.Load()
	if again := steered.Signature(www, dns.TypeTXT, []byte(second+first), now); again != made || s.signer.Counts.Asked.Load() != asked {
		t.Error("the same records in another order are signed anew")
	}
	if other := steered.Signature(www, dns.TypeTXT, []byte(second), now); other == made {
		t.Error("other records have the same signature")
	}
}

// A proof must not deny more than is lacking: resolvers believe it of every type (RFC 8198).
func TestADenialTakesAwayOnlyWhatIsLacking(t *testing.T) {
	const a, aaaa, https, cname, srv = dns.TypeA, dns.TypeAAAA, dns.TypeHTTPS, dns.TypeCNAME, dns.TypeSRV
	for _, tc := range []struct {
		gives []uint16
		lack  Lack
		want  []uint16
	}{
		{[]uint16{a, aaaa}, 0, []uint16{a, aaaa}},
		{[]uint16{a, aaaa}, LacksIPv4, []uint16{aaaa}},
		{[]uint16{a, aaaa}, LacksIPv6, []uint16{a}},
		{[]uint16{a, aaaa}, lacks, nil},
		{[]uint16{a, aaaa, https}, LacksIPv4, []uint16{aaaa, https}},
		{[]uint16{a, aaaa, https}, LacksIPv6, []uint16{a, https}},
		{[]uint16{a, aaaa, https}, lacks, nil},
		{[]uint16{a, https}, LacksIPv4, nil},
		{[]uint16{aaaa, https}, LacksIPv6, nil},
		{[]uint16{cname}, LacksIPv4, nil},
		{[]uint16{srv}, LacksIPv6, []uint16{srv}},
	} {
		if got := tc.lack.from(tc.gives); !slices.Equal(got, tc.want) {
			t.Errorf("%v without %b: %v, want %v", tc.gives, tc.lack, got, tc.want)
		}
	}
}
