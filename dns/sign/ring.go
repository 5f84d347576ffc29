package sign

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// ring is the keys of a zone at one moment, by what they do. It is immutable.
type ring struct {
	origin zone.Name
	shown  []*Key // in the DNSKEY RRset, by tag
	data   []*Key // that sign what the zone holds: one of each algorithm
	shows  []*Key // that sign the DNSKEY, CDS and CDNSKEY RRsets
	synced []*Key // that the parent is asked to point to
	until  time.Time
}

var errNoKeySigns = errors.New("no key may sign the zone at this time")

// newRing sorts the keys by what they do at a moment.
//
// What the zone holds is signed by the newest active key of each algorithm, and by one without the SEP flag where there
// is any (a ZSK). The keys are signed by all that a DS record may point to and that are not retired: a new one
// among them long before it signs anything else, so that the parent can change over at any time (RFC 6781 section
// 4.1.2, double signature).
func newRing(keys []*Key, origin zone.Name, now time.Time) (*ring, error) {
	r := &ring{origin: origin, until: nextTime(keys, now)}
	for _, k := range keys {
		if !k.Published(now) {
			continue
		}
		r.shown = append(r.shown, k)
		if k.EntryPoint() && !k.Retired(now) {
			r.shows = append(r.shows, k)
		}
		if k.Synced(now) {
			r.synced = append(r.synced, k)
		}
		if k.Active(now) {
			r.data = append(r.data, k)
		}
	}
	slices.SortStableFunc(r.data, func(a, b *Key) int {
		return cmp.Or(cmp.Compare(a.Algorithm(), b.Algorithm()), zoneKeysFirst(a, b), b.Times.Activate.Compare(a.Times.Activate))
	})
	r.data = slices.CompactFunc(r.data, func(a, b *Key) bool { return a.Algorithm() == b.Algorithm() })
	if len(r.data) == 0 {
		return nil, errNoKeySigns
	}
	if len(r.shows) == 0 {
		r.shows = r.data // keys without the SEP flag alone can do it, too
	}
	return r, nil
}

func zoneKeysFirst(a, b *Key) int {
	switch {
	case a.EntryPoint() == b.EntryPoint():
		return 0
	case b.EntryPoint():
		return -1
	}
	return 1
}

// nextTime is when the keys come to do something else; zero: never.
func nextTime(keys []*Key, now time.Time) time.Time {
	var next time.Time
	for _, k := range keys {
		for _, t := range k.Times.all() {
			if t.After(now) && (next.IsZero() || t.Before(next)) {
				next = t
			}
		}
	}
	return next
}

// signsLike tells whether two rings sign RRsets of a type by the same keys.
func (r *ring) signsLike(o *ring, rrtype uint16) bool {
	return slices.EqualFunc(r.keysFor(rrtype), o.keysFor(rrtype), sameKey)
}

// same tells whether two rings do the same.
func (r *ring) same(o *ring) bool {
	return slices.EqualFunc(r.data, o.data, sameKey) && slices.EqualFunc(r.shown, o.shown, sameKey) && slices.EqualFunc(r.shows, o.shows, sameKey) && slices.EqualFunc(r.synced, o.synced, sameKey)
}

func sameKey(a, b *Key) bool { return a.data == b.data }

// dnskey, cds and cdnskey are the RRsets that show the keys; a set without records is none.
func (r *ring) dnskey(ttl uint32) zone.RRset { return keySet(dns.TypeDNSKEY, ttl, r.shown) }

func (r *ring) cdnskey(ttl uint32) zone.RRset { return keySet(dns.TypeCDNSKEY, ttl, r.synced) }

func (r *ring) cds(ttl uint32) zone.RRset {
	var data []string
	for _, k := range r.synced {
		for _, d := range []Digest{SHA256, SHA384} {
			wire, _ := k.DS(d)
			data = append(data, wire)
		}
	}
	slices.Sort(data)
	return zone.NewRRset(dns.TypeCDS, ttl, data...)
}

func keySet(rrtype uint16, ttl uint32, keys []*Key) zone.RRset {
	var data []string
	for _, k := range keys {
		data = append(data, k.data)
	}
	slices.Sort(data)
	return zone.NewRRset(rrtype, ttl, data...)
}
