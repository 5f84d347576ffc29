package dns

import (
	"encoding/binary"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/dns/zone"
)

// transferSize is about how many octets of records a message of a transfer has. Few large messages compress
// best, and no client minds.
const transferSize = 16 << 10

// transferTime is how long a transfer may take: for as long it keeps a snapshot from being forgotten.
const transferTime = 10 * time.Minute

// inTime gives the messages of a transfer for as long as it may take, and then an empty one.
func inTime(messages iter.Seq[[]byte]) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		end := time.Now().Add(transferTime)
		for message := range messages {
			if time.Now().After(end) {
				yield(nil)
				return
			}
			if !yield(message) {
				return
			}
		}
	}
}

// Transfer gives the messages of a zone transfer (RFC 5936), when the request is one that may have it; otherwise
// nil, and [Responder.Respond] says why not. The zone goes out as it is in the snapshot: its records, and for
// each name of a service what the asker would get for it now. An incremental one (RFC 1995) gets the whole. When a
// message cannot be made, the last one is empty: the connection is to be closed, so that the asker does not wait for more.
func (r *Responder) Transfer(s *steer.Snapshot, req Request) iter.Seq[[]byte] {
	if !asksForTransfer(req.Packet) {
		return nil
	}
	var letters [zone.MaxName]byte
	q := new(query)
	rcode, ok := q.parse(req.Packet, &letters)
	if !ok || !req.Over.transfers() || req.Over == QUIC && q.offendsQUIC() {
		return nil
	}
	if rcode != dns.RcodeSuccess || q.class != dns.ClassINET || q.rrtype != dns.TypeAXFR && q.rrtype != dns.TypeIXFR {
		return nil
	}
	z, ours := s.Zone(q.name)
	if !ours || z.Origin() != q.name {
		return nil
	}
	var g *signature
	if q.signed {
		if g = verify(s, req.Packet, q.tsigAt); g == nil || g.err != 0 {
			return nil
		}
	}
	if !mayTransfer(s, z, req.Source, g) || q.rrtype == dns.TypeIXFR && !tellsVersion(req.Packet, z) {
		return nil
	}
	return func(yield func([]byte) bool) {
		asker := &Worker{responder: r, tally: newCounts().tally()} // whose questions nobody counts
		t := transfer{s: s, z: z, signed: s.Signed(z), req: req, q: q, worker: asker, signature: g, yield: yield}
		t.run()
		r.Counts.transferred(z.Origin().String(), req.Over, t.outcome())
	}
}

// asksForTransfer tells at a glance whether a request can be one for a transfer: nearly none is.
func asksForTransfer(packet []byte) bool {
	end, ok := skipName(packet, headerSize)
	if !ok || len(packet) < end+2 {
		return false
	}
	rrtype := binary.BigEndian.Uint16(packet[end:])
	return rrtype == dns.TypeAXFR || rrtype == dns.TypeIXFR
}

// mayTransfer tells whether a zone's whole may go to a source whose request is signed, or not.
func mayTransfer(s *steer.Snapshot, z *zone.Zone, source netip.Addr, g *signature) bool {
	rule := s.Policy().Transfer(z)
	source = source.Unmap().WithZone("")
	switch {
	case rule == nil:
		return false
	case len(rule.Keys) > 0 && (g == nil || !slices.Contains(rule.Keys, g.key.Name)):
		return false
	}
	return len(rule.Allow) == 0 || slices.ContainsFunc(rule.Allow, func(p netip.Prefix) bool { return p.Contains(source) })
}

// transfer is one on its way.
type transfer struct {
	s         *steer.Snapshot
	z         *zone.Zone
	signed    *sign.Zone // nil: it is not signed
	req       Request
	q         *query
	worker    *Worker
	signature *signature // nil: the request was not signed
	yield     func([]byte) bool

	records []dns.RR // of the message that is being filled
	size    int      // of them, without compression
	sent    int      // messages
	mac     string   // of the message before
	current bool     // the asker has this version already
	stopped bool
}

// run sends the SOA record, all others, and the SOA record again (RFC 5936 section 2.2).
func (t *transfer) run() {
	apex := t.z.Find(t.z.Origin()).Node
	soa := t.z.Records(apex, t.z.SOA())
	t.add(soa)
	if t.current = t.q.rrtype == dns.TypeIXFR && t.has(soa[0]); t.current {
		t.flush()
		return
	}
	for _, node := range t.z.All() {
		for set := range node.Sets() {
			if set.Type != dns.TypeSOA {
				t.add(t.z.Records(node, set))
			}
			t.add(t.signatures(node, set))
		}
		var given []dns.RR
		if node.Service >= 0 {
			given = t.service(node)
		}
		t.add(given)
		t.add(t.own(node, given))
		if t.stopped {
			return
		}
	}
	t.add(soa)
	t.flush()
}

// outcome is what became of the transfer, once it has run.
func (t *transfer) outcome() Transferred {
	switch {
	case t.stopped:
		return TransferFailed
	case t.current:
		return TransferCurrent
	}
	return TransferSent
}

// has tells whether the asker of an incremental transfer has this version, or a later one: then the SOA record
// is all that it gets (RFC 1995 section 2).
func (t *transfer) has(soa dns.RR) bool {
	theirs, ok := version(t.req.Packet, t.z)
	return ok && int32(theirs-soa.(*dns.SOA).Serial) >= 0 // serial arithmetic (RFC 1982)
}

// version gives the serial of a zone that the asker of an incremental transfer has: it is in the SOA record of its request,
// which has to be there (RFC 1995 section 3).
func version(packet []byte, z *zone.Zone) (serial uint32, ok bool) {
	m := new(dns.Msg)
	if m.Unpack(packet) != nil || len(m.Ns) == 0 {
		return 0, false
	}
	soa, ok := m.Ns[0].(*dns.SOA)
	if !ok {
		return 0, false
	}
	owner, err := zone.ParseName(soa.Hdr.Name)
	return soa.Serial, err == nil && owner == z.Origin()
}

// tellsVersion tells whether the request for an incremental transfer says what the asker has.
func tellsVersion(packet []byte, z *zone.Zone) bool {
	_, ok := version(packet, z)
	return ok
}

// serviceTypes are the types of record that services give.
var serviceTypes = [...]uint16{dns.TypeA, dns.TypeAAAA, dns.TypeHTTPS, dns.TypeCNAME, dns.TypeSRV}

// service is the records of a service's name, as the asker would get them now: the answers to questions that it does
// not ask, and of which nobody is told.
func (t *transfer) service(node *zone.Node) []dns.RR {
	var records []dns.RR
	for _, rrtype := range serviceTypes {
		ask := new(dns.Msg)
		ask.SetQuestion(node.Name().String(), rrtype)
		ask.Id = 0 // as any transport takes it
		if t.signed != nil {
			ask.SetEdns0(maxTCPAnswer, true)
		}
		packet, err := ask.Pack()
		if err != nil {
			continue
		}
		req := t.req
		req.Packet = packet
		reply := new(dns.Msg)
		if reply.Unpack(t.worker.reply(t.s, &req, nil)) != nil {
			continue
		}
		for _, rr := range reply.Answer {
			if covered(rr) == rrtype && rr.Header().Name == ask.Question[0].Name {
				records = append(records, rr)
			}
		}
	}
	return records
}

// covered is the type of a record, or that of what a signature signs.
func covered(rr dns.RR) uint16 {
	if s, ok := rr.(*dns.RRSIG); ok {
		return s.TypeCovered
	}
	return rr.Header().Rrtype
}

// signatures are those of one of the zone's RRsets.
func (t *transfer) signatures(node *zone.Node, set zone.RRset) []dns.RR {
	if t.signed == nil {
		return nil
	}
	s := t.signed.Signature(node.Name(), node, set.Type, uint32(t.req.Now.Unix()))
	if s == nil {
		return nil
	}
	return t.z.RecordsAt(node.Name(), s.Records())
}

// own are the records that are the signer's at a node, with their signatures. Of a service's types the record of denial
// has those that the asker just got.
func (t *transfer) own(node *zone.Node, given []dns.RR) []dns.RR {
	if t.signed == nil {
		return nil
	}
	var records []dns.RR
	for _, r := range t.signed.AllOwn(node, lackOf(given)) {
		records = append(records, t.z.RecordsAt(r.Owner(), r.Set())...)
		if s := t.signed.Confirmed(r, uint32(t.req.Now.Unix())); s != nil {
			records = append(records, t.z.RecordsAt(r.Owner(), s.Records())...)
		}
	}
	return records
}

// lackOf tells what is missing from what a service gave.
func lackOf(given []dns.RR) sign.Lack {
	lack := sign.LacksIPv4 | sign.LacksIPv6
	for _, rr := range given {
		switch rr.Header().Rrtype {
		case dns.TypeAAAA:
			lack &^= sign.LacksIPv6
		case dns.TypeA, dns.TypeCNAME, dns.TypeSRV:
			lack &^= sign.LacksIPv4
		}
	}
	return lack
}

// add puts records into the message, and sends it when it is full.
func (t *transfer) add(records []dns.RR) {
	for _, rr := range records {
		size := dns.Len(rr)
		if t.size > 0 && t.size+size > transferSize {
			t.flush()
		}
		t.records, t.size = append(t.records, rr), t.size+size
	}
}

// flush sends the message.
func (t *transfer) flush() {
	m := &dns.Msg{Answer: t.records, Compress: true}
	m.Id, m.Response, m.Authoritative = t.q.id, true, true
	if t.sent == 0 {
		m.Question = []dns.Question{{Name: t.q.name.String(), Qtype: t.q.rrtype, Qclass: t.q.class}}
	}
	wire, err := t.pack(m)
	t.records, t.size, t.sent = nil, 0, t.sent+1
	failed := err != nil || len(wire) > maxTCPAnswer // there is a record that is too long for any message
	if failed {
		wire = nil
	}
	t.stopped = t.stopped || !t.yield(wire) || failed
}

// pack packs a message, signed when the request was. The first has an OPT record where the request had one (RFC 5936 section
// 2.2.5); the others only to be padded.
func (t *transfer) pack(m *dns.Msg) (wire []byte, err error) {
	if t.q.edns {
		if err := t.opt(m); err != nil {
			return nil, err
		}
	}
	if t.signature == nil {
		return m.Pack()
	}
	if t.sent == 0 {
		t.mac = t.signature.asked.MAC
	}
	wire, t.mac, err = t.signature.sign(m, t.mac, t.sent > 0, t.req.Now)
	return wire, err
}

// opt adds the OPT record that any other reply to the request would have, where the message has room for it.
func (t *transfer) opt(m *dns.Msg) error {
	l := &t.worker.lookup
	defer l.reset()
	l.responder, l.s, l.q, l.req = t.worker.responder, t.s, t.q, t.req
	if t.sent > 0 && !l.pads() {
		return nil
	}
	l.authoritative, l.options = true, l.optionsOf()
	l.sought.Client = t.s.Client(t.req.Source, t.q.subnet)
	l.limit = maxTCPAnswer - t.q.spare
	wire, err := m.Pack()
	if err != nil || len(wire)+l.optSize() > l.limit {
		return err
	}
	l.w = writer{b: wire}
	l.opt()
	rr, _, err := dns.UnpackRR(l.w.b, len(wire))
	if err != nil {
		return err
	}
	m.Extra = append(m.Extra, rr)
	return nil
}
