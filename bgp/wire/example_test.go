package wire_test

import (
	"bytes"
	"fmt"
	"net/netip"

	"gslb/bgp/wire"
)

func Example() {
	var pipe bytes.Buffer
	w := wire.NewWriter(&pipe)
	w.Write(wire.Hello{Version: wire.Version})
	w.Write(wire.Routes{Neighbour: 1, Changes: []wire.Change{
		{Prefix: netip.MustParsePrefix("203.0.113.0/24"), Path: wire.Path{Origin: 64501, PathLength: 1}},
		{Prefix: netip.MustParsePrefix("198.51.100.0/24"), Withdraw: true},
	}})

	r := wire.NewReader(&pipe)
	for m, err := r.Read(); err == nil; m, err = r.Read() {
		switch m := m.(type) {
		case wire.Hello:
			fmt.Println("version", m.Version)
		case wire.Routes:
			for _, c := range m.Changes {
				fmt.Println(c.Prefix, "withdraw:", c.Withdraw, "origin:", c.Path.Origin)
			}
		}
	}
	// Output:
	// version 3
	// 203.0.113.0/24 withdraw: false origin: 64501
	// 198.51.100.0/24 withdraw: true origin: 0
}
