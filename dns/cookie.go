package dns

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/dchest/siphash"

	"gslb/config"
	"gslb/dns/steer"
)

// Lengths of the parts of a COOKIE option (RFC 7873 section 4, RFC 9018 section 4).
const (
	clientCookie = 8
	serverCookie = 16
	leastForeign = 8  // of a server cookie, of whatever make
	mostForeign  = 32 // likewise
)

// How old a server cookie may be, and how far ahead another server's clock (RFC 9018 section 4.3).
const (
	cookieAge   = time.Hour
	cookieAhead = 5 * time.Minute
)

// newSecret makes the secret of a server that shares none with others.
func newSecret() config.CookieSecret {
	var secret config.CookieSecret
	_, _ = rand.Read(secret[:]) // never fails
	return secret
}

// cookieSecrets gives the secrets by which cookies are judged; new ones are made by the first.
func (r *Responder) cookieSecrets(s *steer.Snapshot) []config.CookieSecret {
	if secrets := s.Policy().CookieSecrets(); len(secrets) > 0 {
		return secrets
	}
	return r.secret[:]
}

// wellFormedCookie tells whether a COOKIE option has a length that it can have.
func wellFormedCookie(cookie []byte) bool {
	n := len(cookie)
	return n == clientCookie || n >= clientCookie+leastForeign && n <= clientCookie+mostForeign
}

// appendCookie writes the client's cookie and the server cookie that goes with it (RFC 9018 section 4): it
// shows later that the client gets what is sent to its address.
func appendCookie(b, client []byte, source netip.Addr, now time.Time, secret *config.CookieSecret) []byte {
	b = append(b, client[:clientCookie]...)
	b = append(b, 1, 0, 0, 0) // version and reserved octets
	b = binary.BigEndian.AppendUint32(b, uint32(now.Unix()))
	return binary.LittleEndian.AppendUint64(b, cookieHash(b[len(b)-clientCookie-8:], source, secret))
}

// cookieHash is the hash over the cookies up to it and the client's address.
func cookieHash(cookie []byte, source netip.Addr, secret *config.CookieSecret) uint64 {
	var room [clientCookie + 8 + 16]byte
	hashed := append(room[:0], cookie...)
	if source = source.Unmap(); source.Is4() {
		a := source.As4()
		hashed = append(hashed, a[:]...)
	} else {
		a := source.As16()
		hashed = append(hashed, a[:]...)
	}
	return siphash.Hash(binary.LittleEndian.Uint64(secret[:8]), binary.LittleEndian.Uint64(secret[8:]), hashed)
}

// validCookie tells whether a COOKIE option has a server cookie that one of us made for this client, not long
// ago.
func validCookie(cookie []byte, source netip.Addr, now time.Time, secrets []config.CookieSecret) bool {
	if len(cookie) != clientCookie+serverCookie || cookie[clientCookie] != 1 {
		return false
	}
	// Serial arithmetic: the clock of the form runs over in 2106.
	age := time.Duration(int32(uint32(now.Unix())-binary.BigEndian.Uint32(cookie[clientCookie+4:]))) * time.Second
	if age > cookieAge || age < -cookieAhead {
		return false
	}
	for i := range secrets {
		var sum [8]byte
		binary.LittleEndian.PutUint64(sum[:], cookieHash(cookie[:clientCookie+8], source, &secrets[i]))
		if subtle.ConstantTimeCompare(sum[:], cookie[clientCookie+8:]) == 1 {
			return true
		}
	}
	return false
}
