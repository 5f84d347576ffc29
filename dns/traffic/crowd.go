package traffic

import (
	"cmp"
	"net/netip"
	"slices"

	"gslb/config"
	"gslb/dns/steer"
)

// Crowd is clients that have one address.
type Crowd struct {
	Address netip.Addr
	Weight  float64 // how many they are, in any unit; not negative
}

// settled is how many crowds are settled at a time.
const settled = 1 << 14

// inOrder gives crowds by the addresses that they are steered by, in their order: neighbours get the same, mostly.
func inOrder(s *steer.Snapshot, crowds []Crowd) []Crowd {
	all := make([]Crowd, len(crowds))
	config.AllProcessors().Each((len(crowds)+settled-1)/settled, func(portion int) {
		for i := portion * settled; i < min(len(crowds), (portion+1)*settled); i++ {
			all[i] = Crowd{s.Client(crowds[i].Address, steer.Subnet{}).Address, crowds[i].Weight}
		}
	})
	slices.SortFunc(all, func(a, b Crowd) int { return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Weight, b.Weight)) })
	return all
}
