package dns

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/miekg/dns"

	"gslb/config"
)

// Through has secondaries told by a function in place of a socket.
func (n *Notifier) Through(exchange func(context.Context, *dns.Msg, Way, config.TSIGKey) (*dns.Msg, error)) {
	n.exchange = exchange
}

// Exchange is how they are told by a socket.
var Exchange = exchange

// Current is what tests outside of the package ask for in place of a client.
func (c *Certificate) Current(now time.Time) *tls.Certificate { return c.current(now) }
