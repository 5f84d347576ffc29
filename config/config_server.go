package config

import (
	"net/netip"
	"time"
)

// Server says where DNS questions are answered.
type Server struct {
	Listen  []netip.AddrPort
	State   string // path of the bbolt file
	Journal Journal
	NSID    string // empty: the host name
	Explain []netip.Prefix

	Cookies       bool           // DNS cookies are given (RFC 7873)
	Workers       int            // sockets for UDP an address; 0: one a core
	Coalesce      time.Duration  // pause in which packets gather that come fast; 0: none
	CookieFile    string         // path of the file of secrets; empty: a secret of its own for each start
	CookieSecrets []CookieSecret // from that file; the first makes cookies, all are believed

	TLS       *Secure        // DNS over TLS (RFC 7858); nil: it is not spoken
	HTTPS     *Secure        // DNS over HTTPS (RFC 8484); likewise
	QUIC      *Secure        // DNS over QUIC (RFC 9250); likewise
	Proxies   []netip.Prefix // whose packets and connections begin with a header of the PROXY protocol, which is believed
	RateLimit *RateLimit     // nil: replies are not limited

	Log      Log
	QueryLog *QueryLog // nil: no question is told of
	Dnstap   *Dnstap   // nil: likewise

	TSIGFile string // path of the file of keys; empty: no request can be signed
	TSIGKeys []TSIGKey
}

// Secure is where DNS is answered by a transport that nobody listens in on.
type Secure struct {
	Listen      []netip.AddrPort
	Certificate string // path of a file with the certificate and its chain (PEM)
	Key         string // path of the file with its key (PEM)
	Path        string // of questions by HTTPS; of other transports empty
}

// RateLimit bounds the replies over UDP that one block of clients gets, in replies a second of one class; 0 is no bound.
type RateLimit struct {
	Answers int // for one name, type and client subnet; all names of a wildcard, delegation or DNAME are one
	Denials int // that names do not exist, for one zone
	Errors  int // of one kind
	Slip    int // of what is held back, one in so many goes out cut, so that real clients come by TCP; 0: none
	DryRun  bool
	Exempt  []netip.Prefix
}

// Journal bounds what is remembered of what happened.
type Journal struct {
	Keep   time.Duration // how long
	Events int           // how many at most: the newest
}

// Geo names the databases that place an address on the globe.
type Geo struct {
	Database string // "builtin" or a path
	ASN      string // a path, or empty
}
