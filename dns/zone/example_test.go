package zone_test

import (
	"fmt"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

func Example() {
	z, problems := zone.Build(zone.Spec{
		Origin: "ok.test",
		TTL:    3600,
		NS:     []string{"ns1"},
		Texts: []zone.Text{{File: "ok.test.zone", Line: 1, Text: `
ns1   A      192.0.2.53
mail  A      192.0.2.25
@     MX     10 mail
blog  CNAME  blogs.example.
`}},
		Services: []zone.ServiceName{{Name: "*.vid", Service: 7, Pinned: "video", Gives: []uint16{dns.TypeA, dns.TypeAAAA}}},
	})
	fmt.Println(len(problems), "problems")
	for _, s := range []string{"blog.ok.test", "one.vid.ok.test", "vid.ok.test", "nothing.ok.test"} {
		name, err := zone.ParseName(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		switch m := z.Find(name); {
		case m.Kind == zone.Missing:
			fmt.Println(name, "does not exist, only", m.Encloser)
		case m.Node.Service >= 0:
			fmt.Println(name, "is given by service", m.Node.Service, "at", m.Owner)
		default:
			fmt.Println(name, "has types", m.Node.Types())
		}
	}
	// Output:
	// 0 problems
	// blog.ok.test. has types [5]
	// one.vid.ok.test. is given by service 7 at *.vid.ok.test.
	// vid.ok.test. has types []
	// nothing.ok.test. does not exist, only ok.test.
}

func ExampleBuild_mistakes() {
	_, problems := zone.Build(zone.Spec{
		Origin: "ok.test",
		TTL:    3600,
		NS:     []string{"ns1"},
		Texts:  []zone.Text{{File: "ok.test.zone", Line: 1, Text: "www A 192.0.2\nwww CNAME x.example.\nwww TXT hello\n"}},
	})
	for _, p := range problems {
		fmt.Printf("ok.test.zone:%d:%d: %s\n", p.Line, p.Column, p.Message)
	}
	// Output:
	// ok.test.zone:1:7: "192.0.2" is not an IPv4 address
	// ok.test.zone:2:1: www.ok.test. has a CNAME and other data (TXT at line 3): a CNAME stands alone (RFC 1034 section 3.6.2)
}
