package dns

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/miekg/dns"

	"gslb/config"
	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/dns/zone"
)

// proving is what a lookup in a signed zone has beside the answer. It writes each signature behind its RRset, and
// gathers what is to be proved until the authority section.
type proving struct {
	signed *sign.Zone // nil: nothing is proved, and the zone has no records of the signer's own
	clock  uint32     // seconds since 1970
	match  zone.Match // of the last name

	room   [2 * steer.MaxChain]*sign.Record
	proofs []*sign.Record
	ttl    uint32 // that the records of denial have at most
}

// signedSize is room for the data of the records that a service gives, but for many long names.
const signedSize = config.MaxAddresses * (2 + 16)

// seekProof gets the zone's signatures, when the client wants them, or asks for records of the signer's own.
func (l *lookup) seekProof() {
	own := sign.Reserved(l.q.rrtype) || l.q.rrtype == dns.TypeNSEC || l.q.rrtype == dns.TypeNSEC3PARAM || l.q.rrtype == dns.TypeRRSIG
	if !l.q.do && !own {
		return
	}
	if signed := l.s.Signed(l.z); signed != nil {
		l.signed, l.clock, l.ttl = signed, uint32(l.req.Now.Unix()), forever
		l.proofs = l.room[:0]
	}
}

// proves tells whether the reply has signatures.
func (l *lookup) proves() bool { return l.signed != nil && l.q.do }

// sign writes the signature of a node's RRset.
func (l *lookup) sign(owner zone.Name, node *zone.Node, set zone.RRset) {
	if l.proves() {
		l.rrsig(owner, l.signed.Signature(owner, node, set.Type, l.clock), set.TTL)
	}
}

// rrsig writes a signature; nil: what is not signed.
func (l *lookup) rrsig(owner zone.Name, s *sign.Signature, ttl uint32) {
	if s != nil {
		l.w.set(l.z, owner, s.Records(), ttl)
	}
}

// steered writes the signature of what a service gives: of records, each behind its length.
func (l *lookup) steered(owner zone.Name, node *zone.Node, rrtype uint16, ttl uint32, records []byte) {
	if l.w.over {
		return
	}
	l.rrsig(owner, l.signed.Steered(node).Signature(owner, rrtype, records, l.clock), ttl)
	l.expanded(owner)
}

// signDenial writes the signature of the SOA record of a denial, whose records have no longer TTL than that.
func (l *lookup) signDenial(ttl uint32) {
	if !l.proves() {
		return
	}
	l.ttl = min(l.ttl, ttl)
	apex := l.z.Find(l.z.Origin()).Node
	l.rrsig(l.z.Origin(), l.signed.Signature(l.z.Origin(), apex, dns.TypeSOA, l.clock), ttl)
}

// missing proves that a name does not exist.
func (l *lookup) missing(name zone.Name) {
	if l.proves() {
		l.proofs = l.signed.Missing(l.proofs, name, l.match.Encloser)
	}
}

// expanded proves that a wildcard had to stand in for a name, where one did.
func (l *lookup) expanded(name zone.Name) {
	if l.proves() && l.match.Kind == zone.Wildcard {
		l.proofs = l.signed.Expanded(l.proofs, name, l.match.Encloser)
	}
}

// nodata proves that a node, or the wildcard that stands in for a name, has no such records.
func (l *lookup) nodata(name zone.Name, node *zone.Node, without sign.Lack) {
	switch {
	case !l.proves():
	case l.match.Kind == zone.Wildcard:
		l.proofs = l.signed.StandIn(l.proofs, name, l.match.Encloser, node, without)
	default:
		l.proofs = l.signed.Nodata(l.proofs, node, without)
	}
}

// lacking proves that a service has no address of a family for this client now. The proof tells of the other family
// as it is for this client, too.
func (l *lookup) lacking(name zone.Name, node *zone.Node, family steer.Family) {
	if !l.proves() {
		return
	}
	without := [...]sign.Lack{steer.IPv4: sign.LacksIPv4, steer.IPv6: sign.LacksIPv6}
	steered, other := l.signed.Steered(node), 1-family
	if !steered.Gives(addressTypes[family]) {
		l.nodata(name, node, 0)
		return
	}
	lack := without[family]
	if steered.Gives(addressTypes[other]) {
		q := l.sought
		q.Family = other
		if d := steer.Decide(l.s, q); !d.Servfail && len(d.Addresses(l.s, node.Service, l.addresses[:0])) == 0 {
			lack |= without[other]
		}
	}
	l.nodata(name, node, lack)
}

// secure tells whether the delegation leads to a signed zone: by its DS records, or by a proof that there are none (RFC 4035
// section 3.1.4).
func (l *lookup) secure(cut *zone.Node) {
	if !l.proves() {
		return
	}
	if set, ok := cut.Set(dns.TypeDS); ok {
		l.w.set(l.z, cut.Name(), set, set.TTL)
		l.sign(cut.Name(), cut, set)
		return
	}
	l.proofs = l.signed.Nodata(l.proofs, cut, 0)
}

// own answers with records that are the signer's: that show the keys, or a link of the chain. A question for
// signatures alone gets those of one RRset, as one for any type does.
func (l *lookup) own(name zone.Name, node *zone.Node) bool {
	switch {
	case l.signed == nil:
		return false
	case l.link():
		l.nodata(name, node, 0)
		return l.tell()
	case l.q.rrtype == dns.TypeRRSIG:
		return l.signaturesOf(name, node)
	}
	r := l.signed.Own(node, l.q.rrtype)
	if r == nil {
		return false
	}
	l.w.set(l.z, name, r.Set(), r.Set().TTL)
	if l.proves() {
		l.rrsig(name, l.signed.Confirmed(r, l.clock), r.Set().TTL)
		l.expanded(name)
	}
	return true
}

// link tells whether the question is for a record of compact denial: every name has one, as long as somebody asks.
func (l *lookup) link() bool {
	return l.compact() && (l.q.rrtype == dns.TypeNSEC || l.q.rrtype == dns.TypeRRSIG)
}

// tell answers with the record of compact denial that was to be the proof, or with its signature.
func (l *lookup) tell() bool {
	if len(l.proofs) == 0 {
		return false
	}
	r := l.proofs[len(l.proofs)-1]
	l.proofs = l.proofs[:len(l.proofs)-1]
	if l.q.rrtype == dns.TypeNSEC {
		l.w.set(l.z, r.Owner(), r.Set(), r.Set().TTL)
	}
	l.rrsig(r.Owner(), l.signed.Confirmed(r, l.clock), r.Set().TTL)
	return true
}

// signaturesOf answers with the signature of one of a node's RRsets.
func (l *lookup) signaturesOf(name zone.Name, node *zone.Node) bool {
	for set := range node.Sets() {
		s := l.signed.Signature(name, node, set.Type, l.clock)
		l.rrsig(name, s, set.TTL)
		l.expanded(name)
		return s != nil
	}
	if node.Service >= 0 && l.proves() {
		_, _, given := l.serve(name, node, l.signed.Steered(node).First())
		return given
	}
	return false
}

// prove writes what was gathered.
func (l *lookup) prove() {
	l.w.at = authority
	for _, r := range l.proofs {
		ttl := min(r.Set().TTL, l.ttl)
		l.w.set(l.z, r.Owner(), r.Set(), ttl)
		l.rrsig(r.Owner(), l.signed.Confirmed(r, l.clock), ttl)
	}
}

// signHost writes the signature of an additional RRset, unless there is no room: a reply is not cut for that (RFC 4035
// section 3.1.1).
func (l *lookup) signHost(host *zone.Node, set zone.RRset) {
	if !l.proves() || l.w.over {
		return
	}
	before := l.w.mark()
	if l.sign(host.Name(), host, set); l.w.over {
		l.w.back(before)
	}
}

// compact tells whether the reply has what a compact denial proves by. A client that takes NXDOMAIN beside that is told so,
// whatever the answer is (RFC 9824 section 5.1).
func (l *lookup) compact() bool { return l.proves() && l.signed.Denies() == sign.Compact }

// concise has a compact denial say that there are no records of that type, which is what its records say, to clients
// that do not know more of it (RFC 9824 section 3).
func (l *lookup) concise() {
	if l.rcode == dns.RcodeNameError && l.compact() && !l.q.co {
		l.rcode = dns.RcodeSuccess
	}
}

// distinct takes away what stands twice: an RRset has no record twice (RFC 2181 section 5).
func distinct(addresses []netip.Addr) []netip.Addr {
	kept := addresses[:0]
	for _, a := range addresses {
		if !slices.Contains(kept, a) {
			kept = append(kept, a)
		}
	}
	return kept
}

// ordered puts addresses in order, each once.
func ordered(addresses []netip.Addr) []netip.Addr {
	slices.SortFunc(addresses, netip.Addr.Compare)
	return slices.Compact(addresses)
}

// appendData appends a record's data, which is a name, behind its length.
func appendData(to []byte, name zone.Name) []byte {
	return append(binary.BigEndian.AppendUint16(to, uint16(len(name))), name...)
}

// appendAddresses appends the data of address records, each behind its length.
func appendAddresses(to []byte, addresses []netip.Addr) []byte {
	for _, a := range addresses {
		if a.Is4() {
			b := a.As4()
			to = append(append(to, 0, 4), b[:]...)
			continue
		}
		b := a.As16()
		to = append(append(to, 0, 16), b[:]...)
	}
	return to
}

// appendData appends the data of so many records that were written from an offset on, each behind its length. It is for
// types whose data is written without pointers.
func (w *writer) appendData(to []byte, from, records int) []byte {
	for range records {
		at, _ := skipName(w.b, from)
		at += fixed - 2
		end := at + 2 + int(binary.BigEndian.Uint16(w.b[at:]))
		to = append(to, w.b[at:end]...)
		from = end
	}
	return to
}
