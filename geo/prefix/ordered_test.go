package prefix_test

import (
	"net/netip"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"gslb/geo/prefix"
)

// Made of the blocks of a table, in their order, a table is the same again, with all or some of them.
func TestOrderedMakesWhatABuilderMakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all prefix.Builder
		for range rapid.IntRange(0, 200).Draw(t, "prefixes") {
			all.Set(drawPrefix(t), rapid.Uint32Range(0, 5).Draw(t, "value"))
		}
		var some prefix.Builder
		var o prefix.Ordered
		var last netip.Prefix
		for p, value := range all.Table().All() {
			if rapid.IntRange(0, 3).Draw(t, "leave out") == 0 {
				continue
			}
			some.Set(p, value)
			if !o.Set(p, value) {
				t.Fatalf("%s refused", p)
			}
			last = p
		}
		if last.IsValid() && o.Set(last, 1) {
			t.Fatalf("%s taken twice", last)
		}
		if got, want := o.Table(), some.Table(); !reflect.DeepEqual(got, want) {
			t.Fatalf("tables differ:\n%v\n%v", got, want)
		}
	})
}

func TestOrderedRefusesWhatComesTooLate(t *testing.T) {
	for _, tc := range [][2]string{
		{"192.0.2.0/24", "192.0.2.0/24"}, {"192.0.2.0/24", "192.0.2.128/25"}, {"192.0.2.0/24", "192.0.0.0/16"}, {"192.0.2.0/24", "10.0.0.0/8"},
		{"0.0.0.0/0", "255.0.0.0/8"}, {"::/0", "ffff::/16"}, {"255.255.255.255/32", "0.0.0.0/32"}, {"ff00::/8", "::/8"}, {"::/64", "::8000:0:0:0/65"},
	} {
		var o prefix.Ordered
		if !o.Set(netip.MustParsePrefix(tc[0]), 1) || o.Set(netip.MustParsePrefix(tc[1]), 2) {
			t.Errorf("after %s comes %s: not refused", tc[0], tc[1])
		}
	}
}
