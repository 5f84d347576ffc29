package steer_test

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gslb/dns/steer"
)

func TestScopeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := drawTwin(t)
		w := twinWorld(t, tw)
		s := w.snapshot()
		for i, svc := range tw.services {
			lists := map[netip.Addr][2]string{}
			for octet := range 256 {
				a := tw.address(byte(octet))
				lists[a] = tw.lists(svc, a)
			}
			outside := tw.lists(svc, tw.outside())
			for _, a := range slices.SortedFunc(maps.Keys(lists), netip.Addr.Compare) {
				d := steer.Decide(s, steer.Query{Service: i, Client: s.Client(a, steer.Subnet{})})
				checkScope(t, a, d.Span, tw.block(), lists, outside)
			}
		}
	})
}

// checkScope tells when a block is not the widest in which all lists are those of the address.
func checkScope(t *rapid.T, a netip.Addr, span, all int, lists map[netip.Addr][2]string, outside [2]string) {
	same := func(bits int) bool {
		block := netip.PrefixFrom(a, bits).Masked()
		for other, l := range lists {
			if block.Contains(other) && l != lists[a] {
				return false
			}
		}
		return bits >= all || outside == lists[a]
	}
	if !same(span) {
		t.Fatalf("scope /%d of %s holds an address with other lists", span, a)
	}
	if span > 0 && same(span-1) {
		t.Fatalf("scope /%d of %s could be wider", span, a)
	}
}

func TestTiersAreThoseOfTheSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := drawTwin(t)
		w := twinWorld(t, tw)
		for i, svc := range tw.services {
			for range 16 {
				a := tw.address(rapid.Byte().Draw(t, "client"))
				got, want := explained(w, fmt.Sprintf("s%d", i), a), tw.tiers(svc, a)
				if got != want {
					t.Fatalf("client %s of s%d: got tiers %s, want %s\n%s", a, i, got, want, tw.yaml())
				}
			}
		}
	})
}

func TestHealthNeverMovesTheScope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := drawTwin(t)
		w := twinWorld(t, tw)
		a := tw.address(rapid.Byte().Draw(t, "client"))
		before, _ := decide(w.t, w.snapshot(), "s0", a.String(), steer.IPv4, 1)
		for _, target := range w.policy.Targets() {
			if rapid.Bool().Draw(t, "fails") {
				w.record(target, "----------")
			}
		}
		if after, _ := decide(w.t, w.snapshot(), "s0", a.String(), steer.IPv4, 1); after.Span != before.Span {
			t.Fatalf("scope of %s was /%d, is /%d after failures", a, before.Span, after.Span)
		}
	})
}

// The blocks of a service that resolvers may keep answers for never lie over each other, so that no answer
// hides another: whoever is in a client's block has the same block.
func TestBlocksOfAServiceNeverOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := drawTwin(t)
		s := twinWorld(t, tw).snapshot()
		for i := range tw.services {
			blocks := map[netip.Addr]netip.Prefix{}
			for octet := range 256 {
				a := tw.address(byte(octet))
				d := steer.Decide(s, steer.Query{Service: i, Client: s.Client(a, steer.Subnet{})})
				blocks[a] = netip.PrefixFrom(a, d.Span).Masked()
			}
			for a, block := range blocks {
				for other, around := range blocks {
					if block.Contains(other) && around != block {
						t.Fatalf("%s is in %s, the block of %s, and has %s itself", other, block, a, around)
					}
				}
			}
		}
	})
}

// Whether a client asks by itself or a resolver asks for it makes no difference, nor does the form in which an
// IPv4 address is told; only the scope counts the bits before it.
func TestSourcesAndSubnetsAreSteeredAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tw := drawTwin(t)
		s := twinWorld(t, tw).snapshot()
		a, seed := tw.address(rapid.Byte().Draw(t, "client")), rapid.Uint64().Draw(t, "seed")
		for i := range tw.services {
			itself := steer.Decide(s, steer.Query{Service: i, Client: s.Client(a, steer.Subnet{}), Seed: seed})
			want := fmt.Sprint(itself.Addresses(s, i, nil), itself.Placed, itself.Span, itself.TTL)
			for told, before := range forms(a) {
				client := s.Client(mustAddr("192.0.2.9"), steer.Subnet{Prefix: netip.PrefixFrom(told, told.BitLen())})
				d := steer.Decide(s, steer.Query{Service: i, Client: client, Seed: seed})
				if got := fmt.Sprint(d.Addresses(s, i, nil), d.Placed, d.Span, d.TTL); got != want {
					t.Fatalf("s%d says %s to %s itself, and %s for it as %s", i, want, a, got, told)
				}
				scope := before + d.Span
				if d.Span == 0 {
					scope = 0
				}
				if got := client.Scope(d.Span); got != scope {
					t.Fatalf("scope for %s is %d, want %d", told, got, scope)
				}
			}
		}
	})
}

// forms gives the ways in which a resolver may tell of an address, with the bits before the address in each.
func forms(a netip.Addr) map[netip.Addr]int {
	all := map[netip.Addr]int{a: 0}
	if !a.Is4() {
		return all
	}
	b := a.As4()
	for text, inverted := range map[string]byte{"::": 0, "::ffff:0:0": 0, "::ffff:0:0:0": 0, "64:ff9b::": 0, "2001:0:1:2:3:4::": 0xff} {
		form := mustAddr(text).As16()
		for i, octet := range b {
			form[12+i] = octet ^ inverted
		}
		all[netip.AddrFrom16(form)] = 96
	}
	all[netip.AddrFrom16([16]byte{0x20, 0x02, b[0], b[1], b[2], b[3], 15: 1})] = 16
	return all
}

// The /56 of an IPv6 client may hold the addresses that carry IPv4 ones, and their hash is that of a /24 of IPv4: no
// answer may be kept for both.
func TestScopeOfAHashHoldsNoEmbeddedAddresses(t *testing.T) {
	w := newWorld(t, `
datacenters: {a: {}, b: {}, c: {}}
services:
  hash: {steer: [datacenters], pick: hash, at: {a: [192.0.2.1], b: [192.0.2.2], c: [192.0.2.3]}}
  ramp: {steer: [datacenters], ramp: 10m, at: {a: [192.0.2.1], b: [192.0.2.2]}}
`)
	for client, want := range map[string]int{
		"::1:0:0:0":          80,
		"::ffff:1:0:1":       96,
		"64:ff9b::1:0:0:1":   80,
		"64:ff9b:0:0:8000::": 65,
		"64:ff9b:0:100::":    56,
		"2001:1::":           56,
		"2a00::1":            56,
	} {
		for _, service := range []string{"hash", "ramp"} {
			if d, _ := w.ask(service, client, steer.IPv4, 1); d.Span != want {
				t.Errorf("scope of %s for %s is %d, want %d", service, client, d.Span, want)
			}
		}
	}
}

func TestEachServiceHasItsOwnBlocks(t *testing.T) {
	w := newWorld(t, `
datacenters: {a: {}, b: {}}
maps:
  coarse: [{networks: [198.18.0.0/16], to: [b, a]}, {to: [a, b]}]
  fine: [{networks: [198.18.7.0/26], to: [b, a]}, {to: [a, b]}]
services:
  wide: {steer: [geo], map: coarse, at: {a: [192.0.2.1], b: [192.0.2.2]}}
  narrow: {steer: [geo], map: fine, at: {a: [192.0.2.1], b: [192.0.2.2]}}
  none: {steer: [datacenters], at: {a: [192.0.2.1], b: [192.0.2.2]}}
`)
	for service, want := range map[string]int{"wide": 16, "narrow": 26, "none": 0} {
		if d, _ := w.ask(service, "198.18.7.1", steer.IPv4, 1); d.Span != want {
			t.Errorf("scope of %s is %d, want %d", service, d.Span, want)
		}
	}
}
