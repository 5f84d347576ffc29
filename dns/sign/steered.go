package sign

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// Steered is the signatures of what a service gives at one name. It is safe for concurrent use.
type Steered struct {
	z      *Zone
	node   *zone.Node
	given  Given
	narrow [lacks + 1]Lack // each lack without what the service can never give

	table   atomic.Pointer[table]
	denials [lacks]atomic.Pointer[Record] // by what is lacking, less one

	mu sync.Mutex // held while what is above is replaced
}

// table is the sets of records that were signed, by their [Steered.key]. It is immutable but for the signatures.
type table map[uint64]*Record

// maxSets bounds the sets that are kept of one name: those that were not foreseen go when there are more.
const maxSets = 2048

// newSteered makes what a node with a service has.
func newSteered(z *Zone, node *zone.Node, prev *Steered) *Steered {
	t := &Steered{z: z, node: node, given: z.rules.Given(node.Service)}
	for without := range lacks + 1 {
		t.narrow[without] = without.among(t.given.Types)
	}
	kept := table{}
	if prev != nil && prev.given.TTL == t.given.TTL { // the original TTL is in the signature
		for _, r := range *prev.table.Load() {
			again := &Record{owner: r.owner, set: r.set}
			again.slot.Store(r.slot.Load())
			kept[t.key(r.set.Type, []byte(r.set.Wire()))] = again
		}
	}
	t.table.Store(&kept)
	return t
}

// Signature gives the signature of records that the service gives now under a name: in any order, each behind its
// length in two octets, and none twice. A set that nobody foresaw is signed at once, and kept.
func (t *Steered) Signature(owner zone.Name, rrtype uint16, records []byte, now uint32) *Signature {
	if c, ok := t.z.denial.(*compact); ok && owner != t.node.Name() {
		return c.signature(owner, t.set(rrtype, records), now)
	}
	r := t.find(t.key(rrtype, records), rrtype, records)
	if r == nil {
		r = &Record{owner: t.node.Name(), set: t.set(rrtype, records)}
		defer t.keep([]*Record{r})
	}
	return t.z.Confirmed(r, now)
}

// Set is a set of records that a service can give, as [Steered.Signature] takes them.
type Set struct {
	Type    uint16
	Records []byte
}

// Ahead signs those sets of records that the service can come to give and that are not signed yet. It gives how many it
// signed.
func (t *Steered) Ahead(sets []Set, now uint32) (made int) {
	var fresh []*Record
	for _, s := range sets {
		if t.find(t.key(s.Type, s.Records), s.Type, s.Records) != nil {
			continue
		}
		r := &Record{owner: t.node.Name(), set: t.set(s.Type, s.Records)}
		if t.z.good(&r.slot, r.owner, r.set, now, &t.z.counts.Ahead) != nil {
			fresh = append(fresh, r)
		}
	}
	t.keep(fresh)
	return len(fresh)
}

// find finds a set that was signed.
func (t *Steered) find(key uint64, rrtype uint16, records []byte) *Record {
	if r := (*t.table.Load())[key]; r != nil && r.set.Type == rrtype && sameRecords(r.set.Wire(), records) {
		return r
	}
	return nil
}

// TTL is the original TTL of what the service gives: no answer may have a longer one.
func (t *Steered) TTL() uint32 { return t.given.TTL }

// Gives tells whether the service can give records of a type at all.
func (t *Steered) Gives(rrtype uint16) bool { return slices.Contains(t.given.Types, rrtype) }

// First is the first of the types that the service can give.
func (t *Steered) First() uint16 {
	if len(t.given.Types) == 0 {
		return dns.TypeA
	}
	return t.given.Types[0]
}

// key names a set of records: the same in any order.
func (t *Steered) key(rrtype uint16, records []byte) uint64 {
	sum := uint64(rrtype)
	for len(records) > 0 {
		n := 2 + int(records[0])<<8 + int(records[1])
		sum += maphash.Bytes(t.z.life.seed, records[:n])
		records = records[n:]
	}
	return sum
}

// sameRecords tells whether two sets of records are the same, in whatever order. Neither has one twice.
func sameRecords(kept string, records []byte) bool {
	if len(kept) != len(records) {
		return false
	}
	if kept == string(records) {
		return true
	}
	for len(records) > 0 {
		n := 2 + int(records[0])<<8 + int(records[1])
		if !holdsRecord(kept, records[:n]) {
			return false
		}
		records = records[n:]
	}
	return true
}

func holdsRecord(kept string, record []byte) bool {
	for len(kept) > 0 {
		n := 2 + int(kept[0])<<8 + int(kept[1])
		if kept[:n] == string(record) {
			return true
		}
		kept = kept[n:]
	}
	return false
}

// set is the RRset of records: in canonical order (RFC 4034 section 6.3).
func (t *Steered) set(rrtype uint16, records []byte) zone.RRset {
	var data []string
	for len(records) > 0 {
		n := 2 + int(records[0])<<8 + int(records[1])
		data = append(data, string(records[2:n]))
		records = records[n:]
	}
	slices.SortFunc(data, cmp.Compare[string])
	return zone.NewRRset(rrtype, t.given.TTL, data...)
}

// keep puts sets into the table.
func (t *Steered) keep(fresh []*Record) {
	if len(fresh) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old := *t.table.Load()
	kept := make(table, len(old)+len(fresh))
	if len(old)+len(fresh) <= maxSets {
		for key, r := range old {
			kept[key] = r
		}
	}
	for _, r := range fresh {
		kept[t.key(r.set.Type, []byte(r.set.Wire()))] = r
	}
	t.table.Store(&kept)
}

// denial gives the record of denial without some types, which is made once.
func (t *Steered) denial(without Lack, record func() *Record) *Record {
	at := &t.denials[without-1]
	if r := at.Load(); r != nil {
		return r
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.Load() == nil {
		at.Store(record())
	}
	return at.Load()
}

// records gives everything that is kept.
func (t *Steered) records() []*Record {
	var all []*Record
	for _, r := range *t.table.Load() {
		all = append(all, r)
	}
	for i := range t.denials {
		if r := t.denials[i].Load(); r != nil {
			all = append(all, r)
		}
	}
	return all
}

// forgetDenials drops the records of denial: the types at the name are others. One that is being made is waited for, for it
// may tell of those before.
func (t *Steered) forgetDenials() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.denials {
		t.denials[i].Store(nil)
	}
}
