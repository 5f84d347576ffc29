package dns

import (
	"iter"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/steer"
)

// Counts is what a responder has done since it began. It is safe for concurrent use.
//
// Every worker counts for itself, so that none waits for a cache line of another; the sums are made when
// somebody asks. Services are counted by their index in the policy, and under their names once the policy
// is gone.
type Counts struct {
	mu        sync.Mutex // a worker may wait for it: held for moments, however large the configuration is
	tallies   []*tally
	registers []*register // of the newest configurations, the newest last
	over      []*given    // of policies that are gone, and not in past yet
	transfers map[TransferOf]uint64
	notices   map[NoticeOf]uint64

	sums    sync.Mutex           // held while sums are made; never wanted by who has mu
	past    ledger               // of policies that are gone
	settled map[ledgerKey]uint64 // of answers that gave what was drained: those of drains that are over
}

func newCounts() *Counts {
	return &Counts{past: newLedger(), settled: map[ledgerKey]uint64{}, transfers: map[TransferOf]uint64{}, notices: map[NoticeOf]uint64{}}
}

// tally makes the counters of one worker.
func (c *Counts) tally() *tally {
	t := &tally{counts: c, given: &given{register: &register{}}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tallies = append(c.tallies, t)
	return t
}

// tally is the counters of one worker. Only it writes them.
type tally struct {
	counts  *Counts
	queries [transports]atomic.Uint64
	silent  atomic.Uint64 // packets that got no answer
	limited [spared + 1]atomic.Uint64
	rcodes  [dns.RcodeBadCookie + 1]atomic.Uint64 // but for those of a zone's outcomes that tell their RCODE
	meter

	// What places were given is counted by their index, for one configuration. It is replaced under Counts.mu.
	given  *given
	sketch sketch
}

func (t *tally) ignored(over Transport) {
	t.queries[over].Add(1)
	t.silent.Add(1)
}

func (t *tally) answered(l *lookup, f fate) {
	a := &l.answer
	t.queries[l.req.Over].Add(1)
	if f != sent {
		t.limited[f].Add(1)
	}
	if f == dropped {
		return
	}
	t.scope(l)
	if a.zone < 0 {
		t.rcodes[a.rcode].Add(1)
		return
	}
	if l.s.Config() != t.given.config || t.given.zones == nil {
		t.turn(l.s)
	}
	o := outcomeOf(a.rcode)
	t.given.zones[a.zone].outcomes[o].Add(1)
	if o == outcomeOther {
		t.rcodes[a.rcode].Add(1)
	}
	if a.service >= 0 {
		t.given.count(a.service, &l.decision, l.s, l.req.Now)
		t.sketch.note(l, l.decision.Members())
	}
}

// turn puts what was counted for one configuration aside, and begins with another. It is called between a question and
// its answer.
func (t *tally) turn(s *steer.Snapshot) {
	next := newGiven(t.counts.register(s.Policy(), s.Config()))
	t.counts.mu.Lock()
	defer t.counts.mu.Unlock()
	t.counts.over = append(t.counts.over, t.given)
	t.sketch.begin(t.given.shape == next.shape)
	t.given = next
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

// Queries gives the requests that came in, by transport.
func (c *Counts) Queries() iter.Seq2[Transport, uint64] {
	return func(yield func(Transport, uint64) bool) {
		for over := range transports {
			n := c.sum(func(t *tally) *atomic.Uint64 { return &t.queries[over] })
			for of, transfers := range c.Transfers() {
				if of.Over == over {
					n += transfers
				}
			}
			if !yield(over, n) {
				return
			}
		}
	}
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
		var zones [outcomes]uint64
		for _, of := range c.ledger().zones {
			for o, n := range of {
				zones[o] += n
			}
		}
		for _, transfers := range c.Transfers() {
			zones[outcomeAnswered] += transfers
		}
		for i := range dns.RcodeBadCookie + 1 {
			n := c.sum(func(t *tally) *atomic.Uint64 { return &t.rcodes[i] })
			if o := outcomeOf(i); o != outcomeOther {
				n += zones[o]
			}
			if n > 0 && !yield(RcodeWord(i), n) {
				return
			}
		}
	}
}

// Zones gives the answers from zones, by origin and by what became of the question: answered, denied or other.
func (c *Counts) Zones() iter.Seq2[[2]string, uint64] {
	return func(yield func([2]string, uint64) bool) {
		for name, of := range c.ledger().zones {
			for o, word := range [outcomes]string{"answered", "denied", "other"} {
				if of[o] > 0 && !yield([2]string{name, word}, of[o]) {
					return
				}
			}
		}
	}
}

// Transferred is what became of a zone transfer to somebody who may have it.
type Transferred string

// The outcomes of transfers.
const (
	TransferSent    Transferred = "sent"    // the whole zone
	TransferCurrent Transferred = "current" // nothing but the SOA record: the asker has this version
	TransferFailed  Transferred = "failed"  // the asker went away, took too long, or a record is too long for any message
)

// TransferOf is a zone, how it was asked for, and what became of that.
type TransferOf struct {
	Zone    string
	Over    Transport
	Outcome Transferred
}

// transferred counts a transfer that is over.
func (c *Counts) transferred(zone string, over Transport, outcome Transferred) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.transfers[TransferOf{zone, over, outcome}]++
}

// Transfers gives the zone transfers that are over, by zone, transport and outcome, those that occurred. Askers that
// may have none got an answer like any other, which is not counted here.
func (c *Counts) Transfers() iter.Seq2[TransferOf, uint64] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.All(maps.Clone(c.transfers))
}

// Notified is what became of telling a secondary of a change.
type Notified string

// What can become of it. One that gives way to a newer change counts as none.
const (
	NotifyAnswered Notified = "answered"
	NotifyRefused  Notified = "refused" // it answered with an error
	NotifyLost     Notified = "lost"    // it did not answer any of the tries
)

// NoticeOf is a zone, and what became of telling a secondary that it changed.
type NoticeOf struct {
	Zone    string
	Outcome Notified
}

// notified counts that a secondary was told, or could not be.
func (c *Counts) notified(zone string, outcome Notified) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices[NoticeOf{zone, outcome}]++
}

// Notices gives how often secondaries were told of a change, by zone and by what became of it, those that occurred.
func (c *Counts) Notices() iter.Seq2[NoticeOf, uint64] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.All(maps.Clone(c.notices))
}

// Given is how often a place was given to clients of a service, by what placed them.
type Given struct {
	Service string
	Place   string // "": answers that gave no place: all_down, or nothing of the family that was asked for
	Placed  steer.Placed
	Answers uint64 // in which it was the first place: each answer counts once
	Beside  uint64 // in which it stood beside another
}

// Given gives the answers from services, those that occurred.
func (c *Counts) Given() iter.Seq[Given] {
	return func(yield func(Given) bool) {
		for key, e := range c.ledger().given {
			for placed, n := range e.first {
				g := Given{key.service, key.place, steer.Placed(placed), n, e.beside[placed]}
				if (g.Answers > 0 || g.Beside > 0) && !yield(g) {
					return
				}
			}
		}
	}
}

// Expiry is when the last answer that gave a place to a client of a service leaves the caches that keep to its TTL;
// zero when none did since the start.
func (c *Counts) Expiry(service, place string) time.Time {
	e := c.ledger().given[ledgerKey{service, place}]
	if e.expiry == 0 {
		return time.Time{}
	}
	return time.Unix(int64(e.expiry), 0)
}

// Drained is how many answers have given a place to clients of a service since it was drained, because nobody else
// serves.
func (c *Counts) Drained(service, place string) uint64 {
	key := ledgerKey{service, place}
	n := c.ledger().given[key].drained
	c.sums.Lock()
	defer c.sums.Unlock()
	return n - min(n, c.settled[key])
}

// Settle starts the counting of [Counts.Drained] anew for every place and service that is not drained in the snapshot.
// It is called when drains began or ended.
func (c *Counts) Settle(s *steer.Snapshot) {
	sum := c.ledger().given
	c.sums.Lock()
	defer c.sums.Unlock()
	for i, svc := range s.Policy().Services() {
		drained := s.Drained(i)
		for m, place := range svc.Places() {
			if m >= steer.DrainedMembers || drained>>m&1 == 0 {
				key := ledgerKey{svc.Name(), place}
				if n := sum[key].drained; n > 0 {
					c.settled[key] = n
				}
			}
		}
	}
}

// RcodeWord is the word for an RCODE.
func RcodeWord(rcode int) string {
	if rcode == dns.RcodeBadVers {
		return "BADVERS" // the library has the name that TSIG gives to the same number
	}
	return dns.RcodeToString[rcode]
}
