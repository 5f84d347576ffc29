package main

import (
	"context"
	"net/netip"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"gslb/bgp/speaker"
	"gslb/cmd/gslb/demo"
)

// newAnnouncer is the router of the demo's partner: it announces networks to a server, and obeys the
// words of its standard input until that ends. Ctrl-C reaches this process too, and is for the demo
// to act on.
func newAnnouncer() *cobra.Command {
	var a speaker.Announcer
	c := &cobra.Command{
		Use:    demo.AnnouncerVerb + " [flags] NETWORK...",
		Hidden: true,
		RunE: func(c *cobra.Command, networks []string) error {
			ctx, stop := signal.NotifyContext(context.WithoutCancel(c.Context()), syscall.SIGTERM)
			defer stop()
			log, err := newLog(c.ErrOrStderr(), "text", "info")
			if err != nil {
				return err
			}
			for _, word := range networks {
				p, err := netip.ParsePrefix(word)
				if err != nil || p != p.Masked() {
					return usagef("%q is not a network", word)
				}
				a.Prefixes = append(a.Prefixes, p)
			}
			return speaker.Announce(ctx, a, c.InOrStdin(), log)
		},
	}
	c.Flags().Uint32Var(&a.ASN, "asn", 0, "own AS `number`")
	c.Flags().TextVar(&a.RouterID, "router-id", netip.Addr{}, "own BGP identifier, an IPv4 `address`")
	c.Flags().TextVar(&a.Local, "local", netip.AddrPort{}, "own `address:port`")
	c.Flags().TextVar(&a.Peer, "peer", netip.AddrPort{}, "the server's `address:port`")
	c.Flags().Uint32Var(&a.PeerASN, "peer-asn", 0, "the server's AS `number`")
	return c
}
