package bgp_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os/exec"

	"gslb/bgp"
	"gslb/bgp/wire"
)

func ExampleSessions() {
	sink := bgp.Sink{
		Up:       func(p bgp.Peer, s wire.Session) { fmt.Println(p.Address, "is up") },
		Down:     func(p bgp.Peer, c bgp.Cause) { fmt.Println(p.Address, "is down:", c.Text) },
		Routes:   func(p bgp.Peer, changes []wire.Change) {},
		EndOfRIB: func(p bgp.Peer, ipv6 bool) {},
		Lost:     func() {},
	}
	speaker := func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, "/proc/self/exe", "bgp-speaker") }
	sessions := bgp.NewSessions(speaker, sink, slog.New(slog.DiscardHandler))
	sessions.Apply(
		bgp.Local{ASN: 64512, RouterID: netip.MustParseAddr("192.0.2.53")},
		[]bgp.Peer{{Partner: "sibtel", Address: netip.MustParseAddr("127.0.0.9"), ASN: 64501, TTLSecurity: 1}},
	)
	if err := sessions.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
}
