package dns

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslb/config"
	"gslb/dns/steer"
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

// verify judges the signature of a request, which is there ([query.signed]); nil is for one that cannot be read.
func verify(s *steer.Snapshot, packet []byte) *signature {
	m := new(dns.Msg)
	if m.Unpack(packet) != nil || m.IsTsig() == nil || m.IsTsig().Hdr.Rdlength == 0 { // which the library lets pass
		return nil
	}
	g := &signature{asked: m.IsTsig()}
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
	switch err := dns.TsigVerifyWithProvider(bytes.Clone(packet), judge(key), "", false); {
	case errors.Is(err, dns.ErrTime):
		g.err = dns.RcodeBadTime
	case err != nil:
		g.err = dns.RcodeBadSig
	case octets < whole: // shorter ones are not believed (RFC 8945 section 5.2.4)
		g.err = dns.RcodeBadTrunc
	}
	return g
}

// judge is a key by which MACs are judged as far as they go.
type judge config.TSIGKey

// Generate gives the MAC of a message.
func (j judge) Generate(message []byte, _ *dns.TSIG) ([]byte, error) {
	secret, err := base64.StdEncoding.DecodeString(string(j.Secret))
	if err != nil {
		return nil, fmt.Errorf("secret of key %s: %w", j.Name, err)
	}
	h := hmac.New(hashOf(j.Algorithm), secret)
	_, _ = h.Write(message) // never fails
	return h.Sum(nil), nil
}

// Verify tells whether a MAC is that of a message, or what that begins with.
func (j judge) Verify(message []byte, t *dns.TSIG) error {
	mac, err := hex.DecodeString(t.MAC)
	if err != nil {
		return err
	}
	whole, err := j.Generate(message, t)
	if err != nil {
		return err
	}
	if !hmac.Equal(whole[:min(len(mac), len(whole))], mac) {
		return dns.ErrSig
	}
	return nil
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

// sign signs a message of the answer. The MAC that goes into it is the request's, or that of the message before
// (RFC 8945 section 5.3.1).
func (g *signature) sign(m *dns.Msg, mac string, later bool, now time.Time) (wire []byte, next string, err error) {
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
	g := verify(s, req.Packet)
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
