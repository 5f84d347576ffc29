package bgp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gslb/test/rig"
)

func TestCommunitiesSetThePreferenceAndWhatIsIgnored(t *testing.T) {
	t.Parallel()
	s, b := beside(t)
	rival := newRouteServer(t, vacant(t, s.net.host(10)))
	rival.configure(routes("four", "203.0.112.0/24", "203.0.113.0/24", "203.0.114.0/24", "203.0.115.0/24", "203.0.116.0/24", "203.0.120.0/24"), rival.session("gslb", s.bgp, ""))
	rival.begin()
	b.configure(routes("four",
		"203.0.112.0/24 { bgp_community.add((64501,150)); }",
		"203.0.113.0/24 { bgp_community.add((64501,50)); }",
		"203.0.114.0/24 { bgp_large_community.add((64501,1,150)); }",
		"203.0.115.0/24 { bgp_community.add((64501,666)); }",
		"203.0.116.0/24 { bgp_large_community.add((64501,6,6)); }",
		"203.0.117.0/24 { bgp_community.add((64501,666)); }",
		"203.0.118.0/24 { bgp_large_community.add((64501,6,6)); }",
		"203.0.119.0/24 { bgp_community.add((64501,7)); }",
		"203.0.120.0/24 { bgp_community.add((65535,0)); }"), b.session("gslb", s.bgp, ""))
	b.begin()
	meanings := `    communities: {"64501:150": prefer 150, "64501:50": prefer 50, "64501:1:150": prefer 150, "64501:666": ignore, "64501:6:6": ignore}`
	s.configure(birdPartner(b, ", local: OURS", meanings) +
		partnerText("rival", "spb", fmt.Sprintf(`address: %s, port: %d, asn: 64501, local: OURS`, rival.at.Addr(), rival.at.Port()), ""))
	s.begin()
	s.sends("203.0.113.1", "spb")
	s.sends("203.0.119.1", "nsk")
	for client, site := range map[string]string{
		"203.0.112.1": "nsk", "203.0.114.1": "nsk", "203.0.115.1": "spb", "203.0.116.1": "spb", "203.0.117.1": "msk", "203.0.118.1": "msk", "203.0.120.1": "spb",
	} {
		s.keeps(client, site)
	}
}

func TestTooManyPrefixesCloseTheSessionAndTheOldSetStays(t *testing.T) {
	t.Parallel()
	s, b := beside(t)
	session := b.session("gslb", s.bgp, "")
	b.configure(routes("four", "203.0.113.0/24", "203.0.114.0/24"), session)
	b.begin()
	s.configure(birdPartner(b, ", local: OURS", "    accept: {within: [203.0.112.0/20], max_prefixes: 2}\n    stale: 10s"))
	s.begin()
	s.sends("203.0.113.1", "nsk")
	b.configure(routes("four", "203.0.113.0/24", "203.0.114.0/24", "203.0.115.0/24"), session)
	s.says("203.0.113.1", "placed=partners", " stale=")
	s.keeps("203.0.114.1", "nsk")
	s.keeps("203.0.115.1", "msk")
	rig.Until(t, rig.Soon, "the words", func() string {
		return wordless(b.command("show", "protocols", "all", "gslb"), []string{"Maximum number of prefixes reached"})
	})
	s.sends("203.0.113.1", "msk")
	b.configure(routes("four", "203.0.113.0/24"), session)
	s.sends("203.0.113.1", "nsk")
}

func TestPrefixesThatThePolicyDoesNotAcceptSteerNobody(t *testing.T) {
	t.Parallel()
	s, b := beside(t)
	b.configure(routes("four", "203.0.113.0/24", "203.0.114.128/25", "198.51.100.0/24", "10.1.0.0/16", "0.0.0.0/0", "203.0.96.0/19"), b.session("gslb", s.bgp, ""))
	b.begin()
	s.configure(birdPartner(b, ", local: OURS", ""))
	s.begin()
	s.sends("203.0.113.1", "nsk")
	for _, client := range []string{"203.0.114.129", "198.51.100.1", "192.0.2.1", "203.0.112.1"} {
		s.keeps(client, "msk")
	}
	s.configure(birdPartner(b, ", local: OURS", "    accept: {origins: [64999]}"))
	s.sends("203.0.113.1", "msk")
	s.configure(birdPartner(b, ", local: OURS", "    accept: {origins: [64999, 64502], lengths: {ipv4: 8-25}}"))
	s.sends("203.0.113.1", "nsk")
	s.sends("203.0.114.129", "nsk")
	s.sends("198.51.100.1", "nsk")
}

func TestShadowOfAPartnerSteersNobody(t *testing.T) {
	t.Parallel()
	s, b := beside(t)
	b.configure(routes("four", "203.0.113.0/24"), b.session("gslb", s.bgp, ""))
	b.begin()
	s.configure(birdPartner(b, ", local: OURS", "    shadow: true"))
	s.begin()
	since := b.established("gslb")
	time.Sleep(2 * time.Second)
	s.keeps("203.0.113.1", "msk")
	s.configure(birdPartner(b, ", local: OURS", ""))
	s.sends("203.0.113.1", "nsk")
	b.untouched("gslb", since)
}

func TestSecondPartnerServesWhenTheFirstCannot(t *testing.T) {
	t.Parallel()
	s, b := beside(t)
	second := newRouteServer(t, vacant(t, s.net.host(10)))
	for _, r := range []*routeServer{b, second} {
		r.configure(routes("four", "203.0.113.0/24"), r.session("gslb", s.bgp, ""))
		r.begin()
	}
	s.configure(birdPartner(b, ", local: OURS", "    stale: 2s") + partnerText("uraltel", "spb",
		fmt.Sprintf("address: %s, port: %d, asn: 64501, local: OURS", second.at.Addr(), second.at.Port()),
		"    stale: 2s\n    accept: {origins: [64502]}"))
	s.begin()
	second.established("gslb")
	b.established("gslb")
	s.sends("203.0.113.1", "nsk") // or spb: they are equals
	s.sends("203.0.113.1", "spb")
	if out := s.gslb("drain", "nsk", "--reason", "cooling work"); !strings.Contains(out, "nsk") {
		t.Errorf("drain says %q", out)
	}
	s.always("203.0.113.1", "spb")
	s.gslb("undrain", "nsk")
	s.sends("203.0.113.1", "nsk")
	second.command("disable", "gslb")
	s.always("203.0.113.1", "nsk")
	second.command("enable", "gslb")
	s.sends("203.0.113.1", "spb")
	b.kill()
	s.always("203.0.113.1", "spb")
	second.kill()
	s.always("203.0.113.1", "msk")
}

func TestPeerThatAnnouncedTooManyPrefixesIsLeftAloneUntilItsReset(t *testing.T) {
	t.Parallel()
	s := serving(t, func(s *server) string {
		return partnerText("sibtel", "nsk", fmt.Sprintf("address: %s, asn: 64501, passive: true", s.net.host(5)), "    stale: 10m\n    accept: {within: [60.0.0.0/8], max_prefixes: 2}")
	})
	h := s.established(s.net.host(5), fair(), good("60.1.1.0/24"), good("60.1.2.0/24"))
	s.sends("60.1.2.1", "nsk")
	if err := h.send(update(nlri("60.1.1.0/24"), base(), join(nlri("60.1.3.0/24"), nlri("60.1.4.0/24")))); err != nil {
		t.Fatal(err)
	}
	if got := h.verdict(); got != "6/1" {
		t.Errorf("got %s, want NOTIFICATION 6/1", got)
	}
	h.conn.Close()
	peer := s.net.host(5).String()
	rig.Until(t, rig.Soon, "the words", func() string {
		return wordless(s.gslb("partners"), []string{" suspended ", " 2 for ", "sibtel " + peer + ": it announced too many prefixes", "(9m", "or until gslb partners reset sibtel"})
	})
	for client, site := range map[string]string{"60.1.1.1": "nsk", "60.1.2.1": "nsk", "60.1.3.1": "msk", "60.1.4.1": "msk"} {
		s.keeps(client, site) // the last set before it, whole
	}
	s.says("60.1.1.1", "placed=partners", " stale=")
	for out, words := range map[string][]string{
		s.gslb("routes"):             {"60.1.1.0/24", "60.1.2.0/24", "wins, stale "},
		s.gslb("partners", "--json"): {`"state": "suspended"`, `"suspended_until": `, `"stale": 2`},
		s.gslb("events"):             {"announced too many prefixes: the last set stays, stale"},
		s.log.String():               {"too many prefixes: session closed", "partner=sibtel", "until="},
	} {
		if got := wordless(out, words); got != "the words" {
			t.Error(got)
		}
	}
	if h, err := s.dial(s.net.host(5)); err == nil {
		_ = h.send(fair().message()) // it may be closed by now
		if got := h.verdict(); got != "closed" {
			t.Errorf("a connection during the pause got %s, want it closed", got)
		}
		h.conn.Close()
	}
	if out := s.gslb("partners", "reset", "sibtel"); !strings.Contains(out, peer+" begins anew, was suspended") {
		t.Errorf("reset says %q", out)
	}
	h = s.established(s.net.host(5), fair(), good("60.1.1.0/24"), good("60.1.3.0/24"))
	defer h.conn.Close()
	s.sends("60.1.3.1", "nsk")
	s.sends("60.1.2.1", "msk")
	s.confirms("60.1.1.1")

	s.rewrite("max_prefixes: 2", "max_prefixes: 1") // counts for what is there
	if got := h.verdict(); got != "6/1" {
		t.Errorf("after the bound was lowered: got %s, want NOTIFICATION 6/1", got)
	}
	s.says("60.1.1.1", "placed=partners", " stale=")
}
