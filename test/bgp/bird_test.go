package bgp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb/test/rig"
)

func TestBIRDThatRestartsGracefullyConfirms(t *testing.T) {
	t.Parallel()
	s, b := beside(t)
	session := b.session("gslb", s.bgp, "graceful restart on; graceful restart time 30;")
	b.configure(routes("four", "203.0.113.0/24", "203.0.114.0/24"), session)
	b.begin()
	s.configure(birdPartner(b, ", local: OURS", "    stale: 60s"))
	s.begin()
	s.sends("203.0.113.1", "nsk")
	stop := s.watch("203.0.113.1", "nsk")
	b.command("graceful", "restart") // which ends it
	s.says("203.0.113.1", "placed=partners", " stale=")
	s.says("203.0.114.1", "placed=partners", " stale=")
	b.kill()
	b.configure(routes("four", "203.0.113.0/24"), session)
	b.begin("-R")
	s.sends("203.0.114.1", "msk")
	s.confirms("203.0.113.1")
	if asked, other := stop(); len(other) > 0 {
		t.Errorf("%d of %d answers were others: %v", len(other), asked, other)
	}
}

func TestBIRDSendsSeveralPathsOfAPrefix(t *testing.T) {
	t.Parallel()
	s, b := beside(t)
	session := strings.ReplaceAll(b.session("gslb", s.bgp, ""), "next hop address", "add paths tx; next hop address")
	b.configure(routes("four", "203.0.113.0/24 { bgp_community.add((64501,50)); }"), routes("more", "203.0.113.0/24 { bgp_community.add((64501,150)); }"), session)
	b.begin()
	s.configure(birdPartner(b, ", local: OURS, add_path: true", `    communities: {"64501:50": prefer 50, "64501:150": prefer 150}`))
	s.begin()
	s.sends("203.0.113.1", "nsk")
	lines := func() string {
		var words []string
		for line := range strings.Lines(s.gslb("routes", "203.0.113.0/24")) {
			if strings.Contains(line, b.at.Addr().String()+"#") {
				f := strings.Fields(strings.TrimPrefix(line, "203.0.113.0/24"))
				words = append(words, f[4]+" "+strings.TrimSuffix(f[8], ":"))
			}
		}
		return strings.Join(words, ", ")
	}
	rig.Until(t, rig.Soon, "150 wins, 50 spare", lines)
	b.command("disable", "more")
	rig.Until(t, rig.Soon, "50 wins", lines)
	s.keeps("203.0.113.1", "nsk")
	b.command("disable", "four")
	s.sends("203.0.113.1", "msk")
}

// The file of a password is read anew for every connection; a session that stands keeps its key.
func TestPasswordThatChangesCountsFromTheNextConnection(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("TCP MD5 of BIRD needs root")
	}
	t.Parallel()
	for _, way := range ways[:2] {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			s, b := beside(t)
			file := filepath.Join(s.folder, "sibtel.md5")
			password := func(p string) {
				if err := os.WriteFile(file, []byte(p+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			password("swordfish")
			session := func(p string) string {
				return b.session("gslb", s.bgp, fmt.Sprintf("password %q; %s", p, way.options))
			}
			b.configure(routes("four", "203.0.113.0/24"), session("swordfish"))
			b.begin()
			s.configure(birdPartner(b, ", password_file: sibtel.md5"+way.peer, ""))
			s.begin()
			s.sends("203.0.113.1", "nsk")
			since := b.established("gslb")
			password("haddock")
			time.Sleep(2 * time.Second)
			b.untouched("gslb", since)
			b.configure(routes("four", "203.0.113.0/24"), session("haddock")) // a new session
			s.says("203.0.113.1", "placed=partners")
			rig.Until(t, rig.Soon, "a new session", func() string {
				if state, again := b.state("gslb"); state != "Established" || again.Sub(since) < 100*time.Millisecond {
					return state
				}
				return "a new session"
			})
			s.confirms("203.0.113.1")
		})
	}
}

func TestPeerThatMovesToAnotherAddressLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	s, first := beside(t)
	second, third := newRouteServer(t, vacant(t, s.net.host(10))), newRouteServer(t, vacant(t, s.net.host(11)))
	for r, prefix := range map[*routeServer]string{first: "203.0.113.0/24", second: "203.0.114.0/24", third: "203.0.115.0/24"} {
		r.configure(routes("four", prefix), r.session("gslb", s.bgp, ""))
		r.begin()
	}
	with := func(b *routeServer) string {
		return partnerText("sibtel", "nsk", peerKeys(first), "") + partnerText("uraltel", "spb", peerKeys(b), "")
	}
	s.configure(with(second))
	s.begin()
	s.sends("203.0.114.1", "spb")
	s.sends("203.0.113.1", "nsk")
	since := first.established("gslb")
	s.configure(with(third))
	s.sends("203.0.115.1", "spb")
	s.sends("203.0.114.1", "msk")
	first.untouched("gslb", since)
	s.keeps("203.0.113.1", "nsk")
	rig.Until(t, rig.Soon, "the words", func() string {
		return wordless(second.log.String(), []string{"gslb: Received: Peer de-configured"})
	})
}
