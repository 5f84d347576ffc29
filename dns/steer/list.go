package steer

import (
	"encoding/binary"
	"maps"
	"slices"
)

// list is places in the order in which a client may be sent to them: the first tier that has a
// serving place wins, places of one tier are equals. No place stands in it twice.
type list [][]placeID

// then appends the tiers of the second list, without the places that the first has already.
func (l list) then(m list) list {
	joined := slices.Clone(l)
	for _, tier := range m {
		var fresh []placeID
		for _, p := range tier {
			if !joined.has(p) && !slices.Contains(fresh, p) {
				fresh = append(fresh, p)
			}
		}
		if len(fresh) > 0 {
			joined = append(joined, fresh)
		}
	}
	return joined
}

func (l list) has(p placeID) bool {
	return slices.ContainsFunc(l, func(tier []placeID) bool { return slices.Contains(tier, p) })
}

// lists gives equal lists one small number, which is what the partitions of the address space
// hold. Number 0 is the empty list.
type lists struct {
	all    []list
	number map[string]uint32
}

func newLists() *lists {
	return &lists{all: []list{nil}, number: map[string]uint32{"": 0}}
}

// clone gives numbers that agree with these, and can grow without them.
func (ls *lists) clone() *lists {
	return &lists{slices.Clone(ls.all), maps.Clone(ls.number)}
}

func (ls *lists) intern(l list) uint32 {
	var key []byte
	for _, tier := range l {
		key = binary.AppendUvarint(key, uint64(len(tier)))
		for _, p := range tier {
			key = binary.AppendUvarint(key, uint64(p))
		}
	}
	if n, ok := ls.number[string(key)]; ok {
		return n
	}
	n := uint32(len(ls.all))
	ls.all = append(ls.all, l)
	ls.number[string(key)] = n
	return n
}
