package sign

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// Denial is how a zone proves that there is no such name, or no such record.
type Denial uint8

const (
	// NSEC links the names of the zone to a chain (RFC 4034 section 4): it is made beforehand, and tells all names.
	NSEC Denial = iota
	// NSEC3 links hashes of the names (RFC 5155), with no iterations, no salt and no opt-out (RFC 9276).
	NSEC3
	// Compact proves by a record for each name that is asked for, which is signed when it is asked for (RFC 9824).
	Compact
)

// Rules say how a zone is signed.
type Rules struct {
	Denial   Denial
	Validity time.Duration // of signatures
	KeyTTL   uint32        // of the DNSKEY, CDS and CDNSKEY RRsets, in seconds
	// Given tells what a service gives, by its index in the nodes of the zone. Nil where no node has one.
	Given func(service int) Given
}

// Given is what a service gives at its names.
type Given struct {
	Types []uint16 // that it can give at all, in ascending order
	TTL   uint32   // the longest that it gives, in seconds
}

// Zone is a zone with its signatures. It is safe for concurrent use: questions read it, while a [Signer] puts new
// signatures in the place of old ones.
type Zone struct {
	plain  *zone.Zone
	rules  Rules
	life   lifetime
	leaves []leaf // by the index of the node
	denial denial
	apex   atomic.Pointer[apex]
	counts *Counts
	late   sync.Mutex // held while a signature is made that somebody waits for
}

// leaf is what one name has.
type leaf struct {
	sets    []slot // by the position of the RRset; empty where the zone does not speak for the name
	steered *Steered
}

// slot holds a signature, which is replaced as time passes.
type slot = atomic.Pointer[Signature]

// apex is what the keys of a moment make of the zone's own name.
type apex struct {
	ring *ring
	sets []*Record // that show the keys, and how names are hashed; by type
	link *Record   // of the chain; nil where there is none
}

// Record is an RRset that is the signer's own, with its signature: of a denial, or of what shows the keys.
type Record struct {
	owner   zone.Name
	set     zone.RRset
	without Lack // of a denial: that it tells of
	slot    slot
}

// Owner is the name that the record stands at.
func (r *Record) Owner() zone.Name { return r.owner }

// Set is the RRset itself.
func (r *Record) Set() zone.RRset { return r.set }

// Plain is the zone without its signatures.
func (z *Zone) Plain() *zone.Zone { return z.plain }

// Signature gives the signature of a node's RRset, for an answer under a name that the node stands in for, at a
// moment in seconds since 1970. It is nil where nothing is signed: what belongs to a child zone.
func (z *Zone) Signature(owner zone.Name, node *zone.Node, rrtype uint16, now uint32) *Signature {
	sets, at := z.leaves[node.Index()].sets, node.Position(rrtype)
	if at < 0 || at >= len(sets) || node.Delegated() && rrtype != dns.TypeDS {
		return nil
	}
	set, _ := node.Set(rrtype)
	if c, ok := z.denial.(*compact); ok && owner != node.Name() {
		return c.signature(owner, set, now)
	}
	return z.good(&sets[at], node.Name(), set, now, &z.counts.Asked)
}

// Confirmed gives the signature of a record of the signer's own.
func (z *Zone) Confirmed(r *Record, now uint32) *Signature {
	return z.good(&r.slot, r.owner, r.set, now, &z.counts.Asked)
}

// Reserved tells whether records of a type at the zone's own name are the signer's, made of the keys.
func Reserved(rrtype uint16) bool {
	return rrtype == dns.TypeDNSKEY || rrtype == dns.TypeCDS || rrtype == dns.TypeCDNSKEY
}

// Own finds an RRset of the signer's own at a name: what shows the keys, or the link of the chain.
func (z *Zone) Own(node *zone.Node, rrtype uint16) *Record {
	if rrtype == dns.TypeNSEC {
		if chain, ok := z.denial.(*nsec); ok {
			return chain.at(node)
		}
		return nil
	}
	if node.Index() > 0 {
		return nil
	}
	sets := z.apex.Load().sets
	if i := slices.IndexFunc(sets, func(r *Record) bool { return r.set.Type == rrtype }); i >= 0 {
		return sets[i]
	}
	return nil
}

// AllOwn gives all RRsets of the signer's own that a node has. They tell what its service gives now: all but what it lacks.
func (z *Zone) AllOwn(node *zone.Node, without Lack) []*Record {
	var all []*Record
	if node.Index() == 0 {
		all = append(all, z.apex.Load().sets...)
	}
	if _, ok := z.denial.(*nsec); ok && node.Index() > 0 && node.Empty() || node.Hidden() {
		return all
	}
	return z.Nodata(all, node, without)
}

// Steered is the signatures of what a service gives at a node; nil where the node has none.
func (z *Zone) Steered(node *zone.Node) *Steered { return z.leaves[node.Index()].steered }

// good gives what a slot holds, or, where there is nothing yet or time has run over it, makes it at once and counts that:
// nobody gets what is expired. Nil: that cannot be done.
func (z *Zone) good(at *slot, owner zone.Name, set zone.RRset, now uint32, count *atomic.Uint64) *Signature {
	if s := at.Load(); s.Good(now) {
		return s
	}
	z.late.Lock()
	defer z.late.Unlock()
	if s := at.Load(); s.Good(now) {
		return s
	}
	s, err := z.sign(owner, set, time.Unix(int64(now), 0))
	if err != nil {
		return nil
	}
	count.Add(1)
	at.Store(s)
	return s
}

// sign signs an RRset by the keys of the moment.
func (z *Zone) sign(owner zone.Name, set zone.RRset, now time.Time) (*Signature, error) {
	r := z.apex.Load().ring
	return r.sign(r.keysFor(set.Type), subject{owner, set.Type, set.TTL, z.plain.AppendCanonical(nil, owner, set)}, z.life, now)
}

// keysFor gives the keys that sign RRsets of a type.
func (r *ring) keysFor(rrtype uint16) []*Key {
	switch rrtype {
	case dns.TypeDNSKEY, dns.TypeCDS, dns.TypeCDNSKEY:
		return r.shows
	}
	return r.data
}

// signs tells whether a node has an RRset that the zone signs.
func signs(node *zone.Node, set zone.RRset) bool { return !node.Delegated() || set.Type == dns.TypeDS }

// types gives the types of a node's records in ascending order, as far as the zone speaks for them, without some that its
// service does not give now.
func (z *Zone) types(node *zone.Node, own []*Record, without Lack) []uint16 {
	var types []uint16
	for set := range node.Sets() {
		if signs(node, set) || set.Type == dns.TypeNS {
			types = append(types, set.Type)
		}
	}
	if node.Service >= 0 {
		types = append(types, without.from(z.rules.Given(node.Service).Types)...)
	}
	if node.Index() == 0 {
		for _, r := range own {
			types = append(types, r.set.Type)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// newApex makes what a ring makes of the zone's own name, but for signatures.
func (z *Zone) newApex(r *ring) *apex {
	a := &apex{ring: r}
	origin := z.plain.Origin()
	for _, set := range []zone.RRset{r.dnskey(z.rules.KeyTTL), r.cds(z.rules.KeyTTL), r.cdnskey(z.rules.KeyTTL)} {
		if set.Len() > 0 {
			a.sets = append(a.sets, &Record{owner: origin, set: set})
		}
	}
	if z.rules.Denial == NSEC3 {
		a.sets = append(a.sets, &Record{owner: origin, set: zone.NewRRset(dns.TypeNSEC3PARAM, 0, nsec3Param)})
	}
	slices.SortFunc(a.sets, func(x, y *Record) int { return int(x.set.Type) - int(y.set.Type) })
	return a
}

// node finds the node of a name that exists.
func (z *Zone) node(name zone.Name) *zone.Node {
	if m := z.plain.Find(name); m.Node != nil && m.Owner == name {
		return m.Node
	}
	return nil
}

// newLifetime makes the lifetime of signatures by the rules.
func newLifetime(rules Rules) lifetime {
	return lifetime{validity: rules.Validity, seed: maphash.MakeSeed()}
}
