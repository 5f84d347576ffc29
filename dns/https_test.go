package dns

import (
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestLeastTTL(t *testing.T) {
	for _, tc := range []struct {
		name    string
		records [3][]string // by section
		opt     bool
		want    time.Duration
	}{
		{"one record", [3][]string{{"a.test. 300 IN A 192.0.2.1"}}, false, 300},
		{"the least, of whatever section", [3][]string{{"a.test. 300 IN CNAME b.test.", "b.test. 60 IN A 192.0.2.1"}, {"test. 20 IN NS ns.test."}, {"ns.test. 90 IN A 192.0.2.2"}}, true, 20},
		{"not of the OPT record, whose TTL is none", [3][]string{{"a.test. 300 IN A 192.0.2.1"}}, true, 300},
		{"of a denial", [3][]string{nil, {"test. 60 IN SOA ns.test. h.test. 1 2 3 4 60"}}, true, 60},
		{"none", [3][]string{{"a.test. 0 CH TXT x"}, {"test. 20 IN NS ns.test."}}, false, 0},
		{"without records", [3][]string{}, true, 0},
	} {
		m := new(dns.Msg)
		m.SetQuestion("a.test.", dns.TypeA)
		m.Compress = true
		for i, section := range []*[]dns.RR{&m.Answer, &m.Ns, &m.Extra} {
			for _, text := range tc.records[i] {
				rr, err := dns.NewRR(text)
				if err != nil {
					t.Fatal(err)
				}
				*section = append(*section, rr)
			}
		}
		if tc.opt {
			m.SetEdns0(1232, true)
		}
		reply, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		if got := leastTTL(reply); got != tc.want*time.Second {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want*time.Second)
		}
		for n := range reply {
			leastTTL(reply[:n]) // does not run over the end
		}
	}
}
