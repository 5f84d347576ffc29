package bgp

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gslb/test/rig"
)

func TestPartnersNetworkAndNobodyElseIsSentToItsSite(t *testing.T) {
	t.Parallel()
	s, b := beside(t)
	member := newRouteServer(t, vacant(t, s.net.host(10)))
	member.configure(routes("four", "203.0.113.0/24"), fmt.Sprintf(`protocol bgp exchange {
	local %s port %d as 64502;
	strict bind yes;
	neighbor %s port %d as 64501;
	multihop;
	connect delay time 1;
	ipv4 { import none; export all; };
}
`, member.at.Addr(), member.at.Port(), b.at.Addr(), b.at.Port()))
	b.configure(fmt.Sprintf(`protocol bgp behind {
	local %s port %d as 64501;
	strict bind yes;
	neighbor %s port %d as 64502;
	rs client;
	multihop;
	passive;
	ipv4 { import all; export none; import keep filtered; };
}
`, b.at.Addr(), b.at.Port(), member.at.Addr(), member.at.Port()), strings.Replace(b.session("gslb", s.bgp, ""), "bgp_path.prepend(64502);", "", 1))
	b.begin()
	s.configure(birdPartner(b, ", local: OURS", ""))
	s.begin()
	b.established("gslb")
	s.keeps("203.0.113.1", "msk")
	announced := time.Now()
	member.begin()
	s.sends("203.0.113.1", "nsk")
	t.Logf("steered %v after the member's router started", time.Since(announced).Round(time.Millisecond))
	for client, site := range map[string]string{
		"203.0.113.0": "nsk", "203.0.113.255": "nsk", "203.0.112.255": "msk", "203.0.114.0": "msk", "198.51.100.9": "msk", "2001:db8::1": "msk",
	} {
		s.keeps(client, site)
	}
	s.says("203.0.113.1", "placed=partners partner=sibtel prefix=203.0.113.0/24 origin=64502 peer="+b.at.Addr().String()+" age=")
	dig, err := exec.Command("dig", "+short", "@"+s.dns.Addr().String(), "-p", fmt.Sprint(s.dns.Port()), "+subnet=203.0.113.0/24", "video.ok.test").CombinedOutput()
	if err != nil || string(dig) != "198.51.100.1\n" {
		t.Errorf("dig answers %q (%v)", dig, err)
	}
}

func TestWithdrawnPrefixLeavesAndTheRestStays(t *testing.T) {
	t.Parallel()
	s, b, session := steered(t, "", "203.0.113.0/24", "203.0.114.0/24")
	since := b.established("gslb")
	b.configure(routes("four", "203.0.114.0/24"), session)
	s.sends("203.0.113.1", "msk")
	s.keeps("203.0.114.1", "nsk")
	b.configure(routes("four", "203.0.114.0/24", "203.0.113.0/24"), session)
	s.sends("203.0.113.1", "nsk")
	b.untouched("gslb", since)
}

func TestPrefixesOfALostSessionAreStaleUntilTheirTimeIsOut(t *testing.T) {
	t.Parallel()
	s, b, _ := steered(t, "    stale: 3s", "203.0.113.0/24")
	lost := time.Now()
	b.kill()
	s.says("203.0.113.1", "placed=partners", " stale=")
	known := time.Now()
	for {
		asked := time.Now()
		line := s.reason("203.0.113.1")
		if !strings.Contains(line, " stale=") {
			break
		}
		age := stale(t, line)
		if least, most := asked.Sub(known).Truncate(time.Second)-time.Second, time.Since(lost); age < least || age > most {
			t.Errorf("stale=%v, want %v to %v", age, least, most)
		}
		if age > 3*time.Second {
			t.Fatalf("the prefix is there still: %s", line)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if after := time.Since(lost); after < 2900*time.Millisecond {
		t.Errorf("the prefix left after %v, want 3s", after)
	}
	s.sends("203.0.113.1", "msk")
	s.logs(0, "stale prefixes left")
	rig.Until(t, rig.Soon, "told", func() string {
		if events := s.gslb("events"); !strings.Contains(events, " 1 prefix left: stale for longer than 3s") {
			return events
		}
		return "told"
	})
}

func TestShutdownByThePartnerCountsAtOnce(t *testing.T) {
	t.Parallel()
	s, b, _ := steered(t, "", "203.0.113.0/24")
	b.command("disable", "gslb")
	s.sends("203.0.113.1", "msk") // prefixes that are only stale would stay for minutes
	s.logs(0, "the peer sent cease, administrative shutdown (6/2)")
	b.command("enable", "gslb")
	s.sends("203.0.113.1", "nsk")
	s.says("203.0.113.1", " age=")
	if line := s.reason("203.0.113.1"); strings.Contains(line, "stale") {
		t.Errorf("it is stale after it came back: %s", line)
	}
}

func TestPartnerThatComesBackWithFewerPrefixesLosesTheRest(t *testing.T) {
	t.Parallel()
	s, b, session := steered(t, "", "203.0.113.0/24", "203.0.114.0/24")
	b.kill()
	s.says("203.0.113.1", " stale=")
	s.says("203.0.114.1", " stale=")
	b.configure(routes("four", "203.0.114.0/24"), session)
	b.begin()
	s.sends("203.0.113.1", "msk")
	s.keeps("203.0.114.1", "nsk")
	if line := s.reason("203.0.114.1"); strings.Contains(line, "stale") {
		t.Errorf("it is stale after it was confirmed: %s", line)
	}
}
