package bgp

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The two ends of a connection: who opens it.
var ways = []struct{ name, peer, options string }{
	{"we connect", ", local: OURS", "passive;"},
	{"the peer connects", ", passive: true", ""},
	{"both connect", ", local: OURS", ""},
}

func TestSessionComesUpWhoeverOpensIt(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			s, b := beside(t)
			b.configure(routes("four", "203.0.113.0/24"), b.session("gslb", s.bgp, way.options))
			b.begin()
			s.configure(birdPartner(b, way.peer, ""))
			s.begin()
			s.sends("203.0.113.1", "nsk")
			since := b.established("gslb")
			time.Sleep(time.Second) // a collision would show by now
			b.untouched("gslb", since)
		})
	}
}

func TestSignedSessionNeedsTheRightPassword(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("TCP MD5 of BIRD needs root")
	}
	t.Parallel()
	for _, way := range ways[:2] {
		for _, password := range []string{"swordfish", "wrong"} {
			t.Run(way.name+" with "+password, func(t *testing.T) {
				t.Parallel()
				s, b := beside(t)
				if err := os.WriteFile(filepath.Join(s.folder, "sibtel.md5"), []byte(password+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				b.configure(routes("four", "203.0.113.0/24"), b.session("gslb", s.bgp, `password "swordfish"; `+way.options))
				b.begin()
				s.configure(birdPartner(b, ", password_file: sibtel.md5"+way.peer, ""))
				s.begin()
				if password == "swordfish" {
					s.sends("203.0.113.1", "nsk")
					return
				}
				time.Sleep(4 * time.Second) // in which a session with the right one comes up
				s.keeps("203.0.113.1", "msk")
				if state, _ := b.state("gslb"); state == "Established" {
					t.Error("the session is up with the wrong password")
				}
			})
		}
	}
}

func TestUnsignedConnectionIsRefusedWhereAPasswordIsSet(t *testing.T) {
	t.Parallel()
	s, b := beside(t)
	if err := os.WriteFile(filepath.Join(s.folder, "sibtel.md5"), []byte("swordfish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.configure(routes("four", "203.0.113.0/24"), b.session("gslb", s.bgp, ""))
	b.begin()
	s.configure(birdPartner(b, ", passive: true, password_file: sibtel.md5", ""))
	s.begin()
	time.Sleep(4 * time.Second)
	s.keeps("203.0.113.1", "msk")
}

func TestTTLSecurityLetsOnlyNeighboursIn(t *testing.T) {
	t.Parallel()
	for _, way := range ways[:2] {
		for _, far := range []bool{false, true} {
			name, options := way.name+" and is near", "ttl security on; "
			if far {
				name, options = way.name+" and is far", "ttl security off; " // BIRD then sends with 64
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, b := beside(t)
				b.configure(routes("four", "203.0.113.0/24"), b.session("gslb", s.bgp, options+way.options))
				b.begin()
				s.configure(birdPartner(b, ", ttl_security: 1"+way.peer, ""))
				s.begin()
				if !far {
					s.sends("203.0.113.1", "nsk")
					return
				}
				time.Sleep(4 * time.Second)
				s.keeps("203.0.113.1", "msk")
			})
		}
	}
}

func TestIPv6PrefixesComeOverASessionOfEitherFamily(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"IPv4", "IPv6"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			s, b := beside(t)
			ours, peer := s.bgp, ", local: OURS"
			if over == "IPv6" {
				loopback := netip.IPv6Loopback()
				if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
					t.Skipf("no IPv6 here: %v", err)
				} else {
					l.Close()
				}
				b.at, s.bgp = vacant(t, loopback), vacant(t, loopback)
				ours, peer = s.bgp, `, local: "::1"`
			}
			b.configure(routes("four", "203.0.113.0/24"), routes("six", "2001:db8:100::/40", "2001:db8:1ff::/48"), b.session("gslb", ours, ""))
			b.begin()
			s.configure(birdPartner(b, peer, ""))
			s.begin()
			s.sends("2001:db8:100::1", "nsk")
			s.sends("203.0.113.1", "nsk")
			s.keeps("2001:db8:200::1", "msk")
			s.says("2001:db8:1ff::1", "prefix=2001:db8:1ff::/48 origin=64502 peer="+b.at.Addr().String())
			b.command("disable", "six")
			s.sends("2001:db8:100::1", "msk")
			s.keeps("203.0.113.1", "nsk")
		})
	}
}

func TestSessionOfOneFamilyCarriesOnlyThat(t *testing.T) {
	t.Parallel()
	s, b := beside(t)
	b.configure(routes("four", "203.0.113.0/24"), routes("six", "2001:db8:100::/40"), b.session("gslb", s.bgp, ""))
	b.begin()
	s.configure(birdPartner(b, ", local: OURS, families: [ipv6]", ""))
	s.begin()
	s.sends("2001:db8:100::1", "nsk")
	time.Sleep(time.Second)
	s.keeps("203.0.113.1", "msk")
}
