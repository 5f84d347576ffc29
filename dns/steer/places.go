package steer

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// placeSet is what services with the same places have in common, in the one copy that they share.
type placeSet struct {
	at          []placeID // sorted; the i-th is that of the i-th member
	near        uint64    // the same, a bit for each place from the first one on; 0: they do not fit
	names       []string
	datacenters list // one tier
	rest        list // one tier
}

// placeSet gives the places of members, which are sorted.
func (c *compiler) placeSet(members []member) *placeSet {
	var key []byte
	for _, m := range members {
		key = binary.AppendUvarint(key, uint64(m.place))
	}
	if set := c.sets[string(key)]; set != nil {
		return set
	}
	set := c.newPlaceSet(members)
	c.sets[string(key)] = set
	return set
}

func (c *compiler) newPlaceSet(members []member) *placeSet {
	set := &placeSet{at: make([]placeID, len(members))}
	var datacenters, rest []placeID
	for i, m := range members {
		set.at[i] = m.place
		p := c.policy.places[m.place]
		set.names = append(set.names, p.name)
		if p.datacenter {
			datacenters = append(datacenters, m.place)
		}
		if !p.partnersOnly {
			rest = append(rest, m.place)
		}
	}
	set.datacenters, set.rest = list{}.then(list{datacenters}), list{}.then(list{rest})
	set.near = nearOf(set.at)
	return set
}

// nearOf gives the bits of places of which the last is not too far from the first.
func nearOf(at []placeID) (near uint64) {
	if len(at) == 0 || at[len(at)-1]-at[0] >= 64 {
		return 0
	}
	for _, p := range at {
		near |= 1 << (p - at[0])
	}
	return near
}

// member gives the number of the member at a place. Every decision asks for it several times.
func (set *placeSet) member(p placeID) (int, bool) {
	if set.near == 0 {
		return slices.BinarySearch(set.at, p)
	}
	before := uint(p - set.at[0]) // too many for the bits where it comes after all of them, or before
	if set.near>>before&1 == 0 {
		return 0, false
	}
	return bits.OnesCount64(set.near & (1<<before - 1)), true
}
