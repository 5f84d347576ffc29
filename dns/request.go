package dns

import (
	"encoding/binary"
	"net/netip"

	"github.com/miekg/dns"

	"gslb/dns/steer"
	"gslb/dns/zone"
)

// Sizes of the wire format (RFC 1035 section 4.1.1, RFC 6891 section 6.1.2).
const (
	headerSize   = 12
	maxUDPPlain  = 512  // without EDNS
	maxUDPAnswer = 1232 // the largest answer that is sent in one datagram
	maxTCPAnswer = 65535
)

// requestSize is how long a request can be: no query of ours comes near the size of an Ethernet frame. A longer one
// is cut behind one octet more, and so malformed: nobody can have us keep it.
const requestSize = 2048

// Bits of the second 16 bits of a header.
const (
	flagQR     = 1 << 15
	flagAA     = 1 << 10
	flagTC     = 1 << 9
	flagRD     = 1 << 8
	opcodeMask = 0xf << 11
)

// query is a request, taken apart. It points into the packet, and its name into a worker's memory.
type query struct {
	id     uint16
	flags  uint16
	head   []byte    // the header and the question, if there is a readable one
	name   zone.Name // the question's, in lower case
	rrtype uint16
	class  uint16
	end    int // offset behind the question; 0: there is no readable question

	edns   bool
	size   uint16 // of answers that the client can take, by EDNS
	badEDN bool   // a version of EDNS that we do not speak
	do     bool
	co     bool // the client understands NXDOMAIN beside a compact denial (RFC 9824 section 5)
	nsid   bool
	cookie []byte // the COOKIE option's data; nil: none
	ecs    []byte // the client subnet option's data as it came; nil: none
	subnet steer.Subnet

	expire    bool // the client wants to know when a zone expires (RFC 7314)
	keepalive bool
	padding   bool // the client pads, and wants to be padded to (RFC 7830)

	signed bool // by a TSIG record, which stands where it has to (RFC 8945)
	tsigAt int  // the offset of that record
	spare  int  // octets to leave for the reply's own
}

// offendsQUIC tells whether a request has what none over QUIC may have (RFC 9250 section 4.3.3).
func (q *query) offendsQUIC() bool { return q.id != 0 || q.keepalive }

func (q *query) opcode() int { return int(q.flags&opcodeMask) >> 11 }

// parse takes a request apart. It gives the RCODE that a request which cannot be answered gets,
// and false when it gets no answer at all: when it has no whole header, or is a response. The query
// is good for as long as the packet and the letters of its name are.
func (q *query) parse(packet []byte, letters *[zone.MaxName]byte) (rcode int, ok bool) {
	*q = query{}
	if len(packet) < headerSize {
		return 0, false
	}
	q.head = packet[:headerSize]
	q.id, q.flags = binary.BigEndian.Uint16(packet), binary.BigEndian.Uint16(packet[2:])
	if q.flags&flagQR != 0 {
		return 0, false
	}
	var counts [4]int
	for i := range counts {
		counts[i] = int(binary.BigEndian.Uint16(packet[4+2*i:]))
	}
	readable := counts[0] == 1 && q.question(packet, letters)
	at, whole := q.end, readable
	if !readable { // an OPT gets one back whatever stands before it (RFC 6891 section 6.1.1)
		at, whole = skipQuestions(packet, counts[0])
	}
	if whole {
		rcode = q.records(packet, at, counts[1]+counts[2], counts[3])
	}
	switch {
	case q.opcode() != dns.OpcodeQuery:
		return dns.RcodeNotImplemented, true
	case counts[0] == 0 && q.cookie != nil && rcode == dns.RcodeSuccess:
		return rcode, true
	case !readable: // RFC 9619: a query has one question
		return dns.RcodeFormatError, true
	}
	return rcode, true
}

// question reads the one question, whose name has no compression to point at.
func (q *query) question(packet []byte, letters *[zone.MaxName]byte) bool {
	name, n, err := zone.ReadName(packet[headerSize:], letters)
	if err != nil || len(packet) < headerSize+n+4 {
		return false
	}
	q.name = name
	q.rrtype = binary.BigEndian.Uint16(packet[headerSize+n:])
	q.class = binary.BigEndian.Uint16(packet[headerSize+n+2:])
	q.end = headerSize + n + 4
	q.head = packet[:q.end]
	return true
}

// skipQuestions gives the offset behind so many questions, and whether they are there.
func skipQuestions(packet []byte, count int) (at int, ok bool) {
	const fixed = 4 // type and class
	at = headerSize
	for range count {
		if at, ok = skipName(packet, at); !ok || len(packet) < at+fixed {
			return 0, false
		}
		at += fixed
	}
	return at, true
}

// records walks over what follows the questions, from an offset on, and reads the OPT record in the additional section. It
// goes on behind what it can pass over, for an error is told with an OPT record and a signature, too.
func (q *query) records(packet []byte, at, before, additional int) (rcode int) {
	tsigs := 0
	for i := range before + additional {
		owner := at
		var ok bool
		if at, ok = skipName(packet, at); !ok || len(packet) < at+10 {
			return dns.RcodeFormatError
		}
		rrtype, size := binary.BigEndian.Uint16(packet[at:]), int(binary.BigEndian.Uint16(packet[at+8:]))
		fixed := packet[at : at+10]
		if at += 10 + size; len(packet) < at {
			return dns.RcodeFormatError
		}
		if rrtype == dns.TypeTSIG {
			tsigs++ // there is one at most, the last of the additional section (RFC 8945 section 5.1)
			if q.signed = tsigs == 1 && additional > 0 && i == before+additional-1; !q.signed {
				rcode = dns.RcodeFormatError
				continue
			}
			q.tsigAt, q.spare = owner, at-owner+tsigOther
		}
		if rrtype != dns.TypeOPT {
			continue
		}
		if i < before || q.edns || packet[owner] != 0 { // RFC 6891 section 6.1.1
			return dns.RcodeFormatError
		}
		rcode = max(rcode, q.opt(fixed, packet[at-size:at]))
	}
	switch {
	case at != len(packet):
		return dns.RcodeFormatError
	case rcode == dns.RcodeSuccess && q.badEDN:
		return dns.RcodeBadVers
	}
	return rcode
}

// skipName gives the offset behind a name, which may end in a compression pointer.
func skipName(packet []byte, at int) (int, bool) {
	for at < len(packet) {
		switch n := int(packet[at]); {
		case n == 0:
			return at + 1, true
		case n >= 0xc0:
			return at + 2, at+2 <= len(packet)
		case n >= 0x40:
			return 0, false
		default:
			at += 1 + n
		}
	}
	return 0, false
}

// opt reads an OPT record: its fixed part behind the owner, and its options.
func (q *query) opt(fixed, options []byte) (rcode int) {
	q.edns = true
	q.size = max(binary.BigEndian.Uint16(fixed[2:]), maxUDPPlain)
	q.badEDN = fixed[5] != 0
	q.do, q.co = fixed[6]&flagDO != 0, fixed[6]&flagCO != 0
	if q.badEDN {
		return dns.RcodeSuccess // its options may have another form; the answer tells our version (RFC 6891 section 6.1.3)
	}
	for len(options) > 0 {
		if len(options) < 4 {
			return dns.RcodeFormatError
		}
		code, size := binary.BigEndian.Uint16(options), int(binary.BigEndian.Uint16(options[2:]))
		if len(options) < 4+size {
			return dns.RcodeFormatError
		}
		data := options[4 : 4+size]
		options = options[4+size:]
		switch code {
		case dns.EDNS0NSID:
			q.nsid = true
		case dns.EDNS0EXPIRE:
			q.expire = true
		case dns.EDNS0TCPKEEPALIVE:
			q.keepalive = true
		case dns.EDNS0PADDING:
			q.padding = true
		case dns.EDNS0COOKIE:
			if !wellFormedCookie(data) { // RFC 7873 section 5.2.2
				return dns.RcodeFormatError
			}
			if q.cookie == nil { // the first one counts (RFC 7873 section 5.2)
				q.cookie = data
			}
		case dns.EDNS0SUBNET:
			subnet, ok := parseSubnet(data)
			if !ok || q.ecs != nil {
				return dns.RcodeFormatError
			}
			q.ecs, q.subnet = data, subnet
		}
	}
	return dns.RcodeSuccess
}

// parseSubnet reads a client subnet option (RFC 7871 section 6): family, source prefix length,
// scope prefix length, which is 0 in a query, and as many octets of address as the source prefix
// needs, with no bit set behind it. Family 0 is taken with nothing else: it asks for an answer
// that looks at no client.
func parseSubnet(data []byte) (steer.Subnet, bool) {
	if len(data) < 4 {
		return steer.Subnet{}, false
	}
	family, source, scope, octets := binary.BigEndian.Uint16(data), int(data[2]), data[3], data[4:]
	if scope != 0 || len(octets) != (source+7)/8 {
		return steer.Subnet{}, false
	}
	var address netip.Addr
	switch {
	case family == 0 && source == 0:
		return steer.Subnet{}, true
	case family == 1 && source <= 32:
		var b [4]byte
		copy(b[:], octets)
		address = netip.AddrFrom4(b)
	case family == 2 && source <= 128:
		var b [16]byte
		copy(b[:], octets)
		address = netip.AddrFrom16(b)
	default:
		return steer.Subnet{}, false
	}
	prefix := netip.PrefixFrom(address, source)
	return steer.Subnet{Prefix: prefix}, prefix.Masked() == prefix
}
