package dns

import (
	"cmp"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"gslb/config"
	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/dns/zone"
)

// Request is one packet from a client.
type Request struct {
	Packet []byte
	Source netip.Addr
	Over   Transport
	Now    time.Time
	Seed   uint64 // the luck of the draw: a new random number for each request
}

// Responder answers requests. It is safe for concurrent use.
type Responder struct {
	host    string
	version string
	secret  [1]config.CookieSecret // of cookies, where the policy gives none
	limiter *limiter
	Counts  *Counts
	tracers atomic.Pointer[[]*Tracer] // nil: nobody wants traces

	mu       sync.Mutex
	idle     []*Worker // those that Respond used, and uses again
	made     int       // by Respond, of [sharedWorkers]
	returned sync.Cond // on mu: one is idle again
}

// sharedWorkers is how many workers Respond has at most: more requests at a time, of many connections, wait. They could be
// very many where answers wait for each other, as for what is signed when it is asked for, and each worker keeps some
// 100 KB for good.
func sharedWorkers() int { return max(64, 2*runtime.GOMAXPROCS(0)) }

// NewResponder makes a responder that tells its name to who asks by NSID (RFC 5001) or hostname.bind,
// and its version to who asks for version.bind. The host's name is used where the policy gives none.
func NewResponder(host, version string) *Responder {
	r := &Responder{host: host, version: version, secret: [1]config.CookieSecret{newSecret()}, limiter: newLimiter(), Counts: newCounts()}
	r.returned.L = &r.mu
	return r
}

// Respond answers one request from one snapshot. It appends the reply to a buffer, and gives that back as it
// was when nothing is to be sent.
func (r *Responder) Respond(s *steer.Snapshot, req Request, to []byte) []byte {
	w := r.takeWorker()
	defer r.returnWorker(w)
	return w.Respond(s, req, to)
}

func (r *Responder) takeWorker() *Worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.idle) == 0 && r.made == sharedWorkers() {
		r.returned.Wait()
	}
	if n := len(r.idle); n > 0 {
		w := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return w
	}
	r.made++
	return r.Worker()
}

func (r *Responder) returnWorker(w *Worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, w)
	r.returned.Signal()
}

// Worker answers one request after the other, for one goroutine: what it needs for that, and what it has
// counted, it keeps.
type Worker struct {
	responder *Responder
	tally     *tally
	query     query
	letters   [zone.MaxName]byte // of the query's name
	lookup    lookup

	watched bool // somebody wants to know of this request
	outcome Outcome
}

// Worker makes a worker. There should be few: each has counters of its own, for good.
func (r *Responder) Worker() *Worker { return &Worker{responder: r, tally: r.Counts.tally()} }

// reply answers one request.
func (w *Worker) reply(s *steer.Snapshot, req *Request, to []byte) []byte {
	rcode, ok := w.query.parse(req.Packet, &w.letters)
	switch {
	case !ok, req.Over == QUIC && w.query.offendsQUIC():
		w.tally.ignored(req.Over)
		return to
	case w.query.signed:
		return w.respondSigned(s, req, rcode, to)
	}
	return w.respond(s, req, rcode, to)
}

// respond answers the request that was parsed.
func (w *Worker) respond(s *steer.Snapshot, req *Request, rcode int, to []byte) []byte {
	q, l := &w.query, &w.lookup
	l.responder, l.s, l.q, l.req, l.rcode, l.service = w.responder, s, q, *req, rcode, -1
	l.zone = -1
	if q.edns {
		l.options = l.optionsOf()
	}
	l.limit = q.limit(req.Over.stream()) - q.spare
	l.w.begin(to, q, l.limit-l.optSize())
	switch {
	case rcode == dns.RcodeNotImplemented:
		l.extended = edeNotSupported
	case rcode == dns.RcodeSuccess && q.end == 0:
		l.greet()
	case rcode == dns.RcodeSuccess:
		l.resolve()
	}
	fate := sent
	if rule := s.Policy().RateLimit(); rule != nil {
		fate = w.responder.limiter.judge(l, rule)
	}
	l.w.over = l.w.over || fate == slipped
	l.finish()
	w.tally.answered(l, fate)
	if w.watched {
		w.note(l, fate)
	}
	reply := l.w.b
	if fate == dropped {
		reply = to
	}
	l.reset()
	return reply
}

// nsid is the name of this server.
func (r *Responder) nsid(s *steer.Snapshot) string { return cmp.Or(s.Policy().NSID(), r.host) }

// resolve finds what a well-formed question gets.
func (l *lookup) resolve() {
	switch q := l.q; {
	case q.class == dns.ClassCHAOS:
		l.chaos()
		return
	case q.class != dns.ClassINET:
		l.rcode = dns.RcodeRefused
		return
	case q.rrtype == dns.TypeAXFR, q.rrtype == dns.TypeIXFR:
		l.withhold()
		return
	case q.rrtype == sign.TypeNXNAME: // RFC 9824 section 3.5
		l.rcode, l.extended = dns.RcodeFormatError, edeInvalidType
		return
	}
	at, z, ok := l.s.Policy().ZoneAt(l.q.name)
	if !ok {
		l.rcode, l.extended = dns.RcodeRefused, edeNotOurs
		return
	}
	if l.q.rrtype == dns.TypeDS && l.q.name == z.Origin() && l.q.name.Labels() > 0 {
		// RFC 4035 section 3.1.4.1: DS belongs to the parent's side of the cut.
		if over, parent, ours := l.s.Policy().ZoneAt(l.q.name.Parent()); ours {
			at, z = over, parent
		}
	}
	l.z, l.zone = z, at
	l.seekProof()
	l.run()
}

// withhold says why there is no zone transfer (RFC 5936 sections 2.2.1 and 4.2). Those that there are do not come
// here: see [Responder.Transfer]. An incremental one that is asked for in a datagram gets the SOA record, by which the
// asker sees whether it has to come over TCP (RFC 1995 section 2). One that does not say what the asker has is none.
func (l *lookup) withhold() {
	z, ours := l.s.Zone(l.q.name)
	ours = ours && z.Origin() == l.q.name
	incremental := ours && l.q.rrtype == dns.TypeIXFR && mayTransfer(l.s, z, l.req.Source, l.signature)
	switch {
	case incremental && !tellsVersion(l.req.Packet, z):
		l.rcode = dns.RcodeFormatError
	case incremental && !l.req.Over.transfers():
		l.authoritative = true
		l.w.at = answers
		l.w.set(z, l.q.name, z.SOA(), z.SOA().TTL)
	case l.q.rrtype == dns.TypeAXFR && !l.req.Over.transfers():
		l.rcode = dns.RcodeNotImplemented
	case !ours:
		l.rcode = dns.RcodeNotAuth
	default:
		l.rcode, l.extended = dns.RcodeRefused, edeProhibited
	}
}

// greet answers a request without a question, which is sent to learn the server's cookie (RFC 7873 section
// 5.4). A server cookie that is not ours is told of. Without cookies such a request is none.
func (l *lookup) greet() {
	if !l.s.Policy().Cookies() {
		l.rcode = dns.RcodeFormatError
		return
	}
	if len(l.q.cookie) > clientCookie && !validCookie(l.q.cookie, l.req.Source, l.req.Now, l.responder.cookieSecrets(l.s)) {
		l.rcode = dns.RcodeBadCookie
	}
}

// finish completes a reply: the additional records, as far as they fit, the OPT record and the header, without
// the CD bit of the request, which is between resolvers (RFC 4035 section 3.1.6). A reply that does not fit is
// cut to its question, with TC set, and the client comes back over TCP. RRsets are never sent in part.
func (l *lookup) finish() {
	if l.proves() {
		l.concise()
	}
	flags := uint16(flagQR) | l.q.flags&(opcodeMask|flagRD) | uint16(l.rcode&0xf)
	if l.authoritative {
		flags |= flagAA
	}
	l.hosts()
	if l.w.over {
		l.w.back(mark{length: l.w.start + max(l.q.end, headerSize), counts: [4]uint16{question: l.w.counts[question]}})
		flags |= flagTC
	}
	if l.q.edns {
		l.opt()
	}
	l.w.header(l.q.id, flags)
}

// hosts adds what is known of the hosts that the answer or referral points to: their addresses, and for an alias
// of a service binding the bindings that it leads to (RFC 9460 section 4.1). A referral cannot do without the
// addresses (RFC 9471); elsewhere all this only saves a question, and is left out when it does not fit.
func (l *lookup) hosts() {
	if l.pointing.Type == 0 && l.named == 0 || l.w.over {
		return
	}
	var room [16]*zone.Node
	hosts := l.places[:l.named]
	if l.named == 0 {
		hosts = l.z.Hosts(l.pointer, l.pointing, room[:0])
	}
	l.w.at = additional
	before := l.w.mark()
	types := [...]uint16{dns.TypeA, dns.TypeAAAA, 0}
	if l.pointing.BindingAlias() {
		types[2] = l.pointing.Type
	}
	for _, host := range hosts {
		for _, t := range types {
			if set, ok := host.Set(t); ok && (t != l.pointing.Type || host != l.pointer) {
				l.w.set(l.z, host.Name(), set, set.TTL)
				l.signHost(host, set)
			}
		}
	}
	if l.w.over && !l.referral {
		l.w.back(before)
	}
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
