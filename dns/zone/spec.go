package zone

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
)

// Spec says what one zone holds, in the operator's words. It is the whole input of [Build].
type Spec struct {
	// Origin is the zone's own name, "ok.test". A final dot changes nothing.
	Origin string
	// TTL is given, in seconds, to every record without one of its own, as if each text began
	// with "$TTL TTL". A $TTL line in a text holds from there to the end of that text. It is
	// also the TTL of the SOA and NS records made from SOA and NS below.
	TTL uint32
	// SOA is nil when the keys have none; then a SOA record in the texts is the zone's, and
	// without one Build makes a default.
	SOA *SOA
	// NS are the zone's name servers, relative to the origin unless they end in a dot.
	NS []string
	// Texts are master-file texts (RFC 1035 section 5): the zone file, the inline records.
	Texts []Text
	// Services are the names whose addresses are decided for each client.
	Services []ServiceName
}

// sum names the content of a spec: two with the same make the same zone. Where the texts stand is left out, since only
// problems tell of that.
func (s Spec) sum() [sha256.Size]byte {
	h := sha256.New()
	for _, t := range s.Texts {
		fmt.Fprintf(h, "%d ", len(t.Text))
		_, _ = io.WriteString(h, t.Text) // a hash takes everything
	}
	s.Texts = nil
	_ = json.NewEncoder(h).Encode(s) // nothing in it is without a JSON form
	return [sha256.Size]byte(h.Sum(nil))
}

// Text is one master-file text and where it stands.
type Text struct {
	File string // named in messages that point from one text to another
	Line int    // line in File of the text's first line: 1 for a whole file
	Text string
}

// SOA is the start of authority as keys give it. Times are in seconds.
type SOA struct {
	// MName is the primary server, relative to the origin unless it ends in a dot; empty: the
	// first name server, or the origin.
	MName string
	// RName is the mailbox of whoever answers for the zone, as a name ("hostmaster") or as a
	// mail address ("dns@ok.test"); empty: hostmaster.
	RName string
	// Serial is used as it is, unless Auto says to compute it from the zone's content.
	Serial                          uint32
	Auto                            bool
	Refresh, Retry, Expire, Minimum uint32
}

// ServiceName puts a service at a name of the zone.
type ServiceName struct {
	// Name is relative to the origin unless it ends in a dot; "@" is the origin; a first label
	// "*" makes it a wildcard (RFC 4592).
	Name string
	// Service is the caller's index, handed back in [Node.Service]; never negative.
	Service int
	// Pinned is the service's own name; it is part of the automatic serial.
	Pinned string
	// Gives are the record types that the service answers itself, such as A and AAAA: records of
	// these types beside it are a mistake.
	Gives []uint16
	// Alias says that the service makes the name an alias: nothing may stand beside it, and it
	// cannot be at the apex (RFC 1034 section 3.6.2).
	Alias bool
}

// Problem is a mistake in a [Spec] and where it stands.
type Problem struct {
	// Text is the index in Spec.Texts, or -1 when the mistake is in a key.
	Text int
	// Line and Column count from 1. Line is a line of the text's file, already shifted by
	// Text.Line; Column counts bytes within the text. Both are 0 when Text is -1.
	Line, Column int
	// Key names the key when Text is -1: "" (the zone itself), "soa", "soa.mname", "soa.rname",
	// "ns", "ns[1]", "services.www" (the service's name as it was written).
	Key string
	// Message says what is wrong, in lower case, without a final period.
	Message string
	// Warning marks what is doubtful and yet can be served.
	Warning bool
}
