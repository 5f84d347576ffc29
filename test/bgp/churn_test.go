package bgp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"gslb/dns/admin"
	"gslb/test/rig"
)

// churn is a peer whose prefixes come and go all the time.
type churn struct {
	*handmade
	random  uint32
	present map[string]bool
	turns   []string // what turned, in its order: it came if it had not been there, and left if it had
}

// turn announces the prefix, or withdraws it, if it is there.
func (c *churn) turn(t *testing.T, prefix string) {
	t.Helper()
	m := good(prefix)
	if c.present[prefix] {
		m = update(nlri(prefix), nil, nil)
		delete(c.present, prefix)
	} else {
		c.present[prefix] = true
	}
	c.turns = append(c.turns, prefix)
	if err := c.send(m); err != nil {
		t.Fatal(err)
	}
}

// last turns some prefixes at a time, of the first so many, for so long.
func (c *churn) last(t *testing.T, d time.Duration, prefix func(int) string, count int) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for range 100 {
			c.random = c.random*1664525 + 1013904223
			c.turn(t, prefix(int(c.random>>8)%count))
		}
	}
}

// apart counts the prefixes that one of two sets has and the other has not.
func apart(a, b map[string]bool) (n int) {
	for p := range a {
		if !b[p] {
			n++
		}
	}
	for p := range b {
		if !a[p] {
			n++
		}
	}
	return n
}

// table gives all prefixes of the server's table.
func (s *server) table() map[string]bool {
	s.t.Helper()
	all := map[string]bool{}
	for line := range strings.Lines(s.gslb("routes", "--json", "--limit", "0")) {
		var p admin.Prefix
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			s.t.Fatal(err)
		}
		all[p.Prefix.String()] = true
	}
	return all
}

// A server that is killed while routes are being saved has afterwards, from the first answer on, a table that it had.
func TestTableOfAServerThatWasKilledIsOneThatItHad(t *testing.T) {
	if os.Getenv("GSLB_LONG") == "" {
		t.Skip("takes half a minute (./test/run all)")
	}
	t.Parallel()
	const count = 20_000
	prefix := func(i int) string {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{60, byte(i >> 8), byte(i), 0}), 24).String()
	}
	s := serving(t, func(s *server) string {
		return partnerText("sibtel", "nsk", fmt.Sprintf("address: %s, asn: 64501, passive: true", s.net.host(5)), "    accept: {within: [60.0.0.0/8]}")
	})
	c := &churn{handmade: s.established(s.net.host(5), fair()), random: uint32(time.Now().UnixNano()), present: map[string]bool{}}
	for i := range count {
		c.turn(t, prefix(i))
	}
	c.turns = nil
	was := maps.Clone(c.present)
	rig.Until(t, rig.Soon, fmt.Sprint(count), func() string { return fmt.Sprint(s.accepted()) })
	s.saves()
	c.last(t, 9*time.Second+time.Duration(c.random%3000)*time.Millisecond, prefix, count)
	s.kill()
	c.conn.Close()
	s.begin()
	got := s.table()
	differs, least := apart(was, got), count
	for _, p := range c.turns {
		least = min(least, differs)
		was[p] = !was[p]
		if was[p] == got[p] {
			differs--
		} else {
			differs++
		}
	}
	if least > 0 {
		t.Errorf("the table has %d prefixes, and differs in %d or more from every one that was", len(got), least)
	}
	if differs == 0 {
		t.Error("the last table was saved: nothing is shown about those between")
	}

	h := s.confirmed(s.net.host(5), fair().message())
	defer h.conn.Close()
	for p := range c.present {
		if err := h.send(good(p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.send(ends()); err != nil {
		t.Fatal(err)
	}
	rig.Until(t, rig.Soon, "no difference", func() string {
		if n := apart(s.table(), c.present); n > 0 {
			return fmt.Sprintf("%d prefixes of difference", n)
		}
		return "no difference"
	})
}
