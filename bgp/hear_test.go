package bgp

import (
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"testing"

	"gslb/bgp/wire"
)

func TestRoutesThatWaitAreToldTogetherAndInTheirOrder(t *testing.T) {
	var told []string
	tell := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
	s := NewSessions(fakeCommand, Sink{
		Routes: func(p Peer, changes []wire.Change) {
			words := p.Partner
			for _, c := range changes {
				words += fmt.Sprintf(" %s withdraw=%t", c.Prefix, c.Withdraw)
			}
			tell("%s", words)
		},
		EndOfRIB: func(p Peer, ipv6 bool) { tell("%s ends", p.Partner) },
		Lost:     func() { tell("lost") },
	}, slog.New(slog.DiscardHandler))
	for id, name := range map[uint32]string{1: "sibtel", 2: "neva"} {
		s.ids[id] = newRelay(Peer{Partner: name, Address: loopback(id)}, loopback(id), "", s.gate, nil, s.log)
		s.up[id] = true
	}
	routes := func(neighbour uint32, withdraw bool, prefix string) wire.Routes {
		return wire.Routes{Neighbour: neighbour, Changes: []wire.Change{{Prefix: netip.MustParsePrefix(prefix), Withdraw: withdraw}}}
	}
	for _, m := range []wire.Message{
		routes(2, false, "198.51.100.0/24"), routes(1, true, "203.0.113.0/24"), routes(2, true, "198.51.100.0/24"),
		wire.EndOfRIB{Neighbour: 1}, routes(1, false, "203.0.114.0/24"), nil, routes(1, false, "203.0.115.0/24"),
	} {
		s.child.events <- m
	}
	s.hearAll(routes(1, false, "203.0.113.0/24"))
	want := []string{
		"sibtel 203.0.113.0/24 withdraw=false 203.0.113.0/24 withdraw=true",
		"neva 198.51.100.0/24 withdraw=false 198.51.100.0/24 withdraw=true",
		"sibtel ends",
	}
	if !slices.Equal(told, want) {
		t.Fatalf("got %q, want %q", told, want)
	}
	s.hearAll(<-s.child.events)
	if want = append(want, "sibtel 203.0.114.0/24 withdraw=false", "lost"); !slices.Equal(told, want) {
		t.Fatalf("got %q, want %q", told, want)
	}
	s.hearAll(<-s.child.events) // of a session that is gone
	if !slices.Equal(told, want) {
		t.Fatalf("got %q, want %q", told, want)
	}
}
