package dns

import (
	"cmp"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/steer"
)

// Request is one packet from a client.
type Request struct {
	Packet []byte
	Source netip.Addr
	Stream bool // over TCP: the answer may be as long as it is
	Now    time.Time
	Seed   uint64 // the luck of the draw: a new random number for each request
}

// Responder answers requests. It is safe for concurrent use.
type Responder struct {
	host    string
	version string
	Counts  *Counts
}

// NewResponder makes a responder that tells its name to who asks by NSID (RFC 5001) or hostname.bind,
// and its version to who asks for version.bind. The host's name is used where the policy gives none.
func NewResponder(host, version string) *Responder {
	return &Responder{host: host, version: version, Counts: newCounts()}
}

// nsid is the name of this server.
func (r *Responder) nsid(s *steer.Snapshot) string { return cmp.Or(s.Policy().NSID(), r.host) }

// Respond answers one request from one snapshot. It gives nil when nothing is to be sent.
func (r *Responder) Respond(s *steer.Snapshot, req Request) []byte {
	q, rcode, ok := parse(req.Packet)
	if !ok {
		r.Counts.dropped(req.Stream)
		return nil
	}
	a := answer{rcode: rcode}
	if rcode == dns.RcodeSuccess {
		a = r.resolve(s, &q, req)
	}
	if q.nsid {
		a.nsid = r.nsid(s)
	}
	reply := r.encode(&q, &a, req)
	r.Counts.answered(req.Stream, &a)
	return reply
}

// resolve finds what a well-formed question gets.
func (r *Responder) resolve(s *steer.Snapshot, q *query, req Request) answer {
	if q.class == dns.ClassCHAOS {
		return r.chaos(s, q, req)
	}
	if q.class != dns.ClassINET || q.rrtype == dns.TypeAXFR || q.rrtype == dns.TypeIXFR {
		return answer{rcode: dns.RcodeRefused}
	}
	if q.rrtype == dns.TypeOPT || q.rrtype == dns.TypeTSIG || q.rrtype == dns.TypeTKEY {
		return answer{rcode: dns.RcodeFormatError}
	}
	z, ok := s.Zone(q.name)
	if ok && q.rrtype == dns.TypeDS && q.name == z.Origin() && q.name.Labels() > 0 {
		// RFC 4035 section 3.1.4.1: DS belongs to the parent's side of the cut.
		if parent, ours := s.Zone(q.name.Parent()); ours {
			z = parent
		}
	}
	if !ok {
		return answer{rcode: dns.RcodeRefused}
	}
	l := lookup{s: s, z: z, q: q, req: req, client: s.Client(req.Source, q.subnet)}
	l.run()
	return l.answer
}

// answer is what a request gets, before it is bytes.
type answer struct {
	rcode         int
	authoritative bool
	answers       []dns.RR
	authority     []dns.RR
	glue          []dns.RR // additional records that a referral cannot do without (RFC 9471)
	additional    []dns.RR // additional records that only save a question
	span          int      // see steer.Decision
	client        steer.Client
	decided       *steer.Decision
	service       string
	nsid          string // of this server, when it was asked for
}

// encode writes an answer in as many bytes as the client can take; one that does not fit is cut to
// its question, with TC set, and the client comes back over TCP. RRsets are never sent in part.
func (r *Responder) encode(q *query, a *answer, req Request) []byte {
	m := r.message(q, a)
	limit := q.limit(req.Stream)
	for _, additional := range [][]dns.RR{append(a.glue, a.additional...), a.glue} {
		m.Extra = append(additional[:len(additional):len(additional)], r.opt(q, a)...)
		if wire, err := m.Pack(); err == nil && len(wire) <= limit {
			return q.restore(wire)
		}
	}
	m.Truncated = true
	m.Answer, m.Ns, m.Extra = nil, nil, r.opt(q, a)
	wire, err := m.Pack()
	if err != nil {
		return nil
	}
	return q.restore(wire)
}

// limit is how long the answer may be.
func (q *query) limit(stream bool) int {
	switch {
	case stream:
		return maxTCPAnswer
	case q.edns:
		return min(int(q.size), maxUDPAnswer)
	}
	return maxUDPPlain
}

// message makes the header and the sections of an answer.
func (r *Responder) message(q *query, a *answer) *dns.Msg {
	m := &dns.Msg{Compress: true, Answer: a.answers, Ns: a.authority}
	m.Id, m.Response, m.Opcode = q.id, true, int(q.flags&opcodeMask)>>11
	m.Authoritative, m.Rcode = a.authoritative, a.rcode
	m.RecursionDesired, m.CheckingDisabled = q.flags&flagRD != 0, q.flags&flagCD != 0
	if q.end > 0 {
		m.Question = []dns.Question{{Name: q.name.String(), Qtype: q.rrtype, Qclass: q.class}}
	}
	return m
}

// restore puts the question's name back as it was asked: clients check the case of its letters.
func (q *query) restore(wire []byte) []byte {
	if q.end > 0 {
		copy(wire[headerSize:], q.raw)
	}
	return wire
}

// opt makes the OPT record of an answer to a request that had one.
func (r *Responder) opt(q *query, a *answer) []dns.RR {
	if !q.edns {
		return nil
	}
	o := &dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}}
	o.SetUDPSize(maxUDPAnswer)
	o.SetDo(q.do)
	if a.nsid != "" {
		o.Option = append(o.Option, &dns.EDNS0_NSID{Code: dns.EDNS0NSID, Nsid: hexOf(a.nsid)})
	}
	if q.ecs != nil && a.rcode != dns.RcodeFormatError && a.rcode != dns.RcodeBadVers {
		o.Option = append(o.Option, &dns.EDNS0_LOCAL{Code: dns.EDNS0SUBNET, Data: q.echo(a.client.Scope(a.span))})
	}
	return []dns.RR{o}
}

// echo gives the client subnet option as it came, with the scope filled in: resolvers drop an
// answer whose other fields differ from what they asked (RFC 7871 section 7.3).
func (q *query) echo(scope int) []byte {
	data := append([]byte(nil), q.ecs...)
	data[3] = byte(scope)
	return data
}
