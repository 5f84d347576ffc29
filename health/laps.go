package health

import "time"

// lapsKept is how many durations are remembered of each endpoint: those of the usual window.
const lapsKept = 20

// laps is how long the last probes of an endpoint took, in microseconds, in a ring. They are no part of an [Endpoint]: no
// two are the same, and a report that changed with each would be made again for nothing. The zero value holds none.
type laps struct {
	micros [lapsKept]uint32
	n      uint8 // how many there are
	next   uint8 // where the next one goes
}

func (l *laps) add(took time.Duration) {
	l.micros[l.next] = uint32(min(took.Microseconds(), 1<<32-1))
	l.next = (l.next + 1) % lapsKept
	l.n = min(l.n+1, lapsKept)
}

// all gives them, oldest first.
func (l *laps) all() []time.Duration {
	all := make([]time.Duration, l.n)
	for i := range all {
		at := (int(l.next) + lapsKept - len(all) + i) % lapsKept
		all[i] = time.Duration(l.micros[at]) * time.Microsecond
	}
	return all
}

// History is what the board remembers of one endpoint beside its window. The zero History is that of a key that is not on the
// board.
type History struct {
	Took  []time.Duration // of the last probes, oldest first: at most 20, none from before this process
	Turns uint32          // how often the verdict has changed in this process
}

// History gives what is remembered of a key.
func (b *Board) History(k Key) History {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, ok := b.roster.index[k]
	if !ok {
		return History{}
	}
	return History{b.slots[i].took.all(), b.slots[i].turns}
}
