package bgp

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// long is an attribute whose length has two octets.
func long(flags, code byte, value ...byte) []byte {
	return append([]byte{flags | 0x10, code, byte(len(value) >> 8), byte(len(value))}, value...)
}

// hops is an UPDATE of an IPv6 prefix whose next hop field is of so many octets.
func hops(n int) func(string) []byte {
	next := append(bytes.Clone(hopIPv6), 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0)
	return func(p string) []byte {
		return update(nil, join(origin(0), path(64501), attribute(optional, 14, reachValue(next[:n], nlri(p))...)), nil)
	}
}

const partial byte = 0x20

// What is odd and seldom seen, right or wrong.
var odd = []badUpdate{
	// One attribute several times: the first counts.
	{"MED twice, the second malformed", false, with(attribute(optional, 4, 0, 0, 0, 1), attribute(optional, 4, 1)), taken},
	{"AS_PATH twice, the first malformed", false, instead(origin(0), attribute(wellKnown, 2, 7), path(64501), hop(hopIPv4...)), gone},
	{"NEXT_HOP twice, the first 0.0.0.0", false, instead(origin(0), path(64501), hop(0, 0, 0, 0), hop(hopIPv4...)), gone},
	{"an unknown attribute twice", false, with(attribute(transitive, 99, 1), attribute(transitive, 99, 2)), taken},
	// Paths.
	{"AS_PATH of an empty set", false, instead(origin(0), attribute(wellKnown, 2, append(sequence(64501), 1, 0)...), hop(hopIPv4...)), gone},
	{"AS_PATH with a set of a confederation", false, instead(origin(0), attribute(wellKnown, 2, append([]byte{4, 1, 0, 0, 0xfb, 0xf5}, sequence(64501)...)...), hop(hopIPv4...)), gone},
	{"AS_PATH with a segment of type 0", false, instead(origin(0), attribute(wellKnown, 2, 0, 1, 0, 0, 0xfb, 0xf5), hop(hopIPv4...)), gone},
	{"AS_PATH of 255 and a length of two octets", false, instead(origin(0), long(wellKnown, 2, sequence(slices.Repeat([]uint32{64502}, 255)...)...), hop(hopIPv4...)), taken},
	{"AS_PATH of no octet and a length of two", false, instead(origin(0), long(wellKnown, 2), hop(hopIPv4...)), taken},
	{"AS_PATH with a set in the middle", false, instead(origin(0), attribute(wellKnown, 2, join(sequence(64501), []byte{1, 1, 0, 0, 0xfb, 0xf7}, sequence(64502))...), hop(hopIPv4...)), taken},
	// Lengths.
	{"ORIGIN of no octet and a length of two", false, instead(long(wellKnown, 1), path(64501), hop(hopIPv4...)), gone},
	{"ORIGIN that claims all the rest", false, instead([]byte{wellKnown | 0x10, 1, 0xff, 0xff, 0}, path(64501), hop(hopIPv4...)), gone},
	{"100 COMMUNITIES", false, with(long(transitive, 8, bytes.Repeat([]byte{0xfb, 0xf5, 0, 7}, 100)...)), taken},
	{"COMMUNITIES one octet short of 100", false, with(long(transitive, 8, make([]byte, 399)...)), gone},
	{"attributes that take an octet of the prefix", false, func(p string) []byte { return bent(update(nil, base(), nlri(p)), 22, byte(len(base())+1)) }, "3/10"},
	{"MP_REACH of which the code alone came", false, with([]byte{optional, 14}), "3/9"},
	{"MP_UNREACH cut off in its length", false, with([]byte{optional | 0x10, 15, 0}), "3/9"},
	// Flags and codes.
	{"unknown attribute with Partial", false, with(attribute(transitive|partial, 99, 1)), taken},
	{"unknown attribute with Partial that is not transitive", false, with(attribute(optional|partial, 99, 1)), taken},
	{"unknown attribute of no octet", false, with(attribute(transitive, 99)), taken},
	{"unknown attribute without any flag", false, with(attribute(0, 99, 1)), "3/2"},
	{"attribute 0", false, with(attribute(optional, 0, 1)), taken},
	{"attribute 255 of 300 octets", false, with(long(transitive|partial, 255, make([]byte, 300)...)), taken},
	{"COMMUNITIES with Partial", false, with(attribute(transitive|partial, 8, 0xfb, 0xf5, 0, 7)), taken},
	{"LARGE_COMMUNITIES that say they are well-known", false, with(attribute(wellKnown, 32, make([]byte, 12)...)), gone},
	{"ATOMIC_AGGREGATE that says it is optional", false, with(attribute(optional, 6)), gone},
	{"AGGREGATOR that says it is not transitive", false, with(attribute(optional, 7, 0, 0, 0xfb, 0xf5, 192, 0, 2, 1)), gone},
	{"ORIGINATOR_ID of a neighbour with wrong flags", false, with(attribute(wellKnown, 9, 192, 0, 2, 1)), taken},
	{"CLUSTER_LIST of a neighbour of no octet", false, with(attribute(optional, 10)), taken},
	{"ONLY_TO_CUSTOMER of five octets", false, with(attribute(transitive, 35, 0, 0, 0, 0, 1)), gone},
	{"AIGP cut off", false, with(attribute(optional, 26, 1, 0, 11, 0)), taken},
	{"TUNNEL_ENCAP cut off", false, with(attribute(transitive, 23, 0, 8, 0, 200, 1)), taken},
	{"PMSI of no octet", false, with(attribute(transitive, 22)), taken},
	{"ATTR_SET with an UPDATE's attributes cut off", false, with(attribute(transitive, 128, 0, 0, 0xfb, 0xf5, 0x40, 1, 9)), taken},
	// Prefixes.
	{"default route beside it", false, func(p string) []byte { return update(nil, base(), append([]byte{0}, nlri(p)...)) }, taken},
	{"prefix twice in one UPDATE", false, func(p string) []byte { return update(nil, base(), join(nlri(p), nlri(p))) }, taken},
	{"prefix of 255 bits", false, func(string) []byte { return update(nil, base(), append([]byte{255}, make([]byte, 32)...)) }, "3/10"},
	{"prefix withdrawn twice in one UPDATE", false, func(p string) []byte { return update(join(nlri(p), nlri(p)), nil, nil) }, gone},
	{"withdrawal and malformed attributes of another", false, func(p string) []byte {
		return update(nlri(p), join(origin(9), path(64501), hop(hopIPv4...)), nlri("60.255.0.0/24"))
	}, gone},
	{"IPv6 prefix of 0 bits beside it", true, func(p string) []byte {
		return update(nil, join(origin(0), path(64501), attribute(optional, 14, reachValue(hopIPv6, append([]byte{0}, nlri(p)...))...)), nil)
	}, taken},
	{"IPv6 prefix with bits of the host", true, func(p string) []byte {
		b := append([]byte{49}, append(nlri(p)[1:], 0x7f)...)
		return update(nil, join(origin(0), path(64501), attribute(optional, 14, reachValue(hopIPv6, append(nlri(p), b...))...)), nil)
	}, taken},
	// MP_REACH and MP_UNREACH.
	{"next hop of 15 octets", true, hops(15), "3/9"},
	{"next hop of 17 octets", true, hops(17), "3/9"},
	{"next hop of 24 octets", true, hops(24), "3/9"},
	{"next hop of 31 octets", true, hops(31), "3/9"},
	{"next hop of 33 octets", true, hops(33), "3/9"},
	{"MP_REACH whose reserved octet is not zero", true, func(p string) []byte {
		v := reachValue(hopIPv6, nlri(p))
		v[20] = 0xff
		return update(nil, join(origin(0), path(64501), attribute(optional, 14, v...)), nil)
	}, taken},
	{"MP_REACH with Partial and a length of two octets", true, func(p string) []byte {
		return update(nil, join(origin(0), path(64501), long(optional|partial, 14, reachValue(hopIPv6, nlri(p))...)), nil)
	}, taken},
	{"MP_REACH of IPv4", false, func(p string) []byte {
		v := join([]byte{0, 1, 1, 4}, hopIPv4, []byte{0}, nlri(p))
		return update(nil, join(origin(0), path(64501), attribute(optional, 14, v...)), nil)
	}, taken},
	{"MP_REACH of IPv4 with a next hop of IPv6 that was not agreed on", false, alone(origin(0), path(64501),
		attribute(optional, 14, join([]byte{0, 1, 1, 16}, hopIPv6, []byte{0}, nlri("60.255.0.0/24"))...)), "3/9"},
	{"MP_UNREACH of IPv4", false, func(p string) []byte {
		return update(nil, attribute(optional, 15, append([]byte{0, 1, 1}, nlri(p)...)...), nil)
	}, gone},
	{"MP_REACH without a prefix", true, alone(origin(0), path(64501), attribute(optional, 14, reachValue(hopIPv6, nil)...)), taken},
	{"MP_REACH and a prefix without NEXT_HOP", false, func(p string) []byte {
		return update(nil, join(origin(0), path(64501), reach("2001:db8:fff1::/48")), nlri(p))
	}, gone},
	{"MP_REACH and MP_UNREACH of one prefix", true, func(p string) []byte {
		return update(nil, join(origin(0), path(64501), reach(p), unreach(nlri(p)...)), nil)
	}, taken},
	{"MP_REACH behind the other attributes", true, func(p string) []byte {
		return update(nil, join(reach(p), path(64501), origin(0)), nil)
	}, taken},
}

func oddUpdates(t *testing.T, b *bench) {
	for _, c := range odd {
		b.check(t, c.name, func(t *testing.T) { c.try(t, b) })
	}
	for who, c := range map[string]struct {
		address netip.Addr
		want    string
	}{"the server": {b.bgp.Addr(), gone}, "the peer": {b.from, taken}} {
		b.check(t, "NEXT_HOP of "+who, func(t *testing.T) {
			p := b.prefix(false)
			if got := b.sent(p, false, update(nil, join(origin(0), path(64501), hop(c.address.AsSlice()...)), nlri(p))); got != c.want {
				t.Errorf("got %s, want it %s", got, c.want)
			}
		})
	}
}

func oddSessions(t *testing.T, b *bench) {
	capable := func(each ...[]byte) open {
		o := fair()
		o.parameters = append(o.parameters, capabilities(each...)...)
		return o
	}
	for _, c := range []struct {
		name string
		open open
		sent []byte
		want string // taken, or a NOTIFICATION
	}{
		{"extended messages offered, UPDATE of 4097 octets", capable(capability(6)), bent(message(2, make([]byte, 4097-19)...), 16, 0x10, 1), "1/2"},
		{"extended messages offered, UPDATE of 65535 octets", capable(capability(6)), bent(message(2, make([]byte, 65535-19)...), 16, 0xff, 0xff), "1/2"},
		{"capability of extended messages that is not empty", capable(capability(6, 1)), nil, taken},
		{"role, LLGR, enhanced refresh and name", capable(capability(9, 3), capability(71, 0, 1, 1, 0x80, 0, 0, 60), capability(70), capability(73, 1, 'r', 1, 'x')), nil, taken},
		{"add-path with a direction of 7", capable(capability(69, 0, 1, 1, 7)), nil, taken},
		{"add-path of three octets", capable(capability(69, 0, 1, 1)), nil, "2/0"},
		{"multiprotocol of five octets", capable(capability(1, 0, 1, 0, 1, 0)), nil, "2/0"},
		{"AS of two octets in the capability of four", capable(capability(65, 0xfb, 0xf5)), nil, "2/0"},
		{"graceful restart of three octets", capable(capability(64, 0, 120, 0)), nil, "2/0"},
		{"an empty parameter of capabilities", open{4, 64501, 90, [4]byte{192, 0, 2, 9}, append([]byte{2, 0}, fair().parameters...)}, nil, taken},
		{"a route refresh with a filter of routes", fair(), message(5, 0, 1, 0, 1, 1, 64, 0, 3, 0x80, 1, 1), taken},
		{"a hundred KEEPALIVEs at once", fair(), bytes.Repeat(keepalive(), 100), taken},
	} {
		b.check(t, c.name, func(t *testing.T) {
			if c.want == "2/0" {
				if got := b.refused(c.open.message()); got != c.want {
					t.Errorf("got %s, want NOTIFICATION %s", got, c.want)
				}
				return
			}
			if b.session = b.established(b.from, c.open); c.want != taken {
				if got := b.ended(c.sent); got != c.want {
					t.Errorf("got %s, want NOTIFICATION %s", got, c.want)
				}
				return
			}
			if got := b.sent(b.prefix(false), false, c.sent, good(b.prefix(false))); got != taken {
				t.Errorf("got %s, want the prefix taken", got)
			}
			b.session.conn.Close()
			b.session = nil
		})
	}
	b.check(t, "NOTIFICATION instead of an OPEN", func(t *testing.T) {
		if got := b.refused(message(3, 6, 5)); got != "closed" {
			t.Errorf("got %s, want it closed", got)
		}
	})
	b.check(t, "ROUTE-REFRESH before the KEEPALIVE", func(t *testing.T) {
		if got := b.refused(join(fair().message(), message(5, 0, 1, 0, 1))); got != "5/2" {
			t.Errorf("got %s, want NOTIFICATION 5/2", got)
		}
	})
	b.check(t, "two connections at a time", func(t *testing.T) { collide(t, b) })
}

// collide opens a second connection while the first has sent its OPEN: one of them is closed, and the
// other becomes the session.
func collide(t *testing.T, b *bench) {
	first := b.greeted(b.from, fair().message())
	if second, err := b.dial(b.from); err == nil { // otherwise it was closed even sooner
		defer second.conn.Close()
		_ = second.send(fair().message()) // it may be closed by now
		if got := second.verdict(); got != "closed" {
			t.Errorf("the second connection got %s, want it closed", got)
		}
	}
	if err := first.send(keepalive(), ends()); err != nil {
		t.Fatal(err)
	}
	if err := first.await(4); err != nil {
		t.Fatal(err)
	}
	b.session = first
	p := fmt.Sprintf("60.%d.%d.0/24", b.number>>7, b.number<<1&255)
	if err := first.send(good(p)); err != nil {
		t.Fatal(err)
	}
	b.sends(inside(p), "nsk")
	time.Sleep(blink)
	if err := first.alive(); err != nil {
		t.Errorf("the first connection: %v", err)
	}
}
