package dns_test

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	mdns "github.com/miekg/dns"

	"gslb/dns"
	"gslb/dns/steer"
)

// Reasons pass the names that the answer passes, whether records, a DNAME or a service lead from one to the next, and
// have the scope that the answer has.
func TestReasonsPassTheNamesOfTheAnswer(t *testing.T) {
	more := strings.NewReplacer("    services: {www: web", `      moved DNAME old
      hop   DNAME vid
      c1    CNAME c2
      c2    CNAME c3
      c3    CNAME c4
      c4    CNAME c5
      c5    CNAME c6
      c6    CNAME c7
      c7    CNAME c8
      c8    CNAME c9
      c9    CNAME www
      toled CNAME led
    services: {www: web`).Replace(text)
	s := snapshotOf(t, more)
	for _, name := range []string{
		"www", "alias", "deep", "away", "broken", "loop1", "self", "into", "host.child", "x.turn", "a.turn", "y.x.turn", "x.alias2", "grow", "x.grow",
		"x.old", "y.old", "x.moved", "a.hop", "a.b.hop", "c1", "c2", "c3", "led", "a.led", "toled", "inner", "nope", "ent", "a.vid",
	} {
		name += ".ok.test."
		for _, client := range []string{"203.0.113.0/24", "8.8.8.0/24", "8.8.8.0/0"} {
			answer, reasons := told(t, s, name+" A +ecs="+client), told(t, s, name+" TXT CH +ecs="+client)
			if got, want := named(reasons), passed(answer); !slices.Equal(got, want) {
				t.Errorf("%s for %s: reasons tell of %s, the answer passes %s", name, client, got, want)
			}
			if got, want := scope(reasons), scope(answer); got != want {
				t.Errorf("%s for %s: reasons have the scope %d, the answer %d", name, client, got, want)
			}
		}
	}
}

// told is the reply to a question by TCP.
func told(t *testing.T, s *steer.Snapshot, words string) *mdns.Msg {
	t.Helper()
	packet, _ := question(t, words)
	m := new(mdns.Msg)
	req := dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Over: dns.TCP, Now: noon}
	if err := m.Unpack(dns.NewResponder("ns1", "test").Respond(s, req, nil)); err != nil {
		t.Fatal(err)
	}
	return m
}

// passed are the names in the zone that an answer tells of: the asked one, and those that aliases lead to, each once.
func passed(m *mdns.Msg) []string {
	names := []string{strings.TrimSuffix(m.Question[0].Name, ".")}
	for _, rr := range m.Answer {
		alias, ok := rr.(*mdns.CNAME)
		if !ok {
			continue
		}
		name := strings.ToLower(strings.TrimSuffix(alias.Target, "."))
		if strings.HasSuffix(name, ".ok.test") && !strings.HasSuffix(name, ".sub.ok.test") && !slices.Contains(names, name) && len(names) < steer.MaxChain {
			names = append(names, name)
		}
	}
	return names
}

// named are the names that reasons tell of.
func named(m *mdns.Msg) (names []string) {
	for _, rr := range m.Answer {
		if found := regexp.MustCompile(`^name=(\S+)`).FindStringSubmatch(strings.Join(rr.(*mdns.TXT).Txt, "")); found != nil {
			names = append(names, found[1])
		}
	}
	return names
}

func scope(m *mdns.Msg) uint8 {
	for _, o := range m.IsEdns0().Option {
		if subnet, ok := o.(*mdns.EDNS0_SUBNET); ok {
			return subnet.SourceScope
		}
	}
	return 0
}
