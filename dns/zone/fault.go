package zone

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// fault is a mistake in the syntax of an entry.
type fault struct {
	at      mark
	message string
}

// parserFault puts an error of the record parser into the operator's words. The parser gives its
// details only as text: `dns: WHAT: "TOKEN" at line: LINE:COLUMN`, the place counted in the entry.
func parserFault(e entry, err error) fault {
	f := fault{at: e.mark}
	what := strings.TrimPrefix(err.Error(), "dns: ")
	token := ""
	if i := strings.LastIndex(what, " at line: "); i >= 0 {
		place := what[i+len(" at line: "):]
		what, token = cutToken(what[:i])
		line, column, _ := strings.Cut(place, ":")
		f.at = e.find(token, number(line), number(column))
	}
	f.message = reword(what, token)
	return f
}

// cutToken splits `WHAT: "TOKEN"`.
func cutToken(s string) (what, token string) {
	for i := 0; ; {
		next := strings.Index(s[i:], `: "`)
		if next < 0 {
			return s, ""
		}
		i += next + 2
		if token, err := strconv.Unquote(s[i:]); err == nil {
			return s[:i-2], token
		}
	}
}

// number reads a number of the parser's, 0 if it is none.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// find turns the parser's place, just behind the token, into the place of the token itself. If the
// token does not stand there (it may be made of several), the answer is the entry's first word.
func (e entry) find(token string, line, column int) mark {
	text := e.text
	for range line - 1 {
		_, text, _ = strings.Cut(text, "\n")
	}
	text, _, _ = strings.Cut(text, "\n")
	if token == "" || token == "\n" {
		return e.mark
	}
	for start := min(column, len(text)); start >= 0; start-- {
		if strings.HasPrefix(text[start:], token) {
			return mark{e.line + line - 1, start + 1}
		}
	}
	return e.mark
}

// reword says in an operator's words what the parser found.
func reword(what, token string) string {
	quoted := strconv.Quote(token)
	_, class := dns.StringToClass[strings.ToUpper(token)]
	missing := token == "" || token == "\n" || token == " "
	switch {
	case token == "extra closing brace": // the lexer gives its own mistakes as tokens
		return "a parenthesis is closed that was never opened"
	case token == "unknown RR type":
		return "unknown record type"
	case token == "unknown class":
		return token
	case strings.Contains(what, "unpacking"):
		return "these bytes are not the data of this type"
	case strings.HasPrefix(what, "no blank"):
		return "this record is not complete"
	case strings.HasPrefix(what, "expecting RR type") && missing, class:
		return "this record has no type"
	case what == "not a TTL":
		return "unknown record type, class or TTL " + quoted
	case strings.HasPrefix(what, "expecting RR type"), what == "unknown RR type":
		return "unknown record type " + quoted
	case what == "garbage after rdata":
		return quoted + " stands after the end of the record"
	case what == "bad owner name":
		return quoted + " is not a domain name"
	}
	return rewordData(what, quoted, missing)
}

// rewordData is reword for mistakes in a record's data.
func rewordData(what, quoted string, missing bool) string {
	switch {
	case missing && strings.HasPrefix(what, "bad "):
		rrtype, _, _ := strings.Cut(what[len("bad "):], " ")
		return "the data of this " + rrtype + " record is not complete"
	case missing:
		return what
	case what == "":
		return quoted + " cannot be read"
	case what == "bad A A":
		return quoted + " is not an IPv4 address"
	case what == "bad AAAA AAAA":
		return quoted + " is not an IPv6 address"
	}
	return what + " " + quoted
}

// refuseHeader says why a zone cannot hold a record, or "".
func refuseHeader(h *dns.RR_Header) string {
	if reason := refuse(h.Rrtype); reason != "" {
		return reason
	}
	if h.Class != dns.ClassINET {
		return fmt.Sprintf("class %s is not served, only IN", dns.Class(h.Class))
	}
	if h.Ttl > maxTTL {
		return fmt.Sprintf("TTL %d is more than %d (RFC 2181 section 8)", h.Ttl, maxTTL)
	}
	return ""
}

// refuse says why a zone cannot hold a type, or "".
func refuse(rrtype uint16) string {
	name := TypeWord(rrtype)
	switch rrtype {
	case dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM:
		return name + " records are made by the server: give the zone unsigned, and have it signed by its key dnssec"
	case dns.TypeNone, dns.TypeOPT, dns.TypeReserved:
		return name + " is not a type that a zone can hold"
	}
	if rrtype >= 128 && rrtype <= 255 { // RFC 6895 section 3.1: queries and meta types
		return name + " is not a type that a zone can hold"
	}
	return ""
}
