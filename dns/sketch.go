package dns

import (
	"iter"
	"slices"
	"sync/atomic"
	"time"
)

// sketch remembers, of some client networks, which places they were given last and, of those that were moved off a place
// that is drained, which they had before. It has a fixed size and belongs to one worker, which alone writes it. A
// reader may see one entry half new: what it makes is an estimate.
//
// It fills always, and not only while a drain holds: whom a place had been given can be known only from before.
type sketch struct {
	entries []sketchEntry // sketchSize of them; nil: nothing was given yet
}

const (
	sketchSize = 2048
	// SketchShare says that one client network in so many is remembered, always the same ones.
	SketchShare = 16
	sketchMost  = 64 // members of a service that fit the bits of an entry; larger services are not remembered
)

// sketchEntry is one network and one service. Of several that want the same entry the newest has it.
type sketchEntry struct {
	network atomic.Uint64
	at      atomic.Uint64 // the service in the upper half, Unix time in the lower
	last    atomic.Uint64 // members of the last answer, a bit for each
	before  atomic.Uint64 // members of the answer before the network was moved off a drained place; 0: it was not
	left    atomic.Uint64 // when that answer was given
}

// note takes in one answer, if it is to a network that is remembered.
func (k *sketch) note(l *lookup, members []uint32) {
	network := l.sought.Client.Network()
	if network%SketchShare != 0 || len(members) == 0 || slices.Max(members) >= sketchMost {
		return
	}
	e := k.entry(network, uint64(l.service))
	if e == nil {
		return
	}
	mask := uint64(0)
	for _, m := range members {
		mask |= 1 << m
	}
	at, now := e.at.Load(), uint64(l.service)<<32|uint64(uint32(l.req.Now.Unix()))
	last := e.last.Load()
	switch drained := l.s.Drained(l.service); {
	case e.network.Load() != network || at>>32 != now>>32:
		e.network.Store(network)
		e.before.Store(0)
	case last&drained != 0 && mask&drained == 0:
		e.before.Store(last)
		e.left.Store(uint64(uint32(at)))
	case e.before.Load()&mask != 0:
		e.before.Store(0) // it has the place again
	}
	e.last.Store(mask)
	e.at.Store(now)
}

func (k *sketch) entry(network, service uint64) *sketchEntry {
	if k.entries == nil {
		return nil
	}
	return &k.entries[(network/SketchShare^service*0x9e3779b97f4a7c15>>32)%sketchSize]
}

// begin empties the sketch where indices do not mean what they did: under a configuration with other services or places.
func (k *sketch) begin(same bool) {
	if k.entries == nil || !same {
		k.entries = make([]sketchEntry, sketchSize)
	}
}

// Moved is how many of the client networks that had been given a place lately have been given another since. It counts
// one network in [SketchShare], and each network once for every service.
type Moved struct {
	Had   int `json:"had"`
	Moved int `json:"moved"` // of them
}

// lately is how long before a drain a network must have been given the place to count.
const lately = time.Hour

// seen is what all workers together know of one network and service.
type seen struct{ had, other int64 }

// Moved counts the client networks that had been given a place, and those of them that were given another one since a
// moment.
func (c *Counts) Moved(place string, since time.Time) (m Moved) {
	type client struct {
		network uint64
		service string
	}
	all := map[client]seen{}
	for entries, services := range c.sketches() {
		for i := range entries {
			e := &entries[i]
			network, at := e.network.Load(), e.at.Load()
			service := int(at >> 32)
			if at == 0 || service >= len(services) {
				continue
			}
			svc := &services[service]
			member := slices.Index(svc.places, place)
			if member < 0 || member >= sketchMost {
				continue
			}
			key := client{network, svc.name}
			all[key] = all[key].with(e, 1<<member, int64(uint32(at)))
		}
	}
	for _, s := range all {
		if s.had < since.Add(-lately).Unix() {
			continue
		}
		m.Had++
		if s.other >= since.Unix() && s.other > s.had {
			m.Moved++
		}
	}
	return m
}

// sketches gives what every worker remembers, with the services that it is of.
func (c *Counts) sketches() iter.Seq2[[]sketchEntry, []servicePlaces] {
	c.mu.Lock()
	defer c.mu.Unlock()
	var entries [][]sketchEntry
	var services [][]servicePlaces
	for _, t := range c.tallies {
		entries, services = append(entries, t.sketch.entries), append(services, t.given.services)
	}
	return func(yield func([]sketchEntry, []servicePlaces) bool) {
		for i := range entries {
			if !yield(entries[i], services[i]) {
				return
			}
		}
	}
}

// with adds what one entry tells.
func (s seen) with(e *sketchEntry, place uint64, at int64) seen {
	if e.last.Load()&place != 0 {
		s.had = max(s.had, at)
	} else {
		s.other = max(s.other, at)
	}
	if e.before.Load()&place != 0 {
		s.had = max(s.had, int64(e.left.Load()))
	}
	return s
}
