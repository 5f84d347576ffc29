package sign

import (
	"encoding/binary"
	"hash/maphash"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// Signature is what stands beside an RRset: an RRSIG record for each key that signs, in wire form. It is immutable.
type Signature struct {
	wire      zone.RRset
	inception uint32 // seconds since 1970, as RFC 4034 section 3.1.5 has them
	expires   uint32
	by        *ring
}

// Records is the RRSIG records, in the form of [zone.RRset] and with the original TTL of what they sign.
func (s *Signature) Records() zone.RRset { return s.wire }

// Good tells whether resolvers take the signature at a moment, given in seconds since 1970. No signature is not good.
func (s *Signature) Good(now uint32) bool {
	return s != nil && int32(s.expires-now) > 0 && int32(now-s.inception) >= 0
}

// skew is how much of a signature's time lies before it is made: the clocks of resolvers differ from ours.
const skew = time.Hour

// lifetime is how long signatures are good.
type lifetime struct {
	validity time.Duration
	seed     maphash.Seed // of the differences between one and the next
}

// spread is the part of its validity, one in so many, by which the life of a signature is shorter than that of
// another, so that not all of them are to be made anew at once.
const spread = 8

// renewal is the part of its validity, one in so many, that is left of a signature when it is made anew.
const renewal = 4

// span gives when a signature of a name and type begins and ends that is made now.
func (l lifetime) span(now time.Time, owner zone.Name, rrtype uint16) (inception, expires uint32) {
	luck := maphash.String(l.seed, string(owner)) + uint64(rrtype)*0x9e3779b97f4a7c15
	shorter := time.Duration(luck % uint64(max(1, l.validity/spread)))
	return uint32(now.Add(-min(skew, l.validity)).Unix()), uint32(now.Add(l.validity - shorter).Unix())
}

// due tells whether it is time to make a signature anew: soon it is not good any more, or the clock has been set
// back so that it is not good yet.
func (l lifetime) due(s *Signature, now time.Time) bool {
	at := uint32(now.Unix())
	return !s.Good(at) || !s.Good(at+uint32(l.validity/time.Second/renewal))
}

// subject is an RRset that is to be signed, in the form in which it is.
type subject struct {
	owner     zone.Name
	rrtype    uint16
	ttl       uint32
	canonical []byte // see [zone.Zone.AppendCanonical]
}

// rrsigFixed is the octets of an RRSIG record's data before the signer's name.
const rrsigFixed = 18

// sign signs an RRset by some of the keys. It allocates: it is for what is kept.
func (r *ring) sign(keys []*Key, s subject, life lifetime, now time.Time) (*Signature, error) {
	made := &Signature{by: r}
	made.inception, made.expires = life.span(now, s.owner, s.rrtype)
	data := make([]string, 0, len(keys))
	for _, k := range keys {
		head := make([]byte, 0, rrsigFixed+len(r.origin)+len(s.canonical))
		head = binary.BigEndian.AppendUint16(head, s.rrtype)
		head = append(head, k.public.Algorithm, labels(s.owner))
		head = binary.BigEndian.AppendUint32(head, s.ttl)
		head = binary.BigEndian.AppendUint32(head, made.expires)
		head = binary.BigEndian.AppendUint32(head, made.inception)
		head = binary.BigEndian.AppendUint16(head, k.tag)
		head = append(head, r.origin...)
		octets, err := signature(k.Algorithm(), k.private, append(head, s.canonical...))
		if err != nil {
			return nil, err
		}
		data = append(data, string(head)+string(octets))
	}
	made.wire = zone.NewRRset(dns.TypeRRSIG, s.ttl, data...)
	return made, nil
}

// labels is the number of labels that a signature covers: without the asterisk of a wildcard (RFC 4034 section 3.1.3).
func labels(owner zone.Name) byte {
	n := owner.Labels()
	if owner.Wildcard() {
		n--
	}
	return byte(n)
}
