package dns

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"gslb/config"
)

// limiter holds back replies to clients that get too many of one kind: whoever sends questions under the address of
// a victim makes a server flood it otherwise. It is for all workers together.
//
// Replies of one class share a bucket, which fills at the rate of the class, up to what comes in a second. A class is a
// block of clients and a kind of reply. Kinds are told apart by what an attacker cannot invent as he likes: answers by
// the name in the zone that they come from, which for a wildcard, a delegation and a DNAME is the same whatever was
// asked for, by type where there are records of it, and by client subnet where a service gives them; denials by zone;
// errors by RCODE. Client subnets he can invent, so that all of them together have a bucket as well, of [subnetShare]
// times the size.
//
// The table has a fixed size and nothing is allocated. A new class takes the place of the fuller of two buckets, so
// what is held back is not forgotten for what is not.
type limiter struct {
	seed    maphash.Seed
	buckets func() []atomic.Uint64 // see bucket; there are none before the first is wanted
}

// subnetShare is how many client subnets' worth of one answer a block of clients gets at most: a resolver asks for many of
// them, of which most keep the answer for its TTL.
const subnetShare = 10

// bucketCount is the size of the table, a power of two: 2 MB.
const bucketCount = 1 << 18

func newLimiter() *limiter {
	return &limiter{seed: maphash.MakeSeed(), buckets: sync.OnceValue(func() []atomic.Uint64 { return make([]atomic.Uint64, bucketCount) })}
}

// bucket is one in a word: 16 bits of the class's hash, when it was looked at, in 24 bits of milliseconds, and how much of it
// is missing, in 24 bits. The zero bucket is full and of nobody.
type bucket struct {
	tag     uint16
	at      uint32
	missing uint32 // parts of what a second gives, of which there are wholeSum
}

const (
	clockBits = 24
	clockMask = 1<<clockBits - 1 // after so many milliseconds, 4.6 hours, it begins again
	clockSkew = 60_000           // how far, in milliseconds, the clocks of two workers can be apart
	wholeSum  = 1 << 20          // what is missing of a bucket that is empty
)

func (b bucket) word() uint64 {
	return uint64(b.tag)<<48 | uint64(b.at&clockMask)<<24 | uint64(b.missing)
}

func bucketOf(w uint64) bucket {
	return bucket{uint16(w >> 48), uint32(w>>24) & clockMask, uint32(w) & clockMask}
}

// later gives the bucket as it is at another time.
func (b bucket) later(now uint32) bucket {
	passed := (now - b.at) & clockMask
	if passed > clockMask-clockSkew {
		passed = 0 // another worker's clock is ahead
	} else {
		b.at = now
	}
	filled := uint64(passed) * wholeSum / 1000
	b.missing -= uint32(min(uint64(b.missing), filled))
	return b
}

// take takes one reply out of the bucket of a class, and tells whether there was one.
func (l *limiter) take(class uint64, rate int, now time.Time) bool {
	clock := uint32(now.UnixMilli()) & clockMask
	tag := uint16(class>>48) | 1
	slots := [2]uint64{class % bucketCount, (class >> 20) % bucketCount}
	cost := max(1, uint32(wholeSum/rate))
	for range 4 { // others take from the same bucket: one reply too many is better than to wait for them
		at, old, b := l.find(slots, tag, clock)
		allowed := b.missing+cost <= wholeSum
		if allowed {
			b.missing += cost
		}
		if l.buckets()[at].CompareAndSwap(old, b.word()) {
			return allowed
		}
	}
	return true
}

// find gives the bucket of a class as it is now, or a new one in place of the fuller of the two that it can have.
func (l *limiter) find(slots [2]uint64, tag uint16, clock uint32) (at, old uint64, b bucket) {
	for i, slot := range slots {
		word := l.buckets()[slot].Load()
		other := bucketOf(word).later(clock)
		if other.tag == tag {
			return slot, word, other
		}
		if i == 0 || other.missing < b.missing {
			at, old, b = slot, word, other
		}
	}
	return at, old, bucket{tag: tag, at: clock}
}

// fate is what becomes of a reply.
type fate uint8

const (
	sent    fate = iota
	slipped      // cut to its question: who is real asks again over TCP
	dropped
	spared // would have been slipped or dropped, but for a dry run
)

// judge says what becomes, by a rule, of the reply that is being made.
func (l *limiter) judge(r *lookup, rule *config.RateLimit) fate {
	if r.req.Over.stream() {
		return sent
	}
	source := r.req.Source.Unmap().WithZone("")
	if slices.ContainsFunc(rule.Exempt, func(p netip.Prefix) bool { return p.Contains(source) }) ||
		len(r.q.cookie) > clientCookie && validCookie(r.q.cookie, r.req.Source, r.req.Now, r.responder.cookieSecrets(r.s)) {
		return sent
	}
	rate := rule.Answers
	switch {
	case r.rcode == dns.RcodeNameError:
		rate = rule.Denials
	case r.rcode != dns.RcodeSuccess:
		rate = rule.Errors
	}
	switch {
	case rate == 0 || l.allow(r, source, rate):
		return sent
	case rule.DryRun:
		return spared
	case rule.Slip > 0 && r.req.Seed%uint64(rule.Slip) == 0:
		return slipped
	}
	return dropped
}

// allow takes the reply out of the buckets that it belongs to, and tells whether each had one.
func (l *limiter) allow(r *lookup, source netip.Addr, rate int) bool {
	if r.rcode != dns.RcodeSuccess || r.service < 0 || len(r.q.ecs) == 0 {
		return l.take(l.class(r, source, nil), rate, r.req.Now)
	}
	return l.take(l.class(r, source, r.q.ecs), rate, r.req.Now) && l.take(l.class(r, source, anySubnet), subnetShare*rate, r.req.Now)
}

// anySubnet stands for all client subnets together. It is none itself.
var anySubnet = []byte{0}

// class is the hash of what a reply shares with others of its kind.
func (l *limiter) class(r *lookup, source netip.Addr, subnet []byte) uint64 {
	bits := 24
	if source.Is6() {
		bits = 56
	}
	block, _ := source.Prefix(bits) // never fails: the family has so many bits
	a := block.Addr().As16()
	var h maphash.Hash
	h.SetSeed(l.seed)
	_, _ = h.Write(a[:])
	_ = h.WriteByte(byte(r.rcode))
	switch r.rcode {
	case dns.RcodeSuccess:
		var kind [4]byte
		if r.w.counts[answers] > 0 {
			binary.BigEndian.PutUint16(kind[:], r.q.rrtype)
		}
		binary.BigEndian.PutUint16(kind[2:], r.q.class)
		_, _ = h.Write(kind[:])
		_, _ = h.WriteString(string(cmp.Or(r.found, r.q.name)))
		_, _ = h.Write(subnet)
	case dns.RcodeNameError:
		if r.z != nil {
			_, _ = h.WriteString(string(r.z.Origin()))
		}
	}
	return h.Sum64()
}
