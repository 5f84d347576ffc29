package dns

import (
	"github.com/miekg/dns"

	"gslb/dns/steer"
	"gslb/dns/zone"
)

// chaos answers class CHAOS: who this server is, to anybody, and why a name is answered as it is,
// to those who may ask.
func (l *lookup) chaos() {
	l.sought.Client = l.s.Client(l.req.Source, l.q.subnet)
	l.w.at = answers
	if l.q.rrtype != dns.TypeTXT && l.q.rrtype != dns.TypeANY {
		l.rcode = dns.RcodeRefused
		return
	}
	if text, ok := l.responder.identity(l.s, l.q.name); ok {
		l.authoritative = true
		l.text(text)
		return
	}
	if !l.s.Policy().MayExplain(l.req.Source.Unmap().WithZone("")) {
		l.rcode, l.extended = dns.RcodeRefused, edeProhibited
		return
	}
	lines, span, ours := steer.Explain(l.s, steer.Question{Name: l.q.name, Client: l.sought.Client, Now: l.req.Now, Seed: l.req.Seed})
	if !ours {
		l.rcode, l.extended = dns.RcodeRefused, edeNotOurs
		return
	}
	l.authoritative, l.span = true, span
	for _, line := range lines {
		l.text(line.String())
	}
}

// text writes a TXT record that nobody may keep, in strings of at most 255 octets.
func (l *lookup) text(text string) {
	var parts []string
	for len(text) > 255 {
		parts = append(parts, text[:255])
		text = text[255:]
	}
	l.w.strings(l.q.name, dns.TypeTXT, dns.ClassCHAOS, 0, append(parts, text)...)
}

// identity gives what the server says of itself under the names that BIND made customary.
func (r *Responder) identity(s *steer.Snapshot, name zone.Name) (string, bool) {
	switch name.String() {
	case "version.bind.", "version.server.":
		return "gslb " + r.version, true
	case "hostname.bind.", "id.server.":
		return r.nsid(s), true
	}
	return "", false
}
