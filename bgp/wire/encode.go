package wire

import (
	"encoding/binary"
	"math"
	"net/netip"
	"time"
)

// Bits of the octet that begins a Neighbour.
const (
	neighbourIPv4 = 1 << iota
	neighbourIPv6
	neighbourAddPath
	neighbourGracefulRestart
)

// Bits of the octet that begins what the OPENs settled in a Session.
const (
	sessionIPv4 = 1 << iota
	sessionIPv6
	sessionAddPathIPv4
	sessionAddPathIPv6
	sessionGracefulRestart
)

// Bits of the octet that begins a Change. The path follows unless it is withdrawn or the same as
// that of the nearest announcement before it in the frame.
const (
	changeIPv6 = 1 << iota
	changeWithdraw
	changePathID
	changeSamePath
	changeLoop
)

func bit(set bool, b byte) byte {
	if set {
		return b
	}
	return 0
}

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendAddr(b []byte, a netip.Addr) []byte {
	octets := a.AsSlice()
	b = append(b, byte(len(octets)))
	return append(b, octets...)
}

// appendSeconds writes a duration in whole seconds; BGP knows no shorter ones.
func appendSeconds(b []byte, d time.Duration) []byte {
	return binary.AppendUvarint(b, uint64(max(d, 0)/time.Second))
}

func (m Hello) appendTo(b []byte) []byte { return binary.AppendUvarint(b, uint64(m.Version)) }

func (m Configure) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.ASN))
	b = appendAddr(b, m.RouterID)
	b = binary.AppendUvarint(b, uint64(len(m.Neighbours)))
	for _, n := range m.Neighbours {
		b = n.appendTo(b)
	}
	return b
}

func (n Neighbour) appendTo(b []byte) []byte {
	b = append(b, bit(n.IPv4, neighbourIPv4)|bit(n.IPv6, neighbourIPv6)|
		bit(n.AddPath, neighbourAddPath)|bit(n.GracefulRestart, neighbourGracefulRestart))
	b = binary.AppendUvarint(b, uint64(n.ID))
	b = appendAddr(b, n.Address)
	b = appendText(b, n.Secret)
	b = binary.AppendUvarint(b, uint64(n.ASN))
	b = appendSeconds(b, n.HoldTime)
	return appendSeconds(b, n.Keepalive)
}

func (m Stop) appendTo(b []byte) []byte      { return b }
func (m Listening) appendTo(b []byte) []byte { return binary.AppendUvarint(b, uint64(m.Port)) }

func (m Session) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.Neighbour))
	b = append(b, byte(m.State), byte(m.Reason.Cause), m.Reason.Code, m.Reason.Subcode)
	b = appendText(b, m.Reason.Text)
	b = append(b, bit(m.IPv4, sessionIPv4)|bit(m.IPv6, sessionIPv6)|
		bit(m.AddPathIPv4, sessionAddPathIPv4)|bit(m.AddPathIPv6, sessionAddPathIPv6)|
		bit(m.GracefulRestart, sessionGracefulRestart))
	b = binary.AppendUvarint(b, uint64(m.ASN))
	b = appendAddr(b, m.RouterID)
	b = appendSeconds(b, m.HoldTime)
	return appendSeconds(b, m.RestartTime)
}

func (m Routes) appendTo(b []byte) []byte {
	b, _ = m.appendUntil(b, math.MaxInt)
	return b
}

// appendUntil writes changes until b has the given length or there are no more, and tells how many
// it wrote.
func (m Routes) appendUntil(b []byte, length int) ([]byte, int) {
	b = binary.AppendUvarint(b, uint64(m.Neighbour))
	var last *Path
	for i := range m.Changes {
		if len(b) >= length {
			return b, i
		}
		c := &m.Changes[i]
		b = c.appendTo(b, last)
		if !c.Withdraw {
			last = &c.Path
		}
	}
	return b, len(m.Changes)
}

// appendTo writes the change; last is the path of the nearest announcement before it, or nil.
func (c *Change) appendTo(b []byte, last *Path) []byte {
	same := !c.Withdraw && last != nil && last.Equal(&c.Path)
	b = append(b, bit(c.Prefix.Addr().Is6(), changeIPv6)|bit(c.Withdraw, changeWithdraw)|
		bit(c.PathID != 0, changePathID)|bit(same, changeSamePath)|
		bit(!c.Withdraw && !same && c.Path.Loop, changeLoop))
	bits := c.Prefix.Bits()
	b = append(b, byte(bits))
	b = append(b, c.Prefix.Addr().AsSlice()[:(bits+7)/8]...)
	if c.PathID != 0 {
		b = binary.AppendUvarint(b, uint64(c.PathID))
	}
	if c.Withdraw || same {
		return b
	}
	return c.Path.appendTo(b)
}

// appendTo writes everything but Loop. Communities are four octets each: their values fill them.
func (p *Path) appendTo(b []byte) []byte {
	for _, n := range [...]uint32{p.Origin, p.PathLength, p.NeighbourASN, p.MED, p.LocalPref} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = binary.AppendUvarint(b, uint64(len(p.Communities)))
	for _, c := range p.Communities {
		b = binary.BigEndian.AppendUint32(b, c)
	}
	b = binary.AppendUvarint(b, uint64(len(p.Large)))
	for _, l := range p.Large {
		for _, part := range l {
			b = binary.BigEndian.AppendUint32(b, part)
		}
	}
	return b
}

func (m EndOfRIB) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.Neighbour))
	return append(b, bit(m.IPv6, 1))
}

func (m Log) appendTo(b []byte) []byte {
	b = binary.AppendVarint(b, int64(m.Level))
	b = binary.AppendUvarint(b, uint64(m.Neighbour))
	return appendText(b, m.Text)
}

func (m Alive) appendTo(b []byte) []byte { return b }
