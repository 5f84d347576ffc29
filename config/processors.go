package config

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Processors is how many of them something may take at a time. With one, or the zero value, it is the caller who does it all.
type Processors int

// AllProcessors are for what has to be done before anything else.
func AllProcessors() Processors { return Processors(runtime.GOMAXPROCS(0)) }

// Each does something for every number below n, and returns when all is done.
func (by Processors) Each(n int, do func(int)) {
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
func (by Processors) beside(do func()) (wait func()) {
	if by <= 1 {
		do()
		return func() {}
	}
	var one sync.WaitGroup
	one.Go(do)
	return one.Wait
}
