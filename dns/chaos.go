package dns

import (
	"encoding/hex"

	"github.com/miekg/dns"

	"gslb/dns/steer"
	"gslb/dns/zone"
)

// chaos answers class CHAOS: who this server is, to anybody, and why a name is answered as it is,
// to those who may ask.
func (r *Responder) chaos(s *steer.Snapshot, q *query, req Request) answer {
	client := s.Client(req.Source, q.subnet)
	if q.rrtype != dns.TypeTXT && q.rrtype != dns.TypeANY {
		return answer{rcode: dns.RcodeRefused, client: client}
	}
	if text, ok := r.identity(s, q.name); ok {
		return answer{authoritative: true, answers: textRecords(q.name, text), client: client}
	}
	if !s.Policy().MayExplain(req.Source.Unmap().WithZone("")) {
		return answer{rcode: dns.RcodeRefused, client: client}
	}
	lines, span, ours := steer.Explain(s, steer.Question{Name: q.name, Client: client, Now: req.Now, Seed: req.Seed})
	if !ours {
		return answer{rcode: dns.RcodeRefused, client: client}
	}
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = line.String()
	}
	return answer{authoritative: true, answers: textRecords(q.name, texts...), span: span, client: client}
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

// textRecords makes a TXT record of each text, in order, that nobody may keep.
func textRecords(owner zone.Name, texts ...string) []dns.RR {
	records := make([]dns.RR, len(texts))
	for i, text := range texts {
		records[i] = &dns.TXT{
			Hdr: dns.RR_Header{Name: owner.String(), Rrtype: dns.TypeTXT, Class: dns.ClassCHAOS},
			Txt: characterStrings(text),
		}
	}
	return records
}

// characterStrings cuts a text into the strings of at most 255 octets that a TXT record is made
// of (RFC 1035 section 3.3), escaped as the library takes them.
func characterStrings(text string) []string {
	var parts []string
	for len(text) > 255 {
		parts = append(parts, escape(text[:255]))
		text = text[255:]
	}
	return append(parts, escape(text))
}

func escape(text string) string {
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, text[i])
	}
	return string(b)
}

func hexOf(text string) string { return hex.EncodeToString([]byte(text)) }
