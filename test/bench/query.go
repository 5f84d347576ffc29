package main

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// staticNames is how many names with a plain address the zone has.
const staticNames = 1000

// mix makes queries of one kind. The packets are built once; next only changes the octets that are a matter of luck.
type mix struct {
	name    string
	queries []query
	at      int
	luck    uint64
	missing bool   // the answer is NXDOMAIN
	network uint32 // of the partners: the number of the one that was asked for last
}

// query is a packet, and what of it changes.
type query struct {
	packet []byte
	change change
	offset int
}

type change uint8

const (
	nothing   change = iota
	label            // of 12 letters
	ipv4             // a client subnet, a /24 of anywhere
	ipv6             // a client subnet, a /48 of allocated space
	announced        // a client subnet, a /24 of the partners
)

// mixes are the kinds of queries that all servers can be asked.
var mixes = []string{"static", "geo", "ecs", "lb", "nx"}

// newMix makes the queries of a kind.
func newMix(kind string, seed uint64) (*mix, error) {
	m := &mix{name: kind, luck: seed*0x9e3779b97f4a7c15 + 1}
	switch kind {
	case "static":
		for i := range staticNames {
			m.add(fmt.Sprintf("h%03d", i), nothing)
		}
	case "geo", "lb", "down":
		m.add(kind, nothing)
	case "ecs":
		for i := range 64 {
			m.add("geo", [...]change{ipv4, ipv4, ipv4, ipv6}[i%4])
		}
	case "nx":
		m.missing = true
		m.add("abcdefghijkl", label)
	case "routed":
		m.add("cdn", announced)
	case "hashed":
		m.add("hash", announced)
	default:
		return nil, fmt.Errorf("mix %q is not known", kind)
	}
	for i := range m.queries {
		j := int(m.rand() % uint64(i+1))
		m.queries[i], m.queries[j] = m.queries[j], m.queries[i]
	}
	return m, nil
}

// Client subnet options (RFC 7871), with room for the network.
var subnets = map[change][]byte{
	ipv4:      {0, 8, 0, 7, 0, 1, 24, 0, 0, 0, 0},
	announced: {0, 8, 0, 7, 0, 1, 24, 0, 0, 0, 0},
	ipv6:      {0, 8, 0, 10, 0, 2, 48, 0, 0, 0, 0, 0, 0, 0},
}

// add makes a query of type A for a name of the zone, with EDNS.
func (m *mix) add(name string, c change) {
	b := make([]byte, 12, 128)
	b[5], b[11] = 1, 1 // one question, one additional record
	for l := range strings.SplitSeq(name+"."+zoneName, ".") {
		b = append(append(b, byte(len(l))), l...)
	}
	b = append(b, 0, 0, 1, 0, 1)
	option := subnets[c]
	b = append(b, 0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0) // OPT, for answers of 1232 octets
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(option))), option...)
	q := query{packet: b, change: c, offset: len(b) - max(len(option)-8, 0)}
	if c == label {
		q.offset = 13
	}
	m.queries = append(m.queries, q)
}

// rand gives the next number of a xorshift generator.
func (m *mix) rand() uint64 {
	x := m.luck
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	m.luck = x
	return x * 0x2545f4914f6cdd1d
}

// allocated is the first 16 bits of networks that hold most of IPv6.
var allocated = [...]uint16{0x2001, 0x2400, 0x2402, 0x2404, 0x2406, 0x2408, 0x2409, 0x240a, 0x240e, 0x2600, 0x2603, 0x2607, 0x2800,
	0x2803, 0x2804, 0x2a00, 0x2a01, 0x2a02, 0x2a03, 0x2a06, 0x2a0a, 0x2a0e, 0x2c0f}

// next copies the next query to a buffer and gives its length.
func (m *mix) next(to []byte, id uint16) int {
	q := &m.queries[m.at]
	if m.at++; m.at == len(m.queries) {
		m.at = 0
	}
	n := copy(to, q.packet)
	binary.BigEndian.PutUint16(to, id)
	if q.change == nothing {
		return n
	}
	luck, at := m.rand(), to[q.offset:]
	switch q.change {
	case label:
		for i := range 12 {
			at[i] = "abcdefghijklmnopqrstuvwxyz234567"[luck>>(5*i)&31]
		}
	case ipv4:
		first := byte(1 + luck>>32%223)
		if first == 10 || first == 127 { // bogus: nobody steers by them
			first = 8
		}
		at[0], at[1], at[2] = first, byte(luck>>8), byte(luck>>16)
	case ipv6:
		binary.BigEndian.PutUint16(at, allocated[luck>>40%uint64(len(allocated))])
		binary.BigEndian.PutUint32(at[2:], uint32(luck))
	case announced:
		m.network = uint32(luck >> 16 % routes)
		network := routeBase + m.network
		at[0], at[1], at[2] = byte(network>>16), byte(network>>8), byte(network)
	}
	return n
}

// good tells whether a reply is what the queries of this kind get.
func (m *mix) good(reply []byte) bool {
	const response, truncated = 0x80, 0x02
	if len(reply) < 12 || reply[2]&response == 0 || reply[2]&truncated != 0 {
		return false
	}
	rcode := reply[3] & 15
	if m.missing {
		return rcode == 3
	}
	return rcode == 0 && binary.BigEndian.Uint16(reply[6:]) > 0
}
