package dns

import (
	"net/netip"
	"slices"
	"testing"
	"time"
)

// Whose a connection is may turn out later: it counts as of there from then on, and only as long as it is in.
func TestCrowdMovesAGuest(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	c := newCrowd(10, 2)
	proxy, client, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("203.0.113.1"), netip.MustParseAddr("203.0.113.2")
	var closed []string
	enter := func(name string, to netip.Addr) *guest {
		now = now.Add(time.Second)
		g := c.enter(proxy, now, func() { closed = append(closed, name) })
		c.move(g, to)
		return g
	}
	guests := []*guest{enter("a", client), enter("b", client), enter("c", other), enter("d", client)}
	if want := []string{"a"}; !slices.Equal(closed, want) {
		t.Errorf("closed %v, want %v", closed, want)
	}
	if n := c.sources[sourceOf(proxy)]; n != 0 {
		t.Errorf("%d count as the proxy's still", n)
	}
	c.move(guests[0], other) // it has been told to leave
	for _, g := range guests {
		c.leave(g)
	}
	if len(c.guests)+len(c.sources) > 0 {
		t.Errorf("left behind: %d connections, %d sources", len(c.guests), len(c.sources))
	}
}

func TestCrowdMakesRoom(t *testing.T) {
	begin := time.Unix(1_000_000, 0)
	type event struct {
		name, source string // a connection comes in; without a source, it is heard of
	}
	in := func(name, source string) event { return event{name, source} }
	heard := func(name string) event { return event{name: name} }
	for _, tc := range []struct {
		name   string
		events []event
		want   []string // closed, in order
	}{
		{"as long as there is room", []event{in("a", "192.0.2.1"), in("b", "192.0.2.2"), in("c", "192.0.2.3"), in("d", "192.0.2.4")}, nil},
		{"at the cost of the longest silent", []event{in("a", "192.0.2.1"), in("b", "192.0.2.2"), in("c", "192.0.2.3"), in("d", "192.0.2.4"), heard("a"), in("e", "192.0.2.5")}, []string{"b"}},
		{"again and again", []event{in("a", "192.0.2.1"), in("b", "192.0.2.2"), in("c", "192.0.2.3"), in("d", "192.0.2.4"), in("e", "192.0.2.5"), in("f", "192.0.2.6")}, []string{"a", "b"}},
		{"of the same source when it has too many", []event{in("a", "192.0.2.1"), in("b", "192.0.2.2"), in("c", "192.0.2.2"), in("d", "192.0.2.2")}, []string{"b"}},
		{"of one IPv6 network likewise", []event{in("a", "2001:db8::1"), in("b", "2001:db8::2"), in("c", "2001:db8:0:1::1"), in("d", "2001:db8::3")}, []string{"a"}},
		{"mapped addresses count as what they are", []event{in("a", "::ffff:192.0.2.1"), in("b", "192.0.2.1"), in("c", "192.0.2.1")}, []string{"a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCrowd(4, 2)
			guests := map[string]*guest{}
			var closed []string
			for i, e := range tc.events {
				now := begin.Add(time.Duration(i) * time.Second)
				if e.source == "" {
					guests[e.name].heardAt(now)
					continue
				}
				guests[e.name] = c.enter(netip.MustParseAddr(e.source), now, func() { closed = append(closed, e.name) })
			}
			if !slices.Equal(closed, tc.want) {
				t.Errorf("closed %v, want %v", closed, tc.want)
			}
			for _, g := range guests {
				c.leave(g)
				c.leave(g)
			}
			if len(c.guests)+len(c.sources) > 0 {
				t.Errorf("left behind: %d connections, %d sources", len(c.guests), len(c.sources))
			}
		})
	}
}
