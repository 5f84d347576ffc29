package dns

import (
	"crypto/tls"
	"net"
	"time"
)

// Current is what tests outside of the package ask for in place of a client.
func (c *Certificate) Current(now time.Time) *tls.Certificate { return c.current(now) }

// HangUp is what a full server does to a connection.
func HangUp(conn net.Conn) { hangUp(conn) }
