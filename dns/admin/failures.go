package admin

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Bounds of guessing: so many failures of a source in the span shut it out for the rest of that. A source is an IPv4
// address or a /64.
const (
	failuresMax     = 10
	failuresSpan    = time.Minute
	failuresSources = 4096 // that are remembered at most
)

// failures counts who shows no good token. The machine of the server itself is counted and never shut out: whoever
// can run commands there could do so for others.
type failures struct {
	mu sync.Mutex
	of map[netip.Prefix]failure
}

// failure is how often a source has failed since a moment.
type failure struct {
	since time.Time
	times int
}

// wait is how long a source is shut out still; 0: it is not.
func (f *failures) wait(r *http.Request, now time.Time) time.Duration {
	if local(r) {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	one, ok := f.of[block(caller(r))]
	if !ok || one.times < failuresMax {
		return 0
	}
	return max(0, one.since.Add(failuresSpan).Sub(now))
}

// add counts a failure, and gives how many there were of late.
func (f *failures) add(r *http.Request, now time.Time) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := block(caller(r))
	one, ok := f.of[key]
	if !ok || now.Sub(one.since) >= failuresSpan {
		one = failure{since: now}
	}
	one.times++
	if !ok {
		f.makeRoom(now)
	}
	f.of[key] = one
	return one.times
}

// makeRoom forgets those whose span is over, or else anyone. The caller holds mu.
func (f *failures) makeRoom(now time.Time) {
	if f.of == nil {
		f.of = map[netip.Prefix]failure{}
	}
	if len(f.of) < failuresSources {
		return
	}
	for key, one := range f.of {
		if now.Sub(one.since) >= failuresSpan {
			delete(f.of, key)
		}
	}
	for key := range f.of {
		if len(f.of) < failuresSources {
			return
		}
		delete(f.of, key)
	}
}

// local tells whether a request comes from this machine, by loopback or by the address that it was sent to.
func local(r *http.Request) bool {
	to, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ownMachine(r) || ok && to.AddrPort().Addr().Unmap().WithZone("") == caller(r)
}

// block is the network that counts as one source.
func block(a netip.Addr) netip.Prefix {
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // of the zero address the zero prefix
	return p
}
