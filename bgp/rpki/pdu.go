package rpki

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"time"
)

// Types of PDUs (RFC 8210 section 5).
const (
	serialNotify  = 0
	serialQuery   = 1
	resetQuery    = 2
	cacheResponse = 3
	ipv4Prefix    = 4
	ipv6Prefix    = 6
	endOfData     = 7
	cacheReset    = 8
	routerKey     = 9
	errorReport   = 10
)

const (
	pduHeader = 8
	maxPDU    = 64 << 10 // router keys and error reports carry free text

	reportedPDU = 1 << 10 // of what a message that is wrong is quoted back
)

// Error codes (RFC 8210 section 12).
const (
	corruptData        = 0
	unsupportedVersion = 4
	unsupportedType    = 5
	unknownWithdrawal  = 6
	unexpectedVersion  = 8
)

// pdu is one message of the protocol, as far as a router needs it.
type pdu struct {
	version byte
	kind    byte
	session uint16 // or an error code
	body    []byte // behind the header
}

// readPDU reads one message.
func readPDU(r io.Reader) (pdu, error) {
	var head [pduHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return pdu{}, err
	}
	p := pdu{version: head[0], kind: head[1], session: binary.BigEndian.Uint16(head[2:])}
	size := binary.BigEndian.Uint32(head[4:])
	if size < pduHeader || size > maxPDU {
		return pdu{}, wrong{corruptData, fmt.Sprintf("a message of %d octets", size), string(head[:])}
	}
	p.body = make([]byte, size-pduHeader)
	_, err := io.ReadFull(r, p.body)
	return p, err
}

// wrong says what a cache did that the protocol does not allow.
type wrong struct {
	code uint16
	text string
	pdu  string // the message that was wrong, as far as it is quoted
}

func (w wrong) Error() string { return w.text }

// report writes the Error Report that tells the cache (RFC 8210 section 5.11).
func (w wrong) report(version byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{version, errorReport}, w.code)
	b = binary.BigEndian.AppendUint32(b, uint32(pduHeader+4+len(w.pdu)+4+len(w.text)))
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(w.pdu))), w.pdu...)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(w.text))), w.text...)
}

// wrong says what of this message the protocol does not allow.
func (p pdu) wrong(code uint16, format string, about ...any) wrong {
	b := binary.BigEndian.AppendUint16([]byte{p.version, p.kind}, p.session)
	b = append(binary.BigEndian.AppendUint32(b, uint32(pduHeader+len(p.body))), p.body...)
	return wrong{code, fmt.Sprintf(format, about...), string(b[:min(len(b), reportedPDU)])}
}

// malformed says that the message is not what its type promises.
func (p pdu) malformed() error { return p.wrong(corruptData, "a malformed message of type %d", p.kind) }

// query writes a query: for everything, or, from a serial on, for what changed.
func query(version byte, session uint16, serial *uint32) []byte {
	kind, size := byte(resetQuery), uint32(pduHeader)
	if serial != nil {
		kind, size = serialQuery, pduHeader+4
	}
	b := []byte{version, kind, 0, 0}
	if serial != nil {
		binary.BigEndian.PutUint16(b[2:], session)
	}
	b = binary.BigEndian.AppendUint32(b, size)
	if serial != nil {
		b = binary.BigEndian.AppendUint32(b, *serial)
	}
	return b
}

// vrp reads a prefix PDU; announce is false for a withdrawal.
func (p pdu) vrp() (v VRP, announce bool, err error) {
	octets := 4
	if p.kind == ipv6Prefix {
		octets = 16
	}
	if len(p.body) != 8+octets {
		return v, false, p.malformed()
	}
	a, _ := netip.AddrFromSlice(p.body[4 : 4+octets])
	v = VRP{Prefix: netip.PrefixFrom(a, int(p.body[1])), MaxLength: int(p.body[2]), ASN: binary.BigEndian.Uint32(p.body[4+octets:])}
	if !v.Prefix.IsValid() {
		return v, false, p.malformed()
	}
	v.Prefix = v.Prefix.Masked()
	if !v.valid() {
		return v, false, p.malformed()
	}
	return v, p.body[0]&1 == 1, nil
}

// timing is how often a cache wants to be asked, and for how long what it said is good (RFC 8210 section 6). How soon
// it wants to be asked again after a failure is passed over: our own backoff is bounded, and one connection a minute
// burdens nobody.
type timing struct{ refresh, expire time.Duration }

// defaultTiming is that of a cache which says nothing.
var defaultTiming = timing{refresh: time.Hour, expire: 2 * time.Hour}

// end reads an End of Data PDU. Times out of the bounds of RFC 8210 section 6 are brought into them; what expires
// sooner than it is to be refreshed is refreshed by then.
func (p pdu) end() (serial uint32, t timing, err error) {
	t = defaultTiming
	switch {
	case p.version == 0 && len(p.body) == 4:
	case p.version == 1 && len(p.body) == 16:
		t.refresh = seconds(p.body[4:], 1, 86400)
		t.expire = seconds(p.body[12:], 600, 172800)
	default:
		return 0, t, p.malformed()
	}
	t.refresh = min(t.refresh, t.expire) // what is about to expire
	return binary.BigEndian.Uint32(p.body), t, nil
}

func seconds(b []byte, least, most uint32) time.Duration {
	return time.Duration(min(max(binary.BigEndian.Uint32(b), least), most)) * time.Second
}
