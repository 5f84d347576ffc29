//go:build !linux || !(amd64 || arm64)

package dns

import (
	"context"
	"net"
)

// serveBatches gives false: this system has no calls for many packets at once.
func (*Server) serveBatches(context.Context, *net.UDPConn, bool) bool { return false }
