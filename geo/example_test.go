package geo_test

import (
	"fmt"
	"net/netip"

	"gslb/geo"
)

func Example() {
	m, err := geo.Open(geo.Files{Database: "builtin"})
	if err != nil {
		fmt.Println(err)
		return
	}
	l := m.Lookup(netip.MustParseAddr("193.0.6.139"))
	fmt.Println(l.Continent, l.Country, l.Located)
	// Output: EU NL true
}
