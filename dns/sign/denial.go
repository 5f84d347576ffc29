package sign

import (
	"slices"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// denial proves what there is not. Each method appends the records that prove it. There are three, one for each value
// of [Denial].
type denial interface {
	// missing proves that a name does not exist, nor a wildcard for it, below its closest encloser.
	missing(to []*Record, name, encloser zone.Name) []*Record
	// expanded proves that a name does not exist, so that a wildcard below the encloser stands in for it.
	expanded(to []*Record, name, encloser zone.Name) []*Record
	// nodata proves that a node has nothing of some type.
	nodata(to []*Record, node *zone.Node, without Lack) []*Record
	// standIn proves that the wildcard that stands in for a name has nothing of some type.
	standIn(to []*Record, name, encloser zone.Name, wild *zone.Node, without Lack) []*Record
	// records gives everything that is made beforehand.
	records() []*Record
}

// Missing appends what proves that a name does not exist below its closest encloser, nor a wildcard.
func (z *Zone) Missing(to []*Record, name, encloser zone.Name) []*Record {
	return z.denial.missing(to, name, encloser)
}

// Expanded appends what proves that a wildcard below the closest encloser had to stand in for a name.
func (z *Zone) Expanded(to []*Record, name, encloser zone.Name) []*Record {
	return z.denial.expanded(to, name, encloser)
}

// Nodata appends what proves that a node, which exists, has nothing of the type that was asked for. A node whose
// service does not give a type that it gives at other times needs a proof without that type.
func (z *Zone) Nodata(to []*Record, node *zone.Node, without Lack) []*Record {
	return z.denial.nodata(to, node, z.narrow(node, without))
}

// narrow leaves out of a lack what a node's service can never give.
func (z *Zone) narrow(node *zone.Node, without Lack) Lack {
	if t := z.leaves[node.Index()].steered; t != nil {
		return t.narrow[without]
	}
	return 0
}

// StandIn appends what proves that the wildcard that stands in for a name has nothing of the type that was asked for.
func (z *Zone) StandIn(to []*Record, name, encloser zone.Name, wild *zone.Node, without Lack) []*Record {
	return z.denial.standIn(to, name, encloser, wild, z.narrow(wild, without))
}

// Denies tells how the zone proves that there is nothing.
func (z *Zone) Denies() Denial { return z.rules.Denial }

// Lack is the part of what a service can give that it does not give now. The zero value: it gives all.
type Lack uint8

const (
	// LacksIPv4: it has no IPv4 address to give, or no name or host where it gives those.
	LacksIPv4 Lack = 1 << iota
	// LacksIPv6: it has no IPv6 address to give.
	LacksIPv6

	lacks = LacksIPv4 | LacksIPv6
)

// from takes the types away that are lacking.
func (l Lack) from(types []uint16) []uint16 {
	if l == 0 {
		return types
	}
	return slices.DeleteFunc(slices.Clone(types), func(t uint16) bool {
		switch t {
		case dns.TypeAAAA:
			return l&LacksIPv6 != 0
		case dns.TypeHTTPS:
			return l == lacks || l == LacksIPv4 && !slices.Contains(types, dns.TypeAAAA) || l == LacksIPv6 && !slices.Contains(types, dns.TypeA)
		}
		return l&LacksIPv4 != 0
	})
}

// among leaves out of the lack what is none of the types.
func (l Lack) among(types []uint16) Lack {
	if slices.Equal(l.from(types), types) {
		return 0
	}
	if !slices.Contains(types, dns.TypeAAAA) {
		l &^= LacksIPv6
	}
	return l
}

// appendBitmap appends the types as NSEC and NSEC3 records have them (RFC 4034 section 4.1.2). They are in order.
func appendBitmap(to []byte, types []uint16) []byte {
	for len(types) > 0 {
		window := types[0] >> 8
		var bits [32]byte
		last := 0
		for len(types) > 0 && types[0]>>8 == window {
			low := int(types[0] & 0xff)
			bits[low/8] |= 0x80 >> (low % 8)
			last, types = low/8, types[1:]
		}
		to = append(append(to, byte(window), byte(last+1)), bits[:last+1]...)
	}
	return to
}

// insert puts a type into a list in order.
func insert(types []uint16, more ...uint16) []uint16 {
	types = append(types, more...)
	slices.Sort(types)
	return types
}

// once appends a record unless it is there. A name has one record of denial in a reply: the one that tells of what is
// lacking there proves all that the other does.
func once(to []*Record, r *Record) []*Record {
	for i, there := range to {
		if there == r || there.owner == r.owner && there.set.Type == r.set.Type {
			if r.without != 0 {
				to[i] = r
			}
			return to
		}
	}
	return append(to, r)
}
