// Package spread answers the question: how are durations spread? It counts them in buckets, each twice as wide as the one
// before, so that microseconds and seconds fit one small array.
package spread

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Buckets is how many there are with a bound: the first holds what takes a microsecond at most, the last half a minute.
const Buckets = 26

// Spread counts durations. The zero value is empty. It is safe for concurrent use, and costs two additions.
type Spread struct {
	counts [Buckets + 1]atomic.Uint64 // the last is without bound
	total  atomic.Int64               // nanoseconds
}

// Add counts one duration; one below zero, by a clock that was set, is none.
func (s *Spread) Add(d time.Duration) {
	d = max(d, 0)
	micros := uint64(d+time.Microsecond-1) / uint64(time.Microsecond)
	s.counts[min(bits.Len64(max(micros, 1)-1), Buckets)].Add(1)
	s.total.Add(int64(d))
}

// Sum is what one or several spreads hold at a moment.
type Sum struct {
	counts [Buckets + 1]uint64
	total  time.Duration
}

// Take adds what a spread holds.
func (sum *Sum) Take(s *Spread) {
	for i := range s.counts {
		sum.counts[i] += s.counts[i].Load()
	}
	sum.total += time.Duration(s.total.Load())
}

// Count is how many durations were counted.
func (sum Sum) Count() (n uint64) {
	for _, c := range sum.counts {
		n += c
	}
	return n
}

// Seconds is all of them together.
func (sum Sum) Seconds() float64 { return sum.total.Seconds() }

// Below gives, for the bound of each bucket in seconds, how many durations were at most as long.
func (sum Sum) Below() map[float64]uint64 {
	below := make(map[float64]uint64, Buckets)
	n, bound := uint64(0), time.Microsecond
	for _, c := range sum.counts[:Buckets] {
		n += c
		below[bound.Seconds()] = n
		bound *= 2
	}
	return below
}
