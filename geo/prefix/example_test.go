package prefix_test

import (
	"fmt"
	"net/netip"

	"gslb/geo/prefix"
)

func Example() {
	var b prefix.Builder
	b.Set(netip.MustParsePrefix("192.0.2.0/24"), 1)
	b.Set(netip.MustParsePrefix("192.0.2.128/25"), 2)
	table := b.Table()

	value, span := table.Lookup(netip.MustParseAddr("192.0.2.7"))
	fmt.Println("value", value, "in", span, "bits")

	// Where both values lead to the same answer, the block is wider.
	value, span = table.Map(func(v uint32) uint32 { return min(v, 1) }).Lookup(netip.MustParseAddr("192.0.2.7"))
	fmt.Println("value", value, "in", span, "bits")
	// Output:
	// value 1 in 25 bits
	// value 1 in 24 bits
}
