package config

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// crew is how many processors a reading may take at a time. The zero value is a crew of one: the caller.
type crew int

// everybody takes all processors: nobody waits for anything but the result.
func everybody() crew { return crew(runtime.GOMAXPROCS(0)) }

// each does something for every number below n.
func (by crew) each(n int, do func(int)) {
	if by <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(int(by), n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

// beside does something while the caller goes on, or before it does. The result waits for it.
func (by crew) beside(do func()) (wait func()) {
	if by <= 1 {
		do()
		return func() {}
	}
	var one sync.WaitGroup
	one.Go(do)
	return one.Wait
}
