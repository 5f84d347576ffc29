package dns

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"

	"gslb/config/regular"
)

// Certificate is what the server shows to clients inside TLS. Its files are read again when they change, as they do
// when a certificate is renewed. When that fails, the certificate before stays in use and the files are tried again,
// since they may be completed, or opened to us, a moment later. It is safe for concurrent use.
type Certificate struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	stamps [2]os.FileInfo // of the files, taken before pair was read
	looked time.Time
	cause  string // why the files cannot be read again, as it was told; "": they can
}

// certificatePace is how often the files are looked at, at most.
const certificatePace = time.Second

// LoadCertificate reads a certificate with its chain, and its key, both in PEM.
func LoadCertificate(cert, key string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, log: log, looked: time.Now()}
	c.stamps = c.stampsNow()
	pair, err := regular.KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	c.pair = &pair
	return c, nil
}

func (c *Certificate) stampsNow() (stamps [2]os.FileInfo) {
	for i, file := range [...]string{c.cert, c.key} {
		stamps[i], _ = os.Stat(file) // what is not there is read in vain, and told then
	}
	return stamps
}

// current gives the certificate as its files have it.
func (c *Certificate) current(now time.Time) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.looked) < certificatePace {
		return c.pair
	}
	c.looked = now
	stamps := c.stampsNow()
	if sameFile(stamps[0], c.stamps[0]) && sameFile(stamps[1], c.stamps[1]) {
		return c.pair
	}
	pair, err := regular.KeyPair(c.cert, c.key)
	if err != nil {
		if c.cause != err.Error() {
			c.cause = err.Error()
			c.log.Error("certificate not read again: the one before stays", "file", c.cert, "cause", err)
		}
		return c.pair
	}
	c.log.Info("certificate read again", "file", c.cert, "until", pair.Leaf.NotAfter)
	c.stamps, c.pair, c.cause = stamps, &pair, ""
	return c.pair
}

// Show is for [tls.Config.GetCertificate].
func (c *Certificate) Show(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.current(time.Now()), nil
}

// For tells whether the certificate is one for the host.
func (c *Certificate) For(host string) bool {
	leaf := c.current(time.Now()).Leaf
	return leaf != nil && leaf.VerifyHostname(host) == nil
}

// Span is from when until when the certificate is good.
func (c *Certificate) Span() (from, until time.Time) {
	leaf := c.current(time.Now()).Leaf
	if leaf == nil {
		return from, until
	}
	return leaf.NotBefore, leaf.NotAfter
}

func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
