package dns

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// optFixed is the octets of an OPT record without options (RFC 6891 section 6.1.2).
const optFixed = 11

// optSize is the octets of the OPT record that the reply will have.
func (l *lookup) optSize() int {
	if !l.q.edns {
		return 0
	}
	size := optFixed
	if l.nsid != "" {
		size += 4 + len(l.nsid)
	}
	if l.echoes() {
		size += 4 + len(l.q.ecs)
	}
	return size
}

// echoes tells whether the reply has the client subnet option.
func (l *lookup) echoes() bool {
	return l.q.ecs != nil && l.rcode != dns.RcodeFormatError && l.rcode != dns.RcodeBadVers
}

// opt writes the OPT record of a reply to a request that had one.
func (l *lookup) opt() {
	b := append(l.w.b, 0) // the root is its owner
	b = binary.BigEndian.AppendUint16(b, dns.TypeOPT)
	b = binary.BigEndian.AppendUint16(b, maxUDPAnswer)
	do := byte(0)
	if l.q.do {
		do = 0x80
	}
	b = append(b, byte(l.rcode>>4), 0, do, 0, 0, 0)
	start := len(b)
	if l.nsid != "" {
		b = append(option(b, dns.EDNS0NSID, len(l.nsid)), l.nsid...)
	}
	if l.echoes() {
		// As it came, with the scope filled in: resolvers drop an answer whose other fields differ from
		// what they asked (RFC 7871 section 7.3).
		b = append(option(b, dns.EDNS0SUBNET, len(l.q.ecs)), l.q.ecs...)
		b[len(b)-len(l.q.ecs)+3] = byte(l.client.Scope(l.span))
	}
	binary.BigEndian.PutUint16(b[start-2:], uint16(len(b)-start))
	l.w.b = b
	l.w.counts[additional]++
}

// option writes what stands before an option's data.
func option(b []byte, code uint16, size int) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, code), uint16(size))
}
