package rpki_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"gslb/bgp/rpki"
)

func vrp(prefix string, most int, asn uint32) rpki.VRP {
	return rpki.VRP{Prefix: netip.MustParsePrefix(prefix), MaxLength: most, ASN: asn}
}

func ExampleSet_Validate() {
	set := rpki.NewSet([]rpki.VRP{{Prefix: netip.MustParsePrefix("203.0.112.0/20"), MaxLength: 24, ASN: 64501}})
	fmt.Println(set.Validate(netip.MustParsePrefix("203.0.113.0/24"), 64501))
	fmt.Println(set.Validate(netip.MustParsePrefix("203.0.113.0/24"), 64502))
	fmt.Println(set.Validate(netip.MustParsePrefix("198.51.100.0/24"), 64502))
	// Output:
	// valid
	// invalid
	// not found
}

func TestValidate(t *testing.T) {
	set := rpki.NewSet([]rpki.VRP{
		vrp("203.0.112.0/20", 22, 64501), vrp("203.0.112.0/20", 24, 64502), vrp("198.51.100.0/24", 24, 0), vrp("2001:db8::/32", 48, 64501),
	})
	for _, tc := range []struct {
		prefix string
		origin uint32
		want   rpki.State
	}{
		{"203.0.112.0/20", 64501, rpki.Valid},
		{"203.0.112.0/22", 64501, rpki.Valid},
		{"203.0.112.0/23", 64501, rpki.Invalid}, // longer than allowed
		{"203.0.113.0/24", 64502, rpki.Valid},
		{"203.0.113.0/24", 64503, rpki.Invalid},
		{"203.0.113.0/24", 0, rpki.Invalid},      // an AS_SET
		{"203.0.96.0/19", 64501, rpki.NotFound},  // around the VRP
		{"198.51.100.0/24", 64501, rpki.Invalid}, // AS 0: nobody may
		{"198.51.100.0/24", 0, rpki.Invalid},
		{"2001:db8:1::/48", 64501, rpki.Valid},
		{"2001:db8:1::/49", 64501, rpki.Invalid},
		{"::/0", 64501, rpki.NotFound},
	} {
		if got := set.Validate(netip.MustParsePrefix(tc.prefix), tc.origin); got != tc.want {
			t.Errorf("%s from %d: %s, want %s", tc.prefix, tc.origin, got, tc.want)
		}
	}
	var none *rpki.Set
	if got := none.Validate(netip.MustParsePrefix("203.0.113.0/24"), 1); got != rpki.NotFound || none.Len() != 0 {
		t.Errorf("no set: %s", got)
	}
}

func TestDoublesAndNonsenseAreLeftOut(t *testing.T) {
	set := rpki.NewSet([]rpki.VRP{vrp("203.0.112.0/20", 24, 1), vrp("203.0.112.0/20", 24, 1), vrp("203.0.112.0/20", 19, 1), vrp("203.0.112.0/20", 33, 1), {}})
	if set.Len() != 1 {
		t.Errorf("%d VRPs, want 1", set.Len())
	}
}

func TestReadsWhatValidatorsWrite(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"rpki-client", `{"metadata": {"buildtime": "x", "counts": [1, {"a": 2}]}, "roas": [{"asn": 64501, "prefix": "203.0.112.0/20", "maxLength": 24, "ta": "ripe", "expires": 1}]}`,
			"[{203.0.112.0/20 24 64501}] <nil>"},
		{"Routinator", `{"roas": [{"asn": "AS64501", "prefix": "2001:db8::/32", "maxLength": 48, "ta": "ripe"}], "aspas": []}`, "[{2001:db8::/32 48 64501}] <nil>"},
		{"without a length", `{"roas": [{"asn": "64501", "prefix": "203.0.112.0/20"}]}`, "[{203.0.112.0/20 20 64501}] <nil>"},
		{"an empty list", `{"roas": []}`, "[] <nil>"},
		{"no list", `{"vrps": []}`, `[] there is no list "roas"`},
		{"a list", `[]`, "[] [ stands where { should"},
		{"not a list", `{"roas": {}}`, "[] { stands where [ should"},
		{"no ASN", `{"roas": [{"asn": "ASx", "prefix": "203.0.112.0/20"}]}`, `[] entry 1: "ASx" is no ASN`},
		{"an ASN too large", `{"roas": [{"asn": 4294967296, "prefix": "203.0.112.0/20"}]}`, `[] entry 1: 4294967296 is no ASN`},
		{"a length too short", `{"roas": [{"asn": 1, "prefix": "203.0.112.0/20", "maxLength": 19}]}`, "[] entry 1: 203.0.112.0/20 up to /19 is no prefix with a length inside it"},
		{"host bits", `{"roas": [{"asn": 1, "prefix": "203.0.113.0/20"}]}`, "[] entry 1: 203.0.113.0/20 up to /20 is no prefix with a length inside it"},
		{"cut off", `{"roas": [{"asn": 1, "prefix": "203.0.112.0/20"}`, "[] unexpected end of JSON input"},
		{"nothing", ``, "[] EOF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			vrps, err := rpki.Read(strings.NewReader(tc.text))
			got := fmt.Sprint(vrps, err)
			if err != nil {
				got = fmt.Sprint("[] ", err)
			}
			if got != tc.want && !(tc.name == "cut off" && err != nil) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"roas": [{"asn": "AS64501", "prefix": "2001:db8::/32", "maxLength": 48}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		vrps, err := rpki.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, v := range vrps {
			if v.MaxLength < v.Prefix.Bits() || v.Prefix != v.Prefix.Masked() {
				t.Errorf("%v was read", v)
			}
		}
	})
}
