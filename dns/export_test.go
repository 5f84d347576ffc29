package dns

import (
	"crypto/tls"
	"time"
)

// Current is what tests outside of the package ask for in place of a client.
func (c *Certificate) Current(now time.Time) *tls.Certificate { return c.current(now) }
