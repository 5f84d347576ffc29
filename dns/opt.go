package dns

import (
	"encoding/binary"
	"time"

	"github.com/miekg/dns"
)

// optFixed is the octets of an OPT record without options (RFC 6891 section 6.1.2), optHead of what stands
// before the data of an option.
const (
	optFixed = 11
	optHead  = 4
)

// Bits of the first octet of an OPT record's flags.
const (
	flagDO = 0x80 // RFC 3225
	flagCO = 0x40 // RFC 9824 section 5.1
)

// options is what the OPT record of a reply tells, but for what depends on the answer.
type options struct {
	nsid      string // of this server; "": not asked for
	cookie    bool   // the client sent a cookie and gets one
	keepalive bool   // the client wants to know how long it may be silent
}

// optionsOf settles which options the reply has.
func (l *lookup) optionsOf() options {
	var o options
	if l.q.nsid {
		o.nsid = l.responder.nsid(l.s)
	}
	o.cookie = l.q.cookie != nil && l.s.Policy().Cookies()
	o.keepalive = l.q.keepalive && l.req.Over.keptAlive()
	return o
}

// optSize is the octets of the OPT record that the reply will have, without an extended error, which is only
// told where there is room.
func (l *lookup) optSize() int {
	if !l.q.edns {
		return 0
	}
	size := optFixed
	if l.options.nsid != "" {
		size += optHead + len(l.options.nsid)
	}
	if l.echoes() {
		size += optHead + len(l.q.ecs)
	}
	if l.options.cookie {
		size += optHead + clientCookie + serverCookie
	}
	if l.options.keepalive {
		size += optHead + 2
	}
	if l.q.expire {
		size += optHead + 4
	}
	return size
}

// echoes tells whether the reply has the client subnet option.
func (l *lookup) echoes() bool {
	return l.q.ecs != nil && l.rcode != dns.RcodeFormatError && l.rcode != dns.RcodeBadVers
}

// opt writes the OPT record of a reply to a request that had one.
func (l *lookup) opt() {
	flags := byte(0)
	if l.q.do {
		flags = flagDO
	}
	if l.q.co && l.compact() {
		flags |= flagCO
	}
	const owner = 0 // the root
	b := append(l.w.b, owner, 0, byte(dns.TypeOPT), maxUDPAnswer>>8, maxUDPAnswer&0xff, byte(l.rcode>>4), 0, flags, 0, 0, 0)
	start := len(b)
	if l.options.nsid != "" {
		b = append(option(b, dns.EDNS0NSID, len(l.options.nsid)), l.options.nsid...)
	}
	if l.echoes() {
		// As it came, with the scope filled in: resolvers drop an answer whose other fields differ from
		// what they asked (RFC 7871 section 7.3).
		b = append(option(b, dns.EDNS0SUBNET, len(l.q.ecs)), l.q.ecs...)
		b[len(b)-len(l.q.ecs)+3] = byte(l.sought.Client.Scope(l.span))
	}
	if l.options.cookie {
		b = option(b, dns.EDNS0COOKIE, clientCookie+serverCookie)
		b = appendCookie(b, l.q.cookie, l.req.Source, l.req.Now, &l.responder.cookieSecrets(l.s)[0])
	}
	if l.options.keepalive {
		b = option(b, dns.EDNS0TCPKEEPALIVE, 2)
		b = binary.BigEndian.AppendUint16(b, uint16(tcpIdle/(100*time.Millisecond))) // RFC 7828 section 3.1
	}
	if expire, ok := l.expire(); ok {
		b = option(b, dns.EDNS0EXPIRE, len(expire))
		b = append(b, expire...)
	}
	if size := 2 + len(l.extended.text); l.extended.told && len(b)-l.w.start+optHead+size <= l.limit {
		b = option(b, dns.EDNS0EDE, size)
		b = append(binary.BigEndian.AppendUint16(b, l.extended.code), l.extended.text...)
	}
	if l.pads() {
		b = l.pad(b)
	}
	binary.BigEndian.PutUint16(b[start-2:], uint16(len(b)-start))
	l.w.b = b
	l.w.counts[additional]++
}

// expire gives what a secondary that asks for it is to know of the zone's expiry (RFC 7314 section 3.2): what the SOA record
// says, since the zone comes from nobody else.
func (l *lookup) expire() (octets string, ok bool) {
	if !l.q.expire || !l.authoritative || l.q.rrtype != dns.TypeSOA && l.q.rrtype != dns.TypeIXFR && l.q.rrtype != dns.TypeAXFR {
		return "", false
	}
	z, ours := l.s.Zone(l.q.name)
	if !ours || z.Origin() != l.q.name {
		return "", false
	}
	return z.Expire(), true
}

// pads tells whether the reply is padded. RFC 9250 section 5.4 asks for it without being asked.
func (l *lookup) pads() bool { return l.req.Over == QUIC || l.q.padding && l.req.Over.secure() }

// padBlock is what the length of a padded reply is a multiple of (RFC 8467 section 4.1).
const padBlock = 468

// pad makes the length of a reply tell little of what is in it.
func (l *lookup) pad(b []byte) []byte {
	length := len(b) - l.w.start + optHead
	if length > l.limit {
		return b
	}
	size := padding(length, l.limit)
	return append(option(b, dns.EDNS0PADDING, size), make([]byte, size)...)
}

// padding is the octets that a message of a length lacks to a multiple of a block, or to the longest that there can be.
func padding(length, longest int) int {
	return max(0, min((padBlock-length%padBlock)%padBlock, longest-length))
}

// option writes what stands before the data of an option: its code and length.
func option(b []byte, code uint16, size int) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, code), uint16(size))
}

// extended is an extended error (RFC 8914): more than an RCODE can say, for people who debug.
type extended struct {
	told bool
	code uint16
	text string
}

// The extended errors that we tell.
var (
	edeAllDown      = extended{true, dns.ExtendedErrorCodeOther, "no place of this service is healthy"}
	edeProhibited   = extended{true, dns.ExtendedErrorCodeProhibited, ""}
	edeNotOurs      = extended{true, dns.ExtendedErrorCodeNotAuthoritative, ""}
	edeInvalidType  = extended{true, 30, ""} // RFC 9824 section 7.3
	edeNotSupported = extended{true, dns.ExtendedErrorCodeNotSupported, ""}
)
