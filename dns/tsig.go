package dns

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/zone"
)

// tsigFudge is how far apart the clocks of both sides may be, in seconds (RFC 8945 section 10).
const tsigFudge = 300

// tsigOther is the octets that an answer's signature may have more than its request's: the server's time in
// an error (RFC 8945 section 5.2.3).
const tsigOther = 6

// signature is how a request was signed.
type signature struct {
	asked *dns.TSIG
	key   config.TSIGKey
	err   uint16 // why it is not believed (RFC 8945 section 3); 0: it is
}

// verify judges the signature of a request, whose record stands at an offset ([query.tsigAt]); nil is for one that cannot be
// read. The library's own check takes a fudge or a time of 0 for none.
func verify(s *steer.Snapshot, packet []byte, at int) *signature {
	m := new(dns.Msg)
	if m.Unpack(packet) != nil || m.IsTsig() == nil || m.IsTsig().Hdr.Rdlength == 0 { // which the library lets pass
		return nil
	}
	g := &signature{asked: m.IsTsig()}
	if h := g.asked.Hdr; h.Class != dns.ClassANY || h.Ttl != 0 { // RFC 8945 section 4.2
		return nil
	}
	key, known := s.Policy().Key(strings.ToLower(g.asked.Hdr.Name))
	if !known || !strings.EqualFold(g.asked.Algorithm, key.Algorithm) {
		g.err = dns.RcodeBadKey
		return g
	}
	octets, whole := len(g.asked.MAC)/2, hashOf(key.Algorithm)().Size()
	if octets > whole || octets < max(10, whole/2) {
		return nil // RFC 8945 section 5.2.2.1
	}
	g.key = key
	switch {
	case !g.genuine(packet[:at]):
		g.err = dns.RcodeBadSig
	case g.untimely(time.Now()):
		g.err = dns.RcodeBadTime
	case octets < whole: // shorter ones are not believed (RFC 8945 section 5.2.4)
		g.err = dns.RcodeBadTrunc
	}
	return g
}

// genuine tells whether the MAC is that of a request, which is given up to its TSIG record, or what that begins with.
func (g *signature) genuine(request []byte) bool {
	mac, err := hex.DecodeString(g.asked.MAC)
	if err != nil {
		return false
	}
	secret, err := base64.StdEncoding.DecodeString(string(g.key.Secret))
	if err != nil {
		return false
	}
	message, err := g.digested(request)
	if err != nil {
		return false
	}
	h := hmac.New(hashOf(g.key.Algorithm), secret)
	_, _ = h.Write(message) // never fails
	whole := h.Sum(nil)
	return hmac.Equal(whole[:min(len(mac), len(whole))], mac)
}

// digested is what the MAC of a request is made of (RFC 8945 section 4.3.3): the request as it was before it was signed, and
// what its TSIG record says beside the MAC.
func (g *signature) digested(request []byte) ([]byte, error) {
	t := g.asked
	owner, err := zone.ParseName(t.Hdr.Name)
	if err != nil {
		return nil, err
	}
	algorithm, err := zone.ParseName(t.Algorithm)
	if err != nil {
		return nil, err
	}
	other, err := hex.DecodeString(t.OtherData)
	if err != nil {
		return nil, err
	}
	b := bytes.Clone(request)
	binary.BigEndian.PutUint16(b, t.OrigId)
	const count = 10 // the offset of that of the additional records
	binary.BigEndian.PutUint16(b[count:], binary.BigEndian.Uint16(b[count:])-1)
	b = binary.BigEndian.AppendUint16(append(b, owner...), dns.ClassANY)
	b = append(binary.BigEndian.AppendUint32(b, 0), algorithm...)
	b = binary.BigEndian.AppendUint16(b, uint16(t.TimeSigned>>32))
	b = binary.BigEndian.AppendUint32(b, uint32(t.TimeSigned))
	b = binary.BigEndian.AppendUint16(b, t.Fudge)
	b = binary.BigEndian.AppendUint16(b, t.Error)
	b = binary.BigEndian.AppendUint16(b, uint16(len(other)))
	return append(b, other...), nil
}

// untimely tells whether the request was signed further from now than it allows.
func (g *signature) untimely(now time.Time) bool {
	apart := int64(g.asked.TimeSigned) - now.Unix() // 48 bits: it does not overflow
	return max(apart, -apart) > int64(g.asked.Fudge)
}

// hashOf gives the hash of an algorithm, by its domain name.
func hashOf(algorithm string) func() hash.Hash {
	switch algorithm {
	case dns.HmacSHA1:
		return sha1.New
	case dns.HmacSHA224:
		return sha256.New224
	case dns.HmacSHA256:
		return sha256.New
	case dns.HmacSHA384:
		return sha512.New384
	}
	return sha512.New
}

// sign signs a message of the answer, see [signature.seal]. One that is padded is so with its signature, which is not known when
// the padding is made: whoever watches sees the whole.
func (g *signature) sign(m *dns.Msg, mac string, later bool, now time.Time) (wire []byte, next string, err error) {
	p := paddingOf(m)
	if p == nil {
		return g.seal(m, mac, later, now)
	}
	unsigned := m.Extra
	p.Padding = nil
	if wire, next, err = g.seal(m, mac, later, now); err != nil {
		return wire, next, err
	}
	m.Extra = unsigned
	p.Padding = make([]byte, padding(len(wire), maxTCPAnswer))
	return g.seal(m, mac, later, now)
}

// paddingOf is the padding of a message; nil: it has none.
func paddingOf(m *dns.Msg) *dns.EDNS0_PADDING {
	if m.IsEdns0() == nil {
		return nil
	}
	for _, o := range m.IsEdns0().Option {
		if p, ok := o.(*dns.EDNS0_PADDING); ok {
			return p
		}
	}
	return nil
}

// seal puts the signature on a message. The MAC that goes into it is the request's, or that of the message before
// (RFC 8945 section 5.3.1).
func (g *signature) seal(m *dns.Msg, mac string, later bool, now time.Time) (wire []byte, next string, err error) {
	m.SetTsig(g.asked.Hdr.Name, g.asked.Algorithm, tsigFudge, now.Unix())
	t := m.IsTsig()
	t.Error, t.OrigId = g.err, m.Id
	if g.err == dns.RcodeBadTime {
		t.TimeSigned = g.asked.TimeSigned
		t.OtherLen, t.OtherData = tsigOther, timeData(now)
	}
	if g.err == dns.RcodeBadKey || g.err == dns.RcodeBadSig { // there is nothing to sign with (RFC 8945 section 5.3.2)
		wire, err = m.Pack()
		return wire, "", err
	}
	return dns.TsigGenerate(m, string(g.key.Secret), mac, later)
}

// timeData is a time as a signature's other data has it: 48 bits, in hexadecimal digits.
func timeData(now time.Time) string {
	const digits = "0123456789abcdef"
	var b [2 * tsigOther]byte
	for i, seconds := len(b)-1, uint64(now.Unix()); i >= 0; i, seconds = i-1, seconds>>4 {
		b[i] = digits[seconds&0xf]
	}
	return string(b[:])
}

// respondSigned answers a signed request, for which parsing gave an RCODE: as an unsigned one, and signed by the same key,
// errors too (RFC 8945 section 5.3). What is signed by nobody whom we know gets no answer but the reason, and what only
// looks signed gets FORMERR. It is a rare thing, so the library does it.
func (w *Worker) respondSigned(s *steer.Snapshot, req *Request, rcode int, to []byte) []byte {
	g := verify(s, req.Packet, w.query.tsigAt)
	if g == nil {
		return w.respond(s, req, dns.RcodeFormatError, to)
	}
	if g.err != 0 {
		rcode = dns.RcodeNotAuth
	}
	w.lookup.signature = g
	plain := w.respond(s, req, rcode, nil)
	m := new(dns.Msg)
	if m.Unpack(plain) != nil {
		return append(to, plain...)
	}
	m.Compress = true
	wire, _, err := g.sign(m, g.asked.MAC, false, req.Now)
	if err != nil {
		return append(to, plain...)
	}
	return append(to, wire...)
}
