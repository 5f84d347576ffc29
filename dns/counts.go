package dns

import (
	"iter"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/miekg/dns"

	"gslb/dns/steer"
)

// Counts is what a responder has done since it began. It is safe for concurrent use.
//
// Every worker counts for itself, so that none waits for a cache line of another; the sums are made when
// somebody asks. Services are counted by their index in the policy, and under their names once the policy
// is gone.
type Counts struct {
	mu      sync.Mutex
	tallies []*tally
	past    map[steeredKey]uint64 // of policies that are gone
}

type steeredKey struct {
	service string
	placed  steer.Placed
}

func newCounts() *Counts { return &Counts{past: map[steeredKey]uint64{}} }

// tally makes the counters of one worker.
func (c *Counts) tally() *tally {
	t := &tally{counts: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tallies = append(c.tallies, t)
	return t
}

// tally is the counters of one worker. Only it writes them.
type tally struct {
	counts  *Counts
	queries [2]atomic.Uint64 // UDP, TCP
	silent  atomic.Uint64    // packets that got no answer
	limited [spared + 1]atomic.Uint64
	rcodes  [dns.RcodeBadCookie + 1]atomic.Uint64

	// The services of one configuration are counted by their index: its number, their names, and the counters
	// by service and by what placed the client. They are replaced under Counts.mu. The policy itself must
	// not live on for being counted.
	config  uint64
	names   []string
	steered []atomic.Uint64
}

func transport(stream bool) int {
	if stream {
		return 1
	}
	return 0
}

func (t *tally) dropped(stream bool) {
	t.queries[transport(stream)].Add(1)
	t.silent.Add(1)
}

func (t *tally) answered(s *steer.Snapshot, stream bool, a *answer, f fate) {
	t.queries[transport(stream)].Add(1)
	if f != sent {
		t.limited[f].Add(1)
	}
	if f == dropped {
		return
	}
	t.rcodes[a.rcode].Add(1)
	if a.service < 0 {
		return
	}
	if s.Config() != t.config || t.names == nil {
		t.turn(s)
	}
	t.steered[a.service*steer.PlacedKinds+int(a.placed)].Add(1)
}

// turn puts what was counted for the services of one configuration aside, and begins with another.
func (t *tally) turn(s *steer.Snapshot) {
	t.counts.mu.Lock()
	defer t.counts.mu.Unlock()
	t.addTo(t.counts.past)
	t.config, t.names = s.Config(), nil
	for _, svc := range s.Policy().Services() {
		t.names = append(t.names, svc.Name())
	}
	t.steered = make([]atomic.Uint64, len(t.names)*steer.PlacedKinds)
}

// addTo adds the answers from services to a sum. The caller holds Counts.mu.
func (t *tally) addTo(sum map[steeredKey]uint64) {
	for i := range t.steered {
		if n := t.steered[i].Load(); n > 0 {
			sum[steeredKey{t.names[i/steer.PlacedKinds], steer.Placed(i % steer.PlacedKinds)}] += n
		}
	}
}

// sum adds up one counter of all workers.
func (c *Counts) sum(counter func(*tally) *atomic.Uint64) (n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.tallies {
		n += counter(t).Load()
	}
	return n
}

// Queries gives the packets that came in, over UDP and over TCP.
func (c *Counts) Queries() (udp, tcp uint64) {
	of := func(transport int) uint64 {
		return c.sum(func(t *tally) *atomic.Uint64 { return &t.queries[transport] })
	}
	return of(0), of(1)
}

// Silent gives the packets that got no answer, since they were no requests.
func (c *Counts) Silent() uint64 {
	return c.sum(func(t *tally) *atomic.Uint64 { return &t.silent })
}

// Limited gives the replies that were too many for their clients, by what became of them: slipped, dropped, or, in a
// dry run, spared.
func (c *Counts) Limited() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for f, word := range map[fate]string{slipped: "slipped", dropped: "dropped", spared: "spared"} {
			if !yield(word, c.sum(func(t *tally) *atomic.Uint64 { return &t.limited[f] })) {
				return
			}
		}
	}
}

// Rcodes gives the answers by RCODE, those that occurred.
func (c *Counts) Rcodes() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for i := range dns.RcodeBadCookie + 1 {
			n := c.sum(func(t *tally) *atomic.Uint64 { return &t.rcodes[i] })
			if n > 0 && !yield(rcodeWord(i), n) {
				return
			}
		}
	}
}

// Steered gives the answers from services, by service and by what placed the client.
func (c *Counts) Steered() iter.Seq2[[2]string, uint64] {
	return func(yield func([2]string, uint64) bool) {
		for key, n := range c.steered() {
			if !yield([2]string{key.service, key.placed.String()}, n) {
				return
			}
		}
	}
}

func (c *Counts) steered() map[steeredKey]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := maps.Clone(c.past)
	for _, t := range c.tallies {
		t.addTo(sum)
	}
	return sum
}

func rcodeWord(rcode int) string {
	if rcode == dns.RcodeBadVers {
		return "BADVERS" // the library has the name that TSIG gives to the same number
	}
	return dns.RcodeToString[rcode]
}
