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
	if len(m) == 0 {
		return l
	}
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
	key    []byte // scratch
}

func newLists() *lists {
	return &lists{all: []list{nil}, number: map[string]uint32{"": 0}}
}

// clone gives numbers that agree with these, and can grow without them.
func (ls *lists) clone() *lists {
	return &lists{all: slices.Clone(ls.all), number: maps.Clone(ls.number)}
}

func (ls *lists) intern(l list) uint32 {
	ls.key = ls.key[:0]
	for _, tier := range l {
		ls.key = binary.AppendUvarint(ls.key, uint64(len(tier)))
		for _, p := range tier {
			ls.key = binary.AppendUvarint(ls.key, uint64(p))
		}
	}
	if n, ok := ls.number[string(ls.key)]; ok {
		return n
	}
	return ls.add(l)
}

// internOrder is intern for the list of one place a tier, which is made only if it is new.
func (ls *lists) internOrder(order []distant) uint32 {
	ls.key = ls.key[:0]
	for _, d := range order {
		ls.key = binary.AppendUvarint(append(ls.key, 1), uint64(d.place))
	}
	if n, ok := ls.number[string(ls.key)]; ok {
		return n
	}
	l := make(list, len(order))
	for i, d := range order {
		l[i] = []placeID{d.place}
	}
	return ls.add(l)
}

// add numbers a new list, whose key stands in ls.key.
func (ls *lists) add(l list) uint32 {
	n := uint32(len(ls.all))
	ls.all = append(ls.all, l)
	ls.number[string(ls.key)] = n
	return n
}
