package zone

import (
	"testing"

	"github.com/miekg/dns"
)

func serial(t *testing.T, s Spec) uint32 {
	t.Helper()
	z := build(t, s)
	return z.Records(z.node(z.origin), z.SOA())[0].(*dns.SOA).Serial
}

// base is a zone with an automatic serial.
func base() Spec {
	s := fromText("ns1 A 192.0.2.1\nwww A 192.0.2.2\nwww A 192.0.2.3\nmail MX 10 Mail.Example.\n")
	s.NS = []string{"ns1"}
	s.SOA = &SOA{MName: "ns1", RName: "hostmaster", Auto: true, Refresh: 1, Retry: 2, Expire: 3, Minimum: 4}
	s.Services = []ServiceName{addressService("@", 0), addressService("m", 1)}
	return s
}

func TestAutomaticSerialIgnoresHowTheZoneIsWritten(t *testing.T) {
	want := serial(t, base())
	same := map[string]func(*Spec){
		"order": func(s *Spec) {
			s.Texts[0].Text = "mail MX 10 Mail.Example.\nwww A 192.0.2.3\nns1 A 192.0.2.1\nwww A 192.0.2.2\n"
		},
		"comments": func(s *Spec) { s.Texts[0].Text = "; hello\n\n" + s.Texts[0].Text + "; bye" },
		"case": func(s *Spec) {
			s.Texts[0].Text = "MAIL mx 10 MAIL.EXAMPLE.\nNS1 A 192.0.2.1\nWWW A 192.0.2.2\n A 192.0.2.3"
		},
		"case of keys":              func(s *Spec) { s.NS[0], s.SOA.MName, s.Origin = "NS1", "Ns1", "OK.Test." },
		"duplicates":                func(s *Spec) { s.Texts[0].Text += "www A 192.0.2.2\n" },
		"explicit TTL":              func(s *Spec) { s.Texts[0].Text += "$ORIGIN www.ok.test.\n@ 3600 A 192.0.2.2\n" },
		"service index":             func(s *Spec) { s.Services[0].Service = 9 },
		"service order":             func(s *Spec) { s.Services[0], s.Services[1] = s.Services[1], s.Services[0] },
		"file":                      func(s *Spec) { s.Texts[0].File, s.Texts[0].Line = "other", 7 },
		"written serial in the key": func(s *Spec) { s.SOA.Serial = 7 },
		"NS as record":              func(s *Spec) { s.NS = nil; s.Texts[0].Text += "@ NS ns1\n" },
	}
	for name, change := range same {
		s := base()
		change(&s)
		if got := serial(t, s); got != want {
			t.Errorf("%s: serial %d, want %d", name, got, want)
		}
	}
}

func TestAutomaticSerialFollowsTheContent(t *testing.T) {
	seen := map[uint32]string{serial(t, base()): "base"}
	other := map[string]func(*Spec){
		"address":      func(s *Spec) { s.Texts[0].Text += "www A 192.0.2.4\n" },
		"TTL":          func(s *Spec) { s.TTL = 60 },
		"minimum":      func(s *Spec) { s.SOA.Minimum = 5 },
		"mname":        func(s *Spec) { s.SOA.MName = "ns2" },
		"name server":  func(s *Spec) { s.NS = append(s.NS, "ns.example.") },
		"service":      func(s *Spec) { s.Services[1].Pinned = "video" },
		"service name": func(s *Spec) { s.Services[1].Name = "n" },
		"no service":   func(s *Spec) { s.Services = s.Services[:1] },
		"case of text": func(s *Spec) { s.Texts[0].Text += "t TXT Hello\n" },
		"text":         func(s *Spec) { s.Texts[0].Text += "t TXT hello\n" },
	}
	for name, change := range other {
		s := base()
		change(&s)
		got := serial(t, s)
		if got == 0 || seen[got] != "" {
			t.Errorf("%s: serial %d, as in %q", name, got, seen[got])
		}
		seen[got] = name
	}
}

// TestAutomaticSerialStaysOverReleases pins a value: servers of two releases must agree.
func TestAutomaticSerialStaysOverReleases(t *testing.T) {
	if got, want := serial(t, base()), uint32(2652863336); got != want {
		t.Errorf("serial %d, want %d", got, want)
	}
}

func TestWrittenSerialIsKept(t *testing.T) {
	s := base()
	s.SOA.Auto, s.SOA.Serial = false, 2026112501
	if got := serial(t, s); got != 2026112501 {
		t.Errorf("serial %d", got)
	}
	if got := serial(t, fromText("@ SOA ns.example. h 42 1 2 3 4\n")); got != 42 {
		t.Errorf("serial %d from the text, want 42", got)
	}
}
