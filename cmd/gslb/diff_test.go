package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gslb/dns/traffic"
)

func TestReadsClients(t *testing.T) {
	const text = "\ufeff# of Monday\n203.0.113.7 10\n\n  198.51.100.99/24\t5 # a network\n2001:db8::1\n"
	got, err := readCrowds("c", strings.NewReader(text))
	want := []traffic.Crowd{
		{Address: netip.MustParseAddr("203.0.113.7"), Weight: 10},
		{Address: netip.MustParseAddr("198.51.100.0"), Weight: 5},
		{Address: netip.MustParseAddr("2001:db8::1"), Weight: 1},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

func TestRefusesClients(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nobody", "# nobody\n", "c: there is no client in it"},
		{"nobody at an address", "203.0.113.7 0\n", "c: there is no client in it"},
		{"a name", "\nwww.ok.test 3\n", `c:2: "www.ok.test" is neither an address nor a network`},
		{"less than nobody", "203.0.113.7 -1\n", `c:1: "-1" is not a number of clients`},
		{"more than there can be", "203.0.113.7 9007199254740993\n", `c:1: "9007199254740993" is not a number of clients`},
		{"a zone", "fe80::1%eth0 2\n", `c:1: "fe80::1%eth0" has a zone, which means nothing to others`},
		{"a word too many", "203.0.113.7 1 2\n", "c:1: a line must be ADDRESS or ADDRESS COUNT"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := readCrowds("c", strings.NewReader(tc.text)); err == nil || err.Error() != tc.want {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func FuzzReadCrowds(f *testing.F) {
	f.Add("203.0.113.7 10\n# x\n2001:db8::/32 5\n")
	f.Add("203.0.113.7 1e9\n::ffff:192.0.2.1/120\nfe80::1%eth0 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := readCrowds("c", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, c := range all {
			if !c.Address.IsValid() || !(c.Weight >= 0 && c.Weight <= mostClients) {
				t.Errorf("read %v", c)
			}
		}
	})
}
