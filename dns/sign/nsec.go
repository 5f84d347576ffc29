package sign

import (
	"bytes"
	"slices"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// nsec is a chain over the names of a zone that have records, in canonical order.
type nsec struct {
	z      *Zone
	links  []*Record // links[0] is nil: that of the zone's own name changes with the keys
	number []int32   // of the link, by the index of the node; -1: the node has none
	keys   []byte    // of the links' owners, as [zone.Name.AppendKey] makes them, one behind the other
	ends   []uint32  // of each in keys
}

// newNSEC makes the chain.
func newNSEC(z *Zone) *nsec {
	c := &nsec{z: z, number: make([]int32, z.plain.Len())}
	var nodes []*zone.Node
	for name, node := range z.plain.All() {
		c.number[node.Index()] = -1
		if node.Hidden() || node.Empty() && node.Index() > 0 {
			continue
		}
		c.number[node.Index()] = int32(len(nodes))
		nodes = append(nodes, node)
		c.keys = name.AppendKey(c.keys)
		c.ends = append(c.ends, uint32(len(c.keys)))
	}
	c.links = make([]*Record, len(nodes))
	made := make([]Record, len(nodes))
	for i, node := range nodes[1:] {
		made[i+1].owner, made[i+1].set = node.Name(), c.set(node, c.next(nodes, i+1), nil, 0)
		c.links[i+1] = &made[i+1]
	}
	return c
}

func (c *nsec) next(nodes []*zone.Node, i int) zone.Name { return nodes[(i+1)%len(nodes)].Name() }

// set is the NSEC record of a node.
func (c *nsec) set(node *zone.Node, next zone.Name, own []*Record, without Lack) zone.RRset {
	types := insert(c.z.types(node, own, without), dns.TypeRRSIG, dns.TypeNSEC)
	return zone.NewRRset(dns.TypeNSEC, c.z.plain.DenialTTL(), string(appendBitmap([]byte(next), types)))
}

// apexLink makes the link of the zone's own name.
func (c *nsec) apexLink(a *apex) *Record {
	next := c.z.plain.Origin()
	if len(c.links) > 1 {
		next = c.links[1].owner
	}
	origin := c.z.plain.Find(c.z.plain.Origin()).Node
	return &Record{owner: origin.Name(), set: c.set(origin, next, a.sets, 0)}
}

// link gives a link by its number.
func (c *nsec) link(i int32) *Record {
	if i == 0 {
		return c.z.apex.Load().link
	}
	return c.links[i]
}

// at gives the link of a node; nil where it has none.
func (c *nsec) at(node *zone.Node) *Record {
	if i := c.number[node.Index()]; i >= 0 {
		return c.link(i)
	}
	return nil
}

// cover gives the link whose span a name with a key lies in.
func (c *nsec) cover(key []byte) *Record {
	low, high := 0, len(c.ends) // the first link that is behind the name lies in (low, high]
	for high-low > 1 {
		middle := int(uint(low+high) / 2)
		if bytes.Compare(c.keys[c.ends[middle-1]:c.ends[middle]], key) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return c.link(int32(low))
}

// keyRoom is room for the key of any name: an octet can take two.
const keyRoom = 2 * zone.MaxName

func (c *nsec) missing(to []*Record, name, encloser zone.Name) []*Record {
	var room [keyRoom + 2]byte
	to = once(to, c.cover(name.AppendKey(room[:0])))
	return once(to, c.cover(append(encloser.AppendKey(room[:0]), '*', 0)))
}

func (c *nsec) expanded(to []*Record, name, _ zone.Name) []*Record {
	var room [keyRoom]byte
	return once(to, c.cover(name.AppendKey(room[:0])))
}

func (c *nsec) nodata(to []*Record, node *zone.Node, without Lack) []*Record {
	link := c.at(node)
	if link == nil { // an empty non-terminal: the link before it tells so by the name that follows
		return c.expanded(to, node.Name(), "")
	}
	if without != 0 {
		link = c.z.leaves[node.Index()].steered.denial(without, func() *Record {
			next := c.after(node)
			return &Record{owner: node.Name(), set: c.set(node, next, c.z.apex.Load().sets, without), without: without}
		})
	}
	return once(to, link)
}

// after gives the owner of the link behind a node's.
func (c *nsec) after(node *zone.Node) zone.Name {
	i := c.number[node.Index()] + 1
	if int(i) == len(c.links) {
		return c.z.plain.Origin()
	}
	return c.links[i].owner
}

func (c *nsec) standIn(to []*Record, name, encloser zone.Name, wild *zone.Node, without Lack) []*Record {
	return c.expanded(c.nodata(to, wild, without), name, encloser)
}

func (c *nsec) records() []*Record { return slices.Clone(c.links[1:]) }
