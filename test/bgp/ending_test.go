package bgp

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// whoPeers starts a server whose only peer is one made by hand, at host 5, with this in its partner.
func whoPeers(t *testing.T, keys, partner string) *server {
	return serving(t, func(s *server) string {
		return partnerText("sibtel", "nsk", fmt.Sprintf("address: %s, asn: 64501, passive: true%s", s.net.host(5), keys), partner+"\n    accept: {within: [60.0.0.0/8]}")
	})
}

func TestEndOfASessionDecidesWhetherItsPrefixesStay(t *testing.T) {
	t.Parallel()
	s := whoPeers(t, "", "    stale: 60s")
	notification := func(code, subcode byte, data ...byte) []byte {
		return message(3, append([]byte{code, subcode}, data...)...)
	}
	for i, c := range []struct {
		name string
		last []byte // what the peer sends last
		stay bool
	}{
		{"connection closed", nil, true},
		{"cease, maximum number of prefixes", notification(6, 1), true},
		{"cease, administrative shutdown", notification(6, 2), false},
		{"cease, administrative shutdown with a text", notification(6, 2, append([]byte{7}, "so long"...)...), false},
		{"cease, peer de-configured", notification(6, 3), false},
		{"cease, administrative reset", notification(6, 4), true},
		{"cease, connection rejected", notification(6, 5), true},
		{"cease, other configuration change", notification(6, 6), true},
		{"cease, collision", notification(6, 7), true},
		{"cease, out of resources", notification(6, 8), true},
		{"cease, hard reset for a shutdown", notification(6, 9, 6, 2), false},
		{"hold timer expired", notification(4, 0), true},
		{"update error", notification(3, 1), true},
		{"a code that nobody knows", notification(99, 9), true},
		{"an error of its own", message(4, 1), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			p := fmt.Sprintf("60.1.%d.0/24", i)
			h := s.established(s.net.host(5), fair(), good(p))
			s.sends(inside(p), "nsk")
			if c.last != nil {
				if err := h.send(c.last); err != nil {
					t.Fatal(err)
				}
				h.verdict()
			}
			h.conn.Close()
			if !c.stay {
				s.sends(inside(p), "msk")
				return
			}
			s.says(inside(p), "placed=partners", " stale=")
		})
	}
	s.t = t
}

func TestRestOfALostSessionLeavesAtTheEndOfRIBOnly(t *testing.T) {
	t.Parallel()
	graceful := func(flags, kept byte) open {
		o := fair()
		o.parameters = append(o.parameters, capabilities(capability(64, flags, 120, 0, 1, 1, kept, 0, 2, 1, kept))...)
		return o
	}
	for _, c := range []struct {
		name        string
		first, then open
	}{
		{"without graceful restart", fair(), fair()},
		{"with graceful restart", graceful(0, 0), graceful(0x80, 0)},
		{"with graceful restart and forwarding kept", graceful(0, 0x80), graceful(0x80, 0x80)},
		{"with graceful restart at first", graceful(0, 0), fair()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := whoPeers(t, "", "    stale: 60s")
			h := s.established(s.net.host(5), c.first, good("60.1.1.0/24"), good("60.1.2.0/24"))
			s.sends("60.1.1.1", "nsk")
			stop := s.watch("60.1.2.1", "nsk")
			h.conn.Close()
			s.says("60.1.2.1", " stale=")

			h = s.confirmed(s.net.host(5), c.then.message(), good("60.1.1.0/24"))
			defer h.conn.Close()
			s.confirms("60.1.1.1")
			time.Sleep(2 * time.Second) // a peer that has been silent for so long may still go on
			s.keeps("60.1.2.1", "nsk")
			if err := h.send(update(nil, unreach(), nil)); err != nil { // the end of IPv6
				t.Fatal(err)
			}
			time.Sleep(blink)
			if asked, other := stop(); len(other) > 0 {
				t.Errorf("%d of %d answers were others: %v", len(other), asked, other)
			}
			if err := h.send(update(nil, nil, nil)); err != nil { // that of IPv4 (RFC 4724 section 4.2)
				t.Fatal(err)
			}
			s.sends("60.1.2.1", "msk")
			s.keeps("60.1.1.1", "nsk")
		})
	}
}

func TestSilentPeerIsLostWhenTheHoldTimeIsOut(t *testing.T) {
	t.Parallel()
	s := whoPeers(t, ", hold: 3s", "    stale: 60s")
	begin := time.Now()
	h := s.established(s.net.host(5), fair(), good("60.1.1.0/24"))
	defer h.conn.Close()
	spoke := time.Now()
	s.sends("60.1.1.1", "nsk")
	if got := h.verdict(); got != "4/0" {
		t.Errorf("got %s, want NOTIFICATION 4/0", got)
	}
	if least, most := time.Since(begin), time.Since(spoke); least < 3*time.Second || most > 30*time.Second { // it offers 90 seconds itself
		t.Errorf("it was lost after %v to %v, want 3s", most, least)
	}
	s.says("60.1.1.1", "placed=partners", " stale=")
}

func TestOnePeerAnnouncingTooMuchAtOnceIsClosedWithCease(t *testing.T) {
	t.Parallel()
	s := serving(t, func(s *server) string {
		return partnerText("sibtel", "nsk", fmt.Sprintf("address: %s, asn: 64501, passive: true", s.net.host(5)), "    stale: 3s\n    accept: {within: [60.0.0.0/8], max_prefixes: 2}")
	})
	h := s.established(s.net.host(5), fair(), good("60.1.1.0/24"), good("60.1.2.0/24"), good("60.1.3.0/24"))
	defer h.conn.Close()
	if got := h.verdict(); got != "6/1" {
		t.Errorf("got %s, want NOTIFICATION 6/1", got)
	}
	s.keeps("60.1.1.1", "msk")
	h.conn.Close()
	h = s.established(s.net.host(5), fair(), good("60.1.1.0/24"), good("60.1.2.0/24"))
	defer h.conn.Close()
	s.sends("60.1.1.1", "nsk")
}

func TestPeerThatNeverFallsSilentIsTakenAllTheSame(t *testing.T) {
	if os.Getenv("GSLB_LONG") == "" {
		t.Skip("takes a minute (./test/run all)")
	}
	t.Parallel()
	s := whoPeers(t, "", "")
	h := s.confirmed(s.net.host(5), fair().message(), good("60.1.1.0/24")) // and no end-of-RIB
	defer h.conn.Close()
	for end, i := time.Now().Add(75*time.Second), 0; time.Now().Before(end); i++ {
		if s.site("60.1.1.1") == "nsk" {
			return
		}
		if err := h.send(good(fmt.Sprintf("60.2.%d.0/24", i%250))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Error("after 75s of news from the peer its first prefix does not steer yet")
}

func TestStalePrefixesDoNotCountAsTooMany(t *testing.T) {
	t.Parallel()
	s := serving(t, func(s *server) string {
		return partnerText("sibtel", "nsk", fmt.Sprintf("address: %s, asn: 64501, passive: true", s.net.host(5)), "    stale: 60s\n    accept: {within: [60.0.0.0/8], max_prefixes: 2}")
	})
	h := s.established(s.net.host(5), fair(), good("60.1.1.0/24"), good("60.1.2.0/24"))
	s.sends("60.1.2.1", "nsk")
	h.conn.Close()
	s.says("60.1.2.1", " stale=")
	h = s.confirmed(s.net.host(5), fair().message(), good("60.1.3.0/24"), good("60.1.4.0/24"))
	defer h.conn.Close()
	s.sends("60.1.4.1", "nsk")
	if err := h.send(good("60.1.4.0/24")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := h.alive(); err != nil {
		t.Errorf("two prefixes of two: %v", err)
	}
}

// What a peer says of its own restart does not shorten the time that its partner was given.
func TestStalePrefixesOutliveTheRestartTimeOfThePeer(t *testing.T) {
	t.Parallel()
	s := whoPeers(t, "", "    stale: 60s")
	o := fair()
	o.parameters = append(o.parameters, capabilities(capability(64, 0, 1, 0, 1, 1, 0x80, 0, 2, 1, 0x80))...) // a second
	h := s.established(s.net.host(5), o, good("60.1.1.0/24"))
	s.sends("60.1.1.1", "nsk")
	h.conn.Close()
	s.says("60.1.1.1", "placed=partners", " stale=")
	stop := s.watch("60.1.1.1", "nsk")
	time.Sleep(3 * time.Second)
	h = s.established(s.net.host(5), o, good("60.1.1.0/24"))
	defer h.conn.Close()
	s.confirms("60.1.1.1")
	if asked, other := stop(); len(other) > 0 {
		t.Errorf("%d of %d answers were others: %v", len(other), asked, other)
	}
}
