package wire

import (
	"log/slog"
	"net/netip"
	"time"

	"pgregory.net/rapid"
)

// anyMessage draws a message of any kind with any values that it may carry.
func anyMessage() *rapid.Generator[Message] {
	return rapid.Custom(func(t *rapid.T) Message {
		switch kind(rapid.IntRange(int(kindHello), int(kindAlive)).Draw(t, "kind")) {
		case kindHello:
			return Hello{Version: rapid.Uint16().Draw(t, "version")}
		case kindConfigure:
			return Configure{ASN: number(t), RouterID: address(t), Neighbours: rapid.SliceOfN(anyNeighbour(), 0, 4).Draw(t, "neighbours")}
		case kindStop:
			return Stop{}
		case kindListening:
			return Listening{Port: rapid.Uint16().Draw(t, "port")}
		case kindSession:
			return session(t)
		case kindRoutes:
			return Routes{Neighbour: number(t), Changes: rapid.SliceOfN(anyChange(), 0, 20).Draw(t, "changes")}
		case kindEndOfRIB:
			return EndOfRIB{Neighbour: number(t), IPv6: flag(t)}
		case kindLog:
			return Log{Level: slog.Level(rapid.Int8().Draw(t, "level")), Neighbour: number(t), Text: rapid.String().Draw(t, "text")}
		}
		return Alive{}
	})
}

func anyNeighbour() *rapid.Generator[Neighbour] {
	return rapid.Custom(func(t *rapid.T) Neighbour {
		return Neighbour{ID: number(t), Address: address(t), Secret: rapid.String().Draw(t, "secret"), ASN: number(t), HoldTime: seconds(t), Keepalive: seconds(t),
			IPv4: flag(t), IPv6: flag(t), AddPath: flag(t), GracefulRestart: flag(t)}
	})
}

func session(t *rapid.T) Session {
	return Session{
		Neighbour: number(t),
		State:     State(rapid.IntRange(int(Down), int(Up)).Draw(t, "state")),
		Reason: Reason{
			Cause:   Cause(rapid.IntRange(int(Unknown), int(Deconfigured)).Draw(t, "cause")),
			Code:    rapid.Byte().Draw(t, "code"),
			Subcode: rapid.Byte().Draw(t, "subcode"),
			Text:    rapid.String().Draw(t, "text"),
		},
		ASN: number(t), RouterID: address(t), HoldTime: seconds(t), IPv4: flag(t), IPv6: flag(t),
		AddPathIPv4: flag(t), AddPathIPv6: flag(t), GracefulRestart: flag(t), RestartTime: seconds(t),
	}
}

// anyChange draws few different paths, so that neighbours in a frame often share one.
func anyChange() *rapid.Generator[Change] {
	return rapid.Custom(func(t *rapid.T) Change {
		addr := address(t)
		if !addr.IsValid() {
			addr = netip.IPv6Unspecified()
		}
		prefix, _ := addr.Prefix(rapid.IntRange(0, addr.BitLen()).Draw(t, "bits"))
		c := Change{Prefix: prefix, PathID: rapid.SampledFrom([]uint32{0, 1, 1 << 31}).Draw(t, "path ID")}
		if flag(t) {
			c.Withdraw = true
			return c
		}
		small := rapid.Uint32Range(0, 1)
		c.Path = Path{
			Origin:       small.Draw(t, "origin"),
			PathLength:   small.Draw(t, "length"),
			NeighbourASN: rapid.SampledFrom([]uint32{64501, 4200000001}).Draw(t, "neighbour"),
			LocalPref:    100,
			Loop:         flag(t),
			Communities:  rapid.SliceOfN(small, 0, 2).Draw(t, "communities"),
		}
		if flag(t) {
			c.Path.Large = [][3]uint32{{number(t), number(t), number(t)}}
		}
		return c
	})
}

func number(t *rapid.T) uint32 { return rapid.Uint32().Draw(t, "number") }
func flag(t *rapid.T) bool     { return rapid.Bool().Draw(t, "flag") }

func seconds(t *rapid.T) time.Duration {
	return time.Duration(rapid.Uint16().Draw(t, "seconds")) * time.Second
}

func address(t *rapid.T) netip.Addr {
	length := rapid.SampledFrom([]int{0, 4, 16}).Draw(t, "address length")
	a, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), length, length).Draw(t, "address"))
	return a
}
