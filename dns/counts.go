package dns

import (
	"iter"
	"sync"
	"sync/atomic"

	"github.com/miekg/dns"

	"gslb/dns/steer"
)

// Counts is what a responder has done since it began. It is safe for concurrent use.
type Counts struct {
	queries [2]atomic.Uint64 // UDP, TCP
	silent  atomic.Uint64    // packets that got no answer
	rcodes  [dns.RcodeBadVers + 1]atomic.Uint64
	steered sync.Map // steeredKey -> *atomic.Uint64
}

type steeredKey struct {
	service string
	placed  steer.Placed
}

func newCounts() *Counts { return &Counts{} }

func transport(stream bool) int {
	if stream {
		return 1
	}
	return 0
}

func (c *Counts) dropped(stream bool) {
	c.queries[transport(stream)].Add(1)
	c.silent.Add(1)
}

func (c *Counts) answered(stream bool, a *answer) {
	c.queries[transport(stream)].Add(1)
	c.rcodes[a.rcode].Add(1)
	if a.decided == nil {
		return
	}
	key := steeredKey{a.service, a.decided.Placed}
	n, ok := c.steered.Load(key)
	if !ok {
		n, _ = c.steered.LoadOrStore(key, new(atomic.Uint64))
	}
	n.(*atomic.Uint64).Add(1)
}

// Queries gives the packets that came in, over UDP and over TCP.
func (c *Counts) Queries() (udp, tcp uint64) { return c.queries[0].Load(), c.queries[1].Load() }

// Silent gives the packets that got no answer, since they were no requests.
func (c *Counts) Silent() uint64 { return c.silent.Load() }

// Rcodes gives the answers by RCODE, those that occurred.
func (c *Counts) Rcodes() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for i := range c.rcodes {
			if n := c.rcodes[i].Load(); n > 0 && !yield(rcodeWord(i), n) {
				return
			}
		}
	}
}

// Steered gives the answers from services, by service and by what placed the client.
func (c *Counts) Steered() iter.Seq2[[2]string, uint64] {
	return func(yield func([2]string, uint64) bool) {
		c.steered.Range(func(k, n any) bool {
			key := k.(steeredKey)
			return yield([2]string{key.service, key.placed.String()}, n.(*atomic.Uint64).Load())
		})
	}
}

func rcodeWord(rcode int) string {
	if rcode == dns.RcodeBadVers {
		return "BADVERS" // the library has the name that TSIG gives to the same number
	}
	return dns.RcodeToString[rcode]
}
