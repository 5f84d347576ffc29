// Package dnstap answers the question: how is DNS traffic told to a reader of dnstap (https://dnstap.info)? A [Message]
// becomes a frame, and a [Stream] carries frames to a file or a Unix socket by the rules of Frame Streams.
package dnstap

import (
	"net/netip"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Protocol is how a question came, by dnstap's numbers.
type Protocol uint64

// The protocols.
const (
	UDP Protocol = 1
	TCP Protocol = 2
	TLS Protocol = 3
	DOH Protocol = 4
	DOQ Protocol = 7
)

// Message is one answer of an authoritative server.
type Message struct {
	Identity string // of the server
	Version  string // of the program
	Extra    string // what there is to tell beside
	Client   netip.Addr
	Over     Protocol
	Asked    time.Time
	Answered time.Time
	Query    []byte
	Reply    []byte // empty: there was none
}

// Numbers of the fields in dnstap.proto, and of the kinds that we write.
const (
	topIdentity, topVersion, topExtra, topMessage, topType = 1, 2, 3, 14, 15
	typeMessage                                            = 1

	kind, family, protocol, client        = 1, 2, 3, 4
	askedSeconds, askedNanos, query       = 8, 9, 10
	answeredSeconds, answeredNanos, reply = 12, 13, 14
	kindAuthQuery, kindAuthResponse       = 1, 2
	familyIPv4, familyIPv6                = 1, 2
)

// appendTo writes a message as a frame holds it, around its inner part, for which it uses the room, and gives back what that
// has become.
func (m *Message) appendTo(b, room []byte) (frame, inner []byte) {
	inner = m.appendInner(room[:0])
	b = text(b, topIdentity, m.Identity)
	b = text(b, topVersion, m.Version)
	b = text(b, topExtra, m.Extra)
	b = protowire.AppendTag(b, topMessage, protowire.BytesType)
	b = protowire.AppendBytes(b, inner)
	return number(b, topType, typeMessage), inner
}

func (m *Message) appendInner(b []byte) []byte {
	what := uint64(kindAuthResponse)
	if len(m.Reply) == 0 {
		what = kindAuthQuery
	}
	b = number(b, kind, what)
	if m.Client.Is4() {
		b = number(b, family, familyIPv4)
	} else {
		b = number(b, family, familyIPv6)
	}
	b = number(b, protocol, uint64(m.Over))
	b = octets(b, client, m.Client.AsSlice())
	b = moment(b, askedSeconds, askedNanos, m.Asked)
	b = octets(b, query, m.Query)
	if len(m.Reply) > 0 {
		b = moment(b, answeredSeconds, answeredNanos, m.Answered)
		b = octets(b, reply, m.Reply)
	}
	return b
}

func number(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

func octets(b []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), value)
}

func text(b []byte, field protowire.Number, value string) []byte {
	if value == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), value)
}

func moment(b []byte, seconds, nanos protowire.Number, t time.Time) []byte {
	b = number(b, seconds, uint64(t.Unix()))
	return protowire.AppendFixed32(protowire.AppendTag(b, nanos, protowire.Fixed32Type), uint32(t.Nanosecond()))
}
