package sign

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"gslb/dns/zone"
)

// Counts is how many signatures were made since the process began, by why.
type Counts struct {
	Loaded  atomic.Uint64 // of what a zone holds, before it was served
	Ahead   atomic.Uint64 // of what a service could come to give
	Renewed atomic.Uint64 // in the place of others, since time passes and keys change
	Asked   atomic.Uint64 // since somebody asked for what nobody foresaw
}

// All gives the numbers by words.
func (c *Counts) All() iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		_ = yield("load", c.Loaded.Load()) && yield("ahead", c.Ahead.Load()) && yield("renewal", c.Renewed.Load()) && yield("question", c.Asked.Load())
	}
}

// task is a signature to be made.
type task struct {
	at    *slot
	owner zone.Name
	set   zone.RRset
}

// newZone makes a signed zone: out of the previous one whatever is the same there. Signatures that are still missing
// are its tasks.
func newZone(plain *zone.Zone, rules Rules, keys []*Key, prev *Zone, counts *Counts, now time.Time) (*Zone, error) {
	r, err := newRing(keys, plain.Origin(), now)
	if err != nil {
		return nil, err
	}
	z := &Zone{plain: plain, rules: rules, life: newLifetime(rules), leaves: make([]leaf, plain.Len()), counts: counts}
	for _, node := range plain.All() {
		z.leaves[node.Index()] = z.newLeaf(node, prev)
	}
	switch rules.Denial {
	case NSEC3:
		z.denial = newNSEC3(z)
	case Compact:
		z.denial = newCompact(z)
	default:
		z.denial = newNSEC(z)
	}
	z.apex.Store(z.apexOf(r))
	if prev != nil && prev.rules.Denial == rules.Denial {
		inherit(z.own(), prev.own())
	}
	return z, nil
}

// own gives every RRset of the signer's own.
func (z *Zone) own() []*Record {
	a := z.apex.Load()
	all := append(z.denial.records(), a.sets...)
	if a.link != nil {
		all = append(all, a.link)
	}
	return all
}

// newLeaf makes what one name has, with the signatures of the RRsets that the previous zone has, too.
func (z *Zone) newLeaf(node *zone.Node, prev *Zone) leaf {
	var l leaf
	if node.Hidden() {
		return l
	}
	var before *zone.Node
	if prev != nil {
		before = prev.node(node.Name())
	}
	if node.Service >= 0 {
		var steered *Steered
		if before != nil {
			steered = prev.Steered(before)
		}
		l.steered = newSteered(z, node, steered)
	}
	position := 0
	l.sets = make([]slot, len(node.Types()))
	for set := range node.Sets() {
		if before != nil {
			if old, ok := before.Set(set.Type); ok && old == set && len(prev.leaves[before.Index()].sets) > 0 {
				l.sets[position].Store(prev.leaves[before.Index()].sets[before.Position(set.Type)].Load())
			}
		}
		position++
	}
	return l
}

// inherit takes over the signatures of what is the same in another zone.
func inherit(to, from []*Record) {
	type key struct {
		owner  zone.Name
		rrtype uint16
	}
	known := make(map[key]*Record, len(from))
	for _, r := range from {
		known[key{r.owner, r.set.Type}] = r
	}
	for _, r := range to {
		if old := known[key{r.owner, r.set.Type}]; old != nil && old.set == r.set {
			r.slot.Store(old.slot.Load())
		}
	}
}

// apexOf makes what a ring makes of the zone's own name, without signatures.
func (z *Zone) apexOf(r *ring) *apex {
	a := z.newApex(r)
	switch chain := z.denial.(type) {
	case *nsec:
		a.link = chain.apexLink(a)
	case *nsec3:
		a.link = chain.apexLink(a)
	}
	return a
}

// tasks gives every signature that is missing, was made by keys that sign no more, or is about to end.
func (z *Zone) tasks(now time.Time) []task {
	var all []task
	current := z.apex.Load()
	z.each(func(at *slot, owner zone.Name, set zone.RRset) {
		s := at.Load()
		if s == nil || s.by != current.ring && !s.by.signsLike(current.ring, set.Type) || z.life.due(s, now) {
			all = append(all, task{at, owner, set})
		}
	})
	return all
}

// earliest is when the first of the signatures ends that are there.
func (z *Zone) earliest(now time.Time) time.Time {
	const far = int32(1<<31 - 1)
	at, first := uint32(now.Unix()), far
	z.each(func(of *slot, _ zone.Name, _ zone.RRset) {
		if s := of.Load(); s != nil {
			first = min(first, int32(s.expires-at)) // serial numbers (RFC 4034, section 3.1.5)
		}
	})
	if first == far {
		return time.Time{}
	}
	return now.Add(time.Duration(first) * time.Second)
}

// each goes through every RRset that is to be signed, and where its signature is.
func (z *Zone) each(do func(at *slot, owner zone.Name, set zone.RRset)) {
	for _, r := range z.own() {
		do(&r.slot, r.owner, r.set)
	}
	for name, node := range z.plain.All() {
		l := &z.leaves[node.Index()]
		position := 0
		for set := range node.Sets() {
			if position < len(l.sets) && signs(node, set) {
				do(&l.sets[position], name, set)
			}
			position++
		}
		if l.steered != nil {
			for _, r := range l.steered.records() {
				do(&r.slot, r.owner, r.set)
			}
		}
	}
}

// perform makes signatures on so many processors, and counts them. It tells how many are made from time to time.
func (z *Zone) perform(tasks []task, now time.Time, processors int, count *atomic.Uint64, tell func(done int)) error {
	var crew sync.WaitGroup
	var next, done atomic.Int64
	errs := make([]error, max(1, processors))
	for worker := range errs {
		crew.Go(func() {
			for errs[worker] == nil {
				const portion = 64
				from := int(next.Add(portion)) - portion
				if from >= len(tasks) {
					return
				}
				for _, t := range tasks[from:min(from+portion, len(tasks))] {
					s, err := z.sign(t.owner, t.set, now)
					if err != nil {
						errs[worker] = fmt.Errorf("zone %s: %s %s cannot be signed: %w", z.plain.Origin(), t.owner, zone.TypeWord(t.set.Type), err)
						return
					}
					t.at.Store(s)
					count.Add(1)
				}
				tell(int(done.Add(portion)))
			}
		})
	}
	crew.Wait()
	return errors.Join(errs...)
}

// allProcessors is for what somebody waits for.
func allProcessors() int { return runtime.GOMAXPROCS(0) }
