package prefix

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestLookupGivesValueAndSpan(t *testing.T) {
	table := twin{
		{netip.MustParsePrefix("192.0.2.0/24"), 1},
		{netip.MustParsePrefix("192.0.2.128/25"), 2},
		{netip.MustParsePrefix("198.51.100.0/25"), 3}, // two halves of one value,
		{netip.MustParsePrefix("198.51.100.128/25"), 3},
		{netip.MustParsePrefix("203.0.113.7/32"), 4},
		{netip.MustParsePrefix("203.0.113.9/24"), 5}, // bits behind the prefix do not count
		{netip.MustParsePrefix("2001:db8::/32"), 6},
		{netip.MustParsePrefix("2001:db8:0:1::/64"), 0}, // a hole
		{netip.MustParsePrefix("2001:db8::1/128"), 7},
		{netip.Prefix{}, 8}, // no address
	}.table()
	for _, c := range []struct {
		name, address string
		value         uint32
		span          int
	}{
		{"half that is left of a network", "192.0.2.7", 1, 25},
		{"half that is set on its own", "192.0.2.200", 2, 25},
		{"halves of one value merge", "198.51.100.1", 3, 24},
		{"single address", "203.0.113.7", 4, 32},
		{"neighbour of a single address", "203.0.113.6", 5, 32},
		{"far from a single address", "203.0.113.129", 5, 25},
		{"outside of everything", "10.1.2.3", 0, 1},
		{"IPv6 network", "2001:db8:8000::", 6, 33},
		{"IPv6 hole", "2001:db8:0:1::7", 0, 64},
		{"IPv6 single address", "2001:db8::1", 7, 128},
		{"IPv6 neighbour of a single address", "2001:db8::", 6, 128},
		{"IPv6 outside of everything", "8000::", 0, 1},
		{"mapped IPv4 is IPv6 here", "::ffff:192.0.2.7", 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			if value, span := table.Lookup(netip.MustParseAddr(c.address)); value != c.value || span != c.span {
				t.Errorf("Lookup(%s) = %d, %d; want %d, %d", c.address, value, span, c.value, c.span)
			}
		})
	}
}

func TestZeroTableIsZeroEverywhere(t *testing.T) {
	for _, table := range []*Table{{}, new(Builder).Table(), (&Table{}).Map(func(uint32) uint32 { return 0 })} {
		for _, a := range []string{"0.0.0.0", "255.255.255.255", "::", "ffff::"} {
			if value, span := table.Lookup(netip.MustParseAddr(a)); value != 0 || span != 0 {
				t.Errorf("Lookup(%s) = %d, %d; want 0, 0", a, value, span)
			}
		}
		if !reflect.DeepEqual(table, &Table{}) {
			t.Error("it is another than the zero Table")
		}
		checkPartition(t, table)
	}
}

func TestLastCallWinsForEqualPrefixes(t *testing.T) {
	p := netip.MustParsePrefix("192.0.2.0/24")
	table := twin{{p, 1}, {p, 3}, {p, 2}}.table()
	if value, _ := table.Lookup(p.Addr()); value != 2 {
		t.Errorf("value %d, want 2", value)
	}
}

func TestTableStaysAsItWasWhenTheBuilderGoesOn(t *testing.T) {
	var b Builder
	b.Set(netip.MustParsePrefix("192.0.2.0/24"), 1)
	before := b.Table()
	b.Set(netip.MustParsePrefix("192.0.2.128/25"), 2)
	b.Table()
	if value, span := before.Lookup(netip.MustParseAddr("192.0.2.129")); value != 1 || span != 24 {
		t.Errorf("Lookup = %d, %d; want 1, 24", value, span)
	}
}

func TestAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUniverse(t)
		w := u.drawTwin(t, "rules")
		u.check(t, w.table(), w.lookup)
	})
}

func TestOrderOfCallsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUniverse(t)
		w := u.drawTwin(t, "rules")
		seen := map[netip.Prefix]bool{}
		var once twin
		for _, n := range w {
			if p := n.prefix.Masked(); !seen[p] {
				seen[p] = true
				once = append(once, n)
			}
		}
		shuffled := rapid.Permutation(once).Draw(t, "order")
		if !reflect.DeepEqual(once.table(), twin(shuffled).table()) { // go-cmp takes 2^depth steps here
			t.Fatalf("order %v makes another table than %v", shuffled, once)
		}
	})
}

func TestMapAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUniverse(t)
		w := u.drawTwin(t, "rules")
		to := rapid.SliceOfN(rapid.Uint32Range(0, 2), 3, 3).Draw(t, "map")
		f := func(x uint32) uint32 { return to[x] }
		u.check(t, w.table().Map(f), func(a netip.Addr) uint32 { return f(w.lookup(a)) })
	})
}

func TestOverlayAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUniverse(t)
		v, w := u.drawTwin(t, "a"), u.drawTwin(t, "b")
		to := rapid.SliceOfN(rapid.Uint32Range(0, 3), 9, 9).Draw(t, "f")
		f := func(x, y uint32) uint32 { return to[3*x+y] }
		a, b := v.table(), w.table()
		u.check(t, Overlay(a, b, f), func(a netip.Addr) uint32 { return f(v.lookup(a), w.lookup(a)) })
		u.check(t, a, v.lookup) // the operands are as they were
		u.check(t, b, w.lookup)
	})
}

func TestReplaceAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUniverse(t)
		v, w := u.drawTwin(t, "a"), u.drawTwin(t, "b")
		block := netip.PrefixFrom(u.unit(rapid.IntRange(0, 1<<unitBits-1).Draw(t, "unit")), u.base.Bits()+rapid.IntRange(0, unitBits).Draw(t, "length"))
		a, b := v.table(), w.table()
		u.check(t, a.Replace(block, b), func(x netip.Addr) uint32 {
			if block.Contains(x) {
				return w.lookup(x)
			}
			return v.lookup(x)
		})
		u.check(t, a, v.lookup)
		u.check(t, b, w.lookup)
	})
}

func TestAllStopsWhenTheReaderDoes(t *testing.T) {
	table := random(100).table()
	for stop := 1; stop < 50; stop++ {
		n := 0
		for range table.All() {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Fatalf("stopped at %d, want %d", n, stop)
		}
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	table := random(20_000).table()
	if table.ipv4.fork == nil {
		t.Error("no fork is looked through")
	}
	four, six := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	if n := testing.AllocsPerRun(100, func() { table.Lookup(four); table.Lookup(six) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte{}, true)
	f.Add([]byte{0, 0, 10, 1, 3, 255, 10, 2}, true)
	f.Add([]byte{1, 7, 9, 1, 1, 7, 10, 0, 2, 0, 0, 2}, false)
	f.Fuzz(func(t *testing.T, rules []byte, ipv4 bool) {
		u := universe{netip.MustParsePrefix("2001:db8:0:fff0::/59")} // across the two words of a key
		if ipv4 {
			u = universe{netip.MustParsePrefix("192.0.0.0/22")}
		}
		var w twin
		for ; len(rules) >= 4 && len(w) < 64; rules = rules[4:] {
			a := u.unit((int(rules[0])<<8 | int(rules[1])) % (1 << unitBits))
			length := int(rules[2]) % (u.base.Bits() + unitBits + 1)
			w = append(w, network{netip.PrefixFrom(a, length), uint32(rules[3] % 4)})
		}
		u.check(t, w.table(), w.lookup)
	})
}

// random is a twin with n distinct-looking IPv4 networks, sized as routing tables are: most of them /16 to /24.
func random(n int) twin {
	r := rand.New(rand.NewPCG(1, 2))
	w := make(twin, n)
	for i := range w {
		k := key{high: r.Uint64()}
		w[i] = network{k.prefix4(16 + r.IntN(9)), r.Uint32N(250)}
	}
	return w
}
