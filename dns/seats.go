package dns

import (
	"runtime"
	"sync/atomic"
)

// seats is how many workers may wait for packets inside the kernel at a time. Who does so keeps, all the while, one of
// the places in which Go runs goroutines. The zero value has none.
type seats struct {
	most, taken atomic.Int64
}

// othersPlaces is how many of Go's places workers leave to everybody else, however many of them wait.
const othersPlaces = 2

// furnish makes as many seats as Go has places to spare now.
func (s *seats) furnish() { s.most.Store(int64(runtime.GOMAXPROCS(0) - othersPlaces)) }

// take gives false when there is no free one.
func (s *seats) take() bool {
	if s.taken.Add(1) <= s.most.Load() {
		return true
	}
	s.leave()
	return false
}

// leave gives one back.
func (s *seats) leave() { s.taken.Add(-1) }
