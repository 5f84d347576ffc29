package bgp

import (
	"bytes"
	"testing"
)

// badUpdate is one UPDATE about a prefix, and what is to come of it.
type badUpdate struct {
	name   string
	ipv6   bool
	update func(prefix string) []byte
	want   string // taken, gone, or a NOTIFICATION
}

// instead is an UPDATE of a prefix with these attributes.
func instead(attributes ...[]byte) func(string) []byte {
	return func(prefix string) []byte { return update(nil, join(attributes...), nlri(prefix)) }
}

// with is an UPDATE of a prefix with further attributes.
func with(attributes ...[]byte) func(string) []byte {
	return instead(base(), join(attributes...))
}

// through is an UPDATE of an IPv6 prefix with these attributes before the one that holds it.
func through(attributes ...[]byte) func(string) []byte {
	return func(prefix string) []byte { return update(nil, join(join(attributes...), reach(prefix)), nil) }
}

// alone is an UPDATE with these attributes and no prefix outside them.
func alone(attributes ...[]byte) func(string) []byte {
	return func(string) []byte { return update(nil, join(attributes...), nil) }
}

// raw is an UPDATE whose fields are written as they are, lengths and all.
func raw(body ...byte) func(string) []byte {
	return func(string) []byte { return message(2, body...) }
}

// RFC 7606, section by section.
var malformed = []badUpdate{
	// 7.1 to 7.3: the attributes that every route has.
	{"ORIGIN of no octet", false, instead(origin(), path(64501), hop(hopIPv4...)), gone},
	{"ORIGIN of two octets", false, instead(origin(0, 0), path(64501), hop(hopIPv4...)), gone},
	{"ORIGIN 3", false, instead(origin(3), path(64501), hop(hopIPv4...)), gone},
	{"AS_PATH with a segment of type 9", false, instead(origin(0), attribute(wellKnown, 2, 9, 1, 0, 0, 0xfb, 0xf5), hop(hopIPv4...)), gone},
	{"AS_PATH with a segment beyond the end", false, instead(origin(0), attribute(wellKnown, 2, 2, 2, 0, 0, 0xfb, 0xf5), hop(hopIPv4...)), gone},
	{"AS_PATH with half an AS left", false, instead(origin(0), attribute(wellKnown, 2, append(sequence(64501), 0, 0)...), hop(hopIPv4...)), gone},
	{"AS_PATH with one octet left", false, instead(origin(0), attribute(wellKnown, 2, append(sequence(64501), 2)...), hop(hopIPv4...)), gone},
	{"AS_PATH with an empty segment", false, instead(origin(0), attribute(wellKnown, 2, append(sequence(64501), 2, 0)...), hop(hopIPv4...)), gone},
	{"AS_PATH with a confederation", false, instead(origin(0), attribute(wellKnown, 2, 3, 1, 0, 0, 0xfb, 0xf5), hop(hopIPv4...)), gone},
	{"AS_PATH with AS 0", false, instead(origin(0), path(64501, 0, 64502), hop(hopIPv4...)), gone},
	{"AS_PATH with our AS", false, instead(origin(0), path(64501, 64512, 64502), hop(hopIPv4...)), gone},
	{"NEXT_HOP of three octets", false, instead(origin(0), path(64501), hop(192, 0, 2)), gone},
	{"NEXT_HOP of sixteen octets", false, instead(origin(0), path(64501), hop(hopIPv6...)), gone},
	{"NEXT_HOP 0.0.0.0", false, instead(origin(0), path(64501), hop(0, 0, 0, 0)), gone},
	{"NEXT_HOP 224.0.0.1", false, instead(origin(0), path(64501), hop(224, 0, 0, 1)), gone},
	// 7.4 to 7.10: the optional ones of RFC 4271, RFC 1997 and RFC 4456.
	{"MED of three octets", false, with(attribute(optional, 4, 0, 0, 1)), gone},
	{"MED of no octet", false, with(attribute(optional, 4)), gone},
	{"LOCAL_PREF of a neighbour", false, with(attribute(wellKnown, 5, 0, 0, 0, 1)), taken},
	{"LOCAL_PREF of three octets of a neighbour", false, with(attribute(wellKnown, 5, 0, 0, 1)), taken},
	{"ATOMIC_AGGREGATE of one octet", false, with(attribute(wellKnown, 6, 1)), taken},
	{"AGGREGATOR of six octets", false, with(attribute(transitive, 7, 0xfb, 0xf5, 192, 0, 2, 1)), taken},
	{"AGGREGATOR of no octet", false, with(attribute(transitive, 7)), taken},
	{"AGGREGATOR with AS 0", false, with(attribute(transitive, 7, 0, 0, 0, 0, 192, 0, 2, 1)), taken},
	{"COMMUNITIES of no octet", false, with(attribute(transitive, 8)), gone},
	{"COMMUNITIES of five octets", false, with(attribute(transitive, 8, 0xfb, 0xf5, 0, 1, 0)), gone},
	{"ORIGINATOR_ID of a neighbour", false, with(attribute(optional, 9, 192, 0, 2, 1)), taken},
	{"ORIGINATOR_ID of one octet of a neighbour", false, with(attribute(optional, 9, 1)), taken},
	{"CLUSTER_LIST of one octet of a neighbour", false, with(attribute(optional, 10, 1)), taken},
	// 7.14 and RFC 8092: other communities.
	{"EXTENDED COMMUNITIES of seven octets", false, with(attribute(transitive, 16, 0, 2, 0, 1, 0, 0, 0)), gone},
	{"EXTENDED COMMUNITIES of no octet", false, with(attribute(transitive, 16)), gone},
	{"IPv6 EXTENDED COMMUNITIES of nineteen octets", false, with(attribute(transitive, 25, make([]byte, 19)...)), gone},
	{"LARGE_COMMUNITIES of eleven octets", false, with(attribute(transitive, 32, make([]byte, 11)...)), gone},
	{"LARGE_COMMUNITIES of no octet", false, with(attribute(transitive, 32)), gone},
	{"LARGE_COMMUNITIES with one twice", false, with(attribute(transitive, 32, make([]byte, 24)...)), taken},
	{"AS4_PATH where it has no place", false, with(attribute(transitive, 17, sequence(64999)...)), taken},
	{"AS4_AGGREGATOR of one octet", false, with(attribute(transitive, 18, 1)), taken},
	// 3 (c): flags.
	{"ORIGIN that says it is optional", false, instead(attribute(transitive, 1, 0), path(64501), hop(hopIPv4...)), gone},
	{"ORIGIN that says it is not transitive", false, instead(attribute(0, 1, 0), path(64501), hop(hopIPv4...)), gone},
	{"AS_PATH that says it is optional", false, instead(origin(0), attribute(transitive, 2, sequence(64501)...), hop(hopIPv4...)), gone},
	{"NEXT_HOP that says it is optional", false, instead(origin(0), path(64501), attribute(optional, 3, hopIPv4...)), gone},
	{"MED that says it is well-known", false, with(attribute(wellKnown, 4, 0, 0, 0, 1)), gone},
	{"COMMUNITIES that say they are not transitive", false, with(attribute(optional, 8, 0xfb, 0xf5, 0, 1)), gone},
	{"flags that nobody uses", false, instead(attribute(wellKnown|0x0f, 1, 0), path(64501), hop(hopIPv4...)), taken},
	{"a length of two octets without need", false, instead([]byte{wellKnown | 0x10, 1, 0, 1, 0}, path(64501), hop(hopIPv4...)), taken},
	{"Partial on a well-known attribute", false, instead(attribute(wellKnown|0x20, 1, 0), path(64501), hop(hopIPv4...)), taken},
	// 3 (d): missing ones.
	{"no ORIGIN", false, instead(path(64501), hop(hopIPv4...)), gone},
	{"no AS_PATH", false, instead(origin(0), hop(hopIPv4...)), gone},
	{"no NEXT_HOP", false, instead(origin(0), path(64501)), gone},
	{"no attribute at all", false, instead(), gone},
	{"IPv6 and no ORIGIN", true, through(path(64501)), gone},
	{"IPv6 and no AS_PATH", true, through(origin(0)), gone},
	{"IPv6 and an ORIGIN of two octets", true, through(origin(0, 0), path(64501)), gone},
	{"IPv6 and a NEXT_HOP of three octets that means nothing", true, through(origin(0), path(64501), hop(1, 2, 3)), taken},
	{"IPv6 and everything in order", true, good, taken},
	// 3 (g): the same again.
	{"ORIGIN twice, the second malformed", false, with(origin(7)), taken},
	{"COMMUNITIES twice", false, with(attribute(transitive, 8, 0xfb, 0xf5, 0, 1), attribute(transitive, 8, 0)), taken},
	{"MP_REACH twice", true, func(p string) []byte { return update(nil, join(origin(0), path(64501), reach(p), reach(p)), nil) }, "3/1"},
	{"MP_UNREACH twice", true, alone(unreach(nlri("2001:db8:fff0::/48")...), unreach(nlri("2001:db8:fff0::/48")...)), "3/1"},
	// 3 (h): the strongest wins.
	{"malformed AGGREGATOR and malformed MED", false, with(attribute(transitive, 7, 1), attribute(optional, 4, 1)), gone},
	{"malformed MED and MP_REACH cut off", false, with(attribute(optional, 4, 1), attribute(optional, 14, 0, 2)), "3/9"},
	// 3 (a), (b) and 4: lengths of the whole.
	{"withdrawn routes beyond the end", false, raw(0, 99, 0, 0), "3/1"},
	{"attributes beyond the end", false, raw(0, 0, 0, 99, 0), "3/1"},
	{"no room for the attributes' length", false, raw(0, 2, 8, 60), "3/1"},
	{"last attribute beyond the end of all", false, with([]byte{transitive, 8, 8, 0xfb, 0xf5, 0, 1}), gone},
	{"one octet after the last attribute", false, with([]byte{transitive}), gone},
	{"two octets after the last attribute", false, with([]byte{transitive, 8}), gone},
	{"three octets of a long attribute", false, with([]byte{transitive | 0x10, 8, 0}), gone},
	{"MP_REACH beyond the end of all", true, func(p string) []byte {
		return update(nil, join(origin(0), path(64501), []byte{optional, 14, 200, 0, 2, 1}), nil)
	}, "3/9"},
	// 5.2: attributes without a prefix.
	{"malformed ORIGIN and no prefix", false, alone(origin(9), path(64501), hop(hopIPv4...)), "3/6"},
	{"MP_UNREACH and a malformed ORIGIN", true, alone(origin(9), unreach(nlri("2001:db8:fff0::/48")...)), "3/6"},
	{"attributes in order and no prefix", false, alone(base()), taken},
	{"MP_UNREACH with further attributes", true, alone(base(), unreach(nlri("2001:db8:fff0::/48")...)), taken},
	// 5.3: prefixes.
	{"prefix of 33 bits", false, func(string) []byte { return update(nil, base(), []byte{33, 60, 0, 0, 0, 0}) }, "3/10"},
	{"prefix cut off", false, func(string) []byte { return update(nil, base(), []byte{24, 60, 0}) }, "3/10"},
	{"second prefix cut off", false, func(p string) []byte { return update(nil, base(), append(nlri(p), 24)) }, "3/10"},
	{"withdrawn prefix of 200 bits", false, func(string) []byte { return update(append([]byte{200}, make([]byte, 25)...), nil, nil) }, "3/10"},
	{"withdrawn prefix cut off", false, func(string) []byte { return update([]byte{24, 60}, nil, nil) }, "3/10"},
	{"malformed ORIGIN and a prefix cut off", false, func(string) []byte { return update(nil, join(origin(9), path(64501)), []byte{24, 60}) }, "3/10"},
	{"IPv6 prefix of 129 bits", true, alone(origin(0), path(64501), attribute(optional, 14, reachValue(hopIPv6, append([]byte{129}, make([]byte, 17)...))...)), "3/9"},
	{"IPv6 prefix cut off", true, alone(origin(0), path(64501), attribute(optional, 14, reachValue(hopIPv6, []byte{48, 32, 1})...)), "3/9"},
	{"withdrawn IPv6 prefix cut off", true, alone(unreach(48, 32, 1)), "3/9"},
	{"prefix with bits of the host", false, func(p string) []byte {
		b := nlri(p)
		return update(nil, base(), append([]byte{25}, append(b[1:], 127)...))
	}, taken},
	{"withdrawal of what nobody announced", false, func(string) []byte { return update(nlri("60.255.255.0/24"), nil, nil) }, taken},
	{"prefix announced and withdrawn at once", false, func(p string) []byte { return update(nlri(p), base(), nlri(p)) }, taken},
	// 7.11 and 7.12: next hops and flags of MP_REACH and MP_UNREACH.
	{"MP_REACH with a next hop of four octets", true, alone(origin(0), path(64501), attribute(optional, 14, reachValue(hopIPv4, nlri("2001:db8:fff0::/48"))...)), "3/9"},
	{"MP_REACH with a next hop of no octet", true, alone(origin(0), path(64501), attribute(optional, 14, reachValue(nil, nlri("2001:db8:fff0::/48"))...)), "3/9"},
	{"MP_REACH with a next hop of 255 octets", true, alone(origin(0), path(64501), attribute(optional, 14, 0, 2, 1, 255, 0)), "3/9"},
	{"MP_REACH with a second, link-local next hop", true, func(p string) []byte {
		return update(nil, join(origin(0), path(64501), attribute(optional, 14, reachValue(append(append([]byte{}, hopIPv6...), 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9), nlri(p))...)), nil)
	}, taken},
	{"MP_REACH with the next hop ::", true, func(p string) []byte {
		return update(nil, join(origin(0), path(64501), attribute(optional, 14, reachValue(make([]byte, 16), nlri(p))...)), nil)
	}, gone},
	{"MP_REACH that says it is transitive", true, func(p string) []byte {
		return update(nil, join(origin(0), path(64501), attribute(transitive, 14, reachValue(hopIPv6, nlri(p))...)), nil)
	}, gone},
	{"MP_UNREACH of two octets", true, alone(attribute(optional, 15, 0, 2)), "3/9"},
	{"MP_UNREACH of no octet", true, alone(attribute(optional, 15)), "3/9"},
	{"MP_UNREACH that says it is well-known", true, func(p string) []byte {
		return update(nil, attribute(wellKnown, 15, append([]byte{0, 2, 1}, nlri(p)...)...), nil)
	}, gone},
	// RFC 4271 section 6.3, which RFC 7606 leaves as it is.
	{"unknown well-known attribute", false, with(attribute(wellKnown, 99, 1)), "3/2"},
	{"unknown optional attribute", false, with(attribute(optional, 99, 1)), taken},
	{"unknown transitive attribute", false, with(attribute(transitive, 99, 1)), taken},
	{"attributes in no order", false, instead(hop(hopIPv4...), attribute(transitive, 8, 0xfb, 0xf5, 0, 1), path(64501), origin(0)), taken},
	{"an empty AS_PATH", false, instead(origin(0), path(), hop(hopIPv4...)), gone},
	{"AS_PATH of no octet", false, instead(origin(0), attribute(wellKnown, 2), hop(hopIPv4...)), taken},
	{"AS_PATH that ends in a set", false, instead(origin(0), attribute(wellKnown, 2, append(sequence(64501), 1, 1, 0, 0, 0xfb, 0xf6)...), hop(hopIPv4...)), gone},
}

func badUpdates(t *testing.T, b *bench) {
	for _, c := range malformed {
		b.check(t, c.name, func(t *testing.T) { c.try(t, b) })
	}
}

func (c badUpdate) try(t *testing.T, b *bench) {
	p, got := b.prefix(c.ipv6), ""
	switch c.want {
	case gone, taken:
		m := c.update(p)
		known := c.want == gone || !bytes.Contains(m, nlri(p)) // otherwise this is what announces it
		got = b.sent(p, known, m)
	default:
		got = b.ended(c.update(p))
	}
	if got != c.want {
		t.Errorf("got %s, want %s", got, c.want)
	}
}

// What a peer sends that speaks of AS numbers in two octets, and IPv4 alone.
func badUpdatesOfTwoOctets(t *testing.T, b *bench) {
	narrow := func(ases ...byte) []byte {
		return attribute(wellKnown, 2, append([]byte{2, byte(len(ases) / 2)}, ases...)...)
	}
	trans := []byte{0xfb, 0xf5, 0x5b, 0xa0} // 64501 and AS_TRANS
	for _, c := range []struct {
		name       string
		attributes []byte
		want       string // words of the reason, or gone
	}{
		{"AS_PATH alone", narrow(0xfb, 0xf5, 0xfb, 0xf6), "origin=64502 "},
		{"AS4_PATH", join(narrow(trans...), attribute(transitive, 17, sequence(64501, 4200000001)...)), "origin=4200000001 "},
		{"AS4_PATH shorter than the AS_PATH", join(narrow(trans...), attribute(transitive, 17, sequence(4200000001)...)), "origin=4200000001 "},
		{"AS4_PATH longer than the AS_PATH", join(narrow(trans...), attribute(transitive, 17, sequence(1, 2, 3)...)), "origin=23456 "},
		{"AS4_PATH cut off", join(narrow(0xfb, 0xf5, 0xfb, 0xf6), attribute(transitive, 17, 2, 9, 0, 0)), "origin=64502 "},
		{"AS4_PATH of no octet", join(narrow(0xfb, 0xf5, 0xfb, 0xf6), attribute(transitive, 17)), "origin=64502 "},
		{"AS4_AGGREGATOR of one octet", join(narrow(0xfb, 0xf5, 0xfb, 0xf6), attribute(transitive, 18, 1)), "origin=64502 "},
		{"AGGREGATOR of eight octets", join(narrow(0xfb, 0xf5, 0xfb, 0xf6), attribute(transitive, 7, make([]byte, 8)...)), "origin=64502 "},
		{"AS_PATH of four octets", path(64501, 64502), gone},
		{"AS_PATH of three octets an AS", attribute(wellKnown, 2, 2, 1, 0xfb, 0xf5, 0), gone},
	} {
		b.check(t, c.name, func(t *testing.T) {
			if b.session == nil || b.session.alive() != nil {
				b.session = b.narrow()
			}
			p := b.prefix(false)
			if err := b.session.send(update(nil, join(origin(0), narrow(0xfb, 0xf5, 0xfb, 0xff), hop(hopIPv4...)), nlri(p))); err != nil {
				t.Fatal(err)
			}
			b.says(inside(p), "origin=64511 ")
			if err := b.session.send(update(nil, join(origin(0), c.attributes, hop(hopIPv4...)), nlri(p))); err != nil {
				t.Fatal(err)
			}
			if c.want == gone {
				b.sends(inside(p), "msk")
			} else {
				b.says(inside(p), "placed=partners", c.want)
			}
			if err := b.session.alive(); err != nil {
				t.Error(err)
			}
		})
	}
}

// narrow brings a session up on which AS numbers have two octets.
func (b *bench) narrow() *handmade {
	b.t.Helper()
	o := fair()
	o.parameters = nil
	return b.confirmed(b.from, o.message(), update(nil, nil, nil))
}
