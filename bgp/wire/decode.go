package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"time"
)

// What may be wrong with a payload.
var (
	errShort    = errors.New("ends too early")
	errLeftOver = errors.New("has octets left over")
	errRange    = errors.New("has a value out of range")
	errKind     = errors.New("is of an unknown kind")
)

// decode reads the message of one frame.
func decode(k kind, payload []byte) (Message, error) {
	d := &decoder{rest: payload}
	m := d.message(k)
	if d.err == nil && len(d.rest) > 0 {
		d.err = errLeftOver
	}
	if d.err != nil {
		return nil, fmt.Errorf("frame of kind %d, %d octets: %w", k, len(payload), d.err)
	}
	return m, nil
}

// decoder walks over a payload. The first error stays, and everything read after it is zero.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) message(k kind) Message {
	switch k {
	case kindHello:
		return Hello{Version: uint16(d.number(math.MaxUint16))}
	case kindConfigure:
		return d.configure()
	case kindStop:
		return Stop{}
	case kindListening:
		return Listening{Port: uint16(d.number(math.MaxUint16))}
	case kindSession:
		return d.session()
	case kindRoutes:
		return d.routes()
	case kindEndOfRIB:
		return EndOfRIB{Neighbour: d.uint32(), IPv6: d.flags(1) != 0}
	case kindLog:
		return Log{Level: slog.Level(d.signed(math.MinInt8, math.MaxInt8)), Neighbour: d.uint32(), Text: d.text()}
	case kindAlive:
		return Alive{}
	}
	d.fail(errKind)
	return nil
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.rest = nil
}

// octets gives the next n octets; they are the frame's own.
func (d *decoder) octets(n int) []byte {
	if n > len(d.rest) {
		d.fail(errShort)
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) octet() byte {
	b := d.octets(1)
	if b == nil {
		return 0
	}
	return b[0]
}

// flags reads an octet of which only the bits of known may be set.
func (d *decoder) flags(known byte) byte {
	f := d.octet()
	if f&^known != 0 {
		d.fail(errRange)
		return 0
	}
	return f
}

func (d *decoder) number(most uint64) uint64 {
	n, size := binary.Uvarint(d.rest)
	return uint64(bounded(d, size, n, 0, most))
}

func (d *decoder) signed(least, most int64) int64 {
	n, size := binary.Varint(d.rest)
	return bounded(d, size, n, least, most)
}

// bounded steps over the size octets that n was read from, as encoding/binary tells sizes.
func bounded[N int64 | uint64](d *decoder, size int, n, least, most N) N {
	switch {
	case size == 0:
		d.fail(errShort)
	case size < 0 || n < least || n > most:
		d.fail(errRange)
	default:
		d.rest = d.rest[size:]
		return n
	}
	return 0
}

func (d *decoder) uint32() uint32 { return uint32(d.number(math.MaxUint32)) }

// count reads a number of things that take at least size octets each, so that a frame cannot make
// us allocate for more than it can hold.
func (d *decoder) count(size int) int {
	n := d.number(math.MaxUint32)
	if n > uint64(len(d.rest)/size) {
		d.fail(errShort)
		return 0
	}
	return int(n)
}

func (d *decoder) text() string { return string(d.octets(d.count(1))) }

func (d *decoder) seconds() time.Duration {
	return time.Duration(d.number(math.MaxUint32)) * time.Second
}

// addr reads an address, or the zero Addr that is written as no octets.
func (d *decoder) addr() netip.Addr {
	n := int(d.octet())
	if n == 0 {
		return netip.Addr{}
	}
	a, ok := netip.AddrFromSlice(d.octets(n))
	if !ok {
		d.fail(errRange)
	}
	return a
}

func (d *decoder) configure() Configure {
	m := Configure{ASN: d.uint32(), RouterID: d.addr()}
	const least = 6 // octets of the shortest neighbour
	n := d.count(least)
	if n == 0 {
		return m
	}
	m.Neighbours = make([]Neighbour, n)
	for i := range m.Neighbours {
		m.Neighbours[i] = d.neighbour()
	}
	return m
}

func (d *decoder) neighbour() Neighbour {
	f := d.flags(neighbourIPv4 | neighbourIPv6 | neighbourAddPath | neighbourGracefulRestart)
	return Neighbour{
		IPv4:            f&neighbourIPv4 != 0,
		IPv6:            f&neighbourIPv6 != 0,
		AddPath:         f&neighbourAddPath != 0,
		GracefulRestart: f&neighbourGracefulRestart != 0,
		ID:              d.uint32(),
		Address:         d.addr(),
		Secret:          d.text(),
		ASN:             d.uint32(),
		HoldTime:        d.seconds(),
		Keepalive:       d.seconds(),
	}
}

func (d *decoder) session() Session {
	m := Session{Neighbour: d.uint32(), State: State(d.octet())}
	m.Reason = Reason{Cause: Cause(d.octet()), Code: d.octet(), Subcode: d.octet(), Text: d.text()}
	if m.State > Up || m.Reason.Cause > Deconfigured {
		d.fail(errRange)
	}
	f := d.flags(sessionIPv4 | sessionIPv6 | sessionAddPathIPv4 | sessionAddPathIPv6 | sessionGracefulRestart)
	m.IPv4 = f&sessionIPv4 != 0
	m.IPv6 = f&sessionIPv6 != 0
	m.AddPathIPv4 = f&sessionAddPathIPv4 != 0
	m.AddPathIPv6 = f&sessionAddPathIPv6 != 0
	m.GracefulRestart = f&sessionGracefulRestart != 0
	m.ASN = d.uint32()
	m.RouterID = d.addr()
	m.HoldTime = d.seconds()
	m.RestartTime = d.seconds()
	return m
}

func (d *decoder) routes() Routes {
	m := Routes{Neighbour: d.uint32()}
	var last *Path
	for len(d.rest) > 0 {
		c := d.change(last)
		if d.err != nil {
			return Routes{}
		}
		m.Changes = append(m.Changes, c)
		if !c.Withdraw {
			last = &c.Path
		}
	}
	return m
}

// change reads one change; last is the path of the nearest announcement before it, or nil.
func (d *decoder) change(last *Path) Change {
	f := d.flags(changeIPv6 | changeWithdraw | changePathID | changeSamePath | changeLoop)
	c := Change{Withdraw: f&changeWithdraw != 0}
	c.Prefix = d.prefix(f&changeIPv6 != 0)
	if f&changePathID != 0 {
		c.PathID = d.uint32()
	}
	switch {
	case c.Withdraw:
		return c
	case f&changeSamePath == 0:
		c.Path = d.path()
		c.Path.Loop = f&changeLoop != 0
	case last == nil:
		d.fail(errRange)
	default:
		c.Path = *last
	}
	return c
}

func (d *decoder) prefix(ipv6 bool) netip.Prefix {
	var octets [16]byte
	bits := int(d.octet())
	copy(octets[:], d.octets(min((bits+7)/8, len(octets))))
	addr := netip.AddrFrom16(octets)
	if !ipv6 {
		addr = netip.AddrFrom4([4]byte(octets[:4]))
	}
	p, err := addr.Prefix(bits)
	if err != nil {
		d.fail(errRange)
	}
	return p
}

func (d *decoder) path() Path {
	p := Path{
		Origin:       d.uint32(),
		PathLength:   d.uint32(),
		NeighbourASN: d.uint32(),
		MED:          d.uint32(),
		LocalPref:    d.uint32(),
	}
	if n := d.count(4); n > 0 {
		p.Communities = make([]uint32, n)
		d.fill(p.Communities)
	}
	if n := d.count(12); n > 0 {
		p.Large = make([][3]uint32, n)
		for i := range p.Large {
			d.fill(p.Large[i][:])
		}
	}
	return p
}

func (d *decoder) fill(numbers []uint32) {
	b := d.octets(4 * len(numbers))
	if b == nil {
		return
	}
	for i := range numbers {
		numbers[i] = binary.BigEndian.Uint32(b[4*i:])
	}
}
