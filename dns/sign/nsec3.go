package sign

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"slices"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// nsec3Param is the data of the NSEC3PARAM record: SHA-1, no flags, no iterations, no salt. NSEC3 records begin alike.
const nsec3Param = "\x01\x00\x00\x00\x00"

// hash is a name as NSEC3 hides it.
type hash [sha1.Size]byte

func hashOf(name zone.Name) hash {
	var room [zone.MaxName]byte
	return sha1.Sum(room[:copy(room[:], name)])
}

// nsec3 is a chain over the hashes of the names of a zone, empty non-terminals too.
type nsec3 struct {
	z      *Zone
	hashes []hash
	links  []*Record // by hash; the one of the zone's own name is nil, for it changes with the keys
	number []int32   // of the link, by the index of the node; -1: the node has none
}

// newNSEC3 makes the chain.
func newNSEC3(z *Zone) *nsec3 {
	c := &nsec3{z: z, number: make([]int32, z.plain.Len())}
	type hidden struct {
		hash hash
		node *zone.Node
	}
	var all []hidden
	for name, node := range z.plain.All() {
		if c.number[node.Index()] = -1; !node.Hidden() {
			all = append(all, hidden{hashOf(name), node})
		}
	}
	slices.SortFunc(all, func(a, b hidden) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	for i, h := range all {
		c.hashes = append(c.hashes, h.hash)
		c.number[h.node.Index()] = int32(i)
	}
	c.links = make([]*Record, len(all))
	for i, h := range all {
		if h.node.Index() > 0 {
			c.links[i] = c.record(h.node, int32(i), nil, 0)
		}
	}
	return c
}

// record makes the link of a node.
func (c *nsec3) record(node *zone.Node, i int32, own []*Record, without Lack) *Record {
	types := c.z.types(node, own, without)
	if len(types) > 0 && !(node.Delegated() && !slices.Contains(types, dns.TypeDS)) {
		types = insert(types, dns.TypeRRSIG)
	}
	next := c.hashes[(int(i)+1)%len(c.hashes)]
	data := append(append([]byte(nsec3Param), sha1.Size), next[:]...)
	return &Record{
		without: without, owner: c.z.nsec3Owner(c.hashes[i]),
		set: zone.NewRRset(dns.TypeNSEC3, c.z.plain.DenialTTL(), string(appendBitmap(data, types))),
	}
}

// nsec3Owner is the owner of the link of a hash, in lower case.
func (z *Zone) nsec3Owner(h hash) zone.Name {
	label := base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(h[:])
	return zone.Name(string(rune(len(label)))+string(bytes.ToLower([]byte(label)))) + z.plain.Origin()
}

// apexLink makes the link of the zone's own name.
func (c *nsec3) apexLink(a *apex) *Record {
	return c.record(c.z.plain.Find(c.z.plain.Origin()).Node, c.number[0], a.sets, 0)
}

// link gives a link by its number.
func (c *nsec3) link(i int32) *Record {
	if c.links[i] == nil {
		return c.z.apex.Load().link
	}
	return c.links[i]
}

// cover gives the link whose span a name's hash lies in.
func (c *nsec3) cover(name zone.Name) *Record {
	h := hashOf(name)
	i, _ := slices.BinarySearchFunc(c.hashes, h, func(a, b hash) int { return bytes.Compare(a[:], b[:]) })
	if i == 0 {
		i = len(c.hashes)
	}
	return c.link(int32(i - 1))
}

// closest appends the closest encloser proof (RFC 5155 section 7.2.1): the encloser exists, and what is one label
// longer does not.
func (c *nsec3) closest(to []*Record, name, encloser zone.Name) []*Record {
	if node := c.z.node(encloser); node != nil && c.number[node.Index()] >= 0 {
		to = once(to, c.link(c.number[node.Index()]))
	}
	return c.expanded(to, name, encloser)
}

func (c *nsec3) missing(to []*Record, name, encloser zone.Name) []*Record {
	var room [zone.MaxName + 2]byte
	wild := append(append(room[:0], 1, '*'), encloser...)
	to = c.closest(to, name, encloser)
	h := hash(sha1.Sum(wild))
	i, _ := slices.BinarySearchFunc(c.hashes, h, func(a, b hash) int { return bytes.Compare(a[:], b[:]) })
	if i == 0 {
		i = len(c.hashes)
	}
	return once(to, c.link(int32(i-1)))
}

func (c *nsec3) expanded(to []*Record, name, encloser zone.Name) []*Record {
	next := name
	for len(next.Parent()) > len(encloser) {
		next = next.Parent()
	}
	return once(to, c.cover(next))
}

func (c *nsec3) nodata(to []*Record, node *zone.Node, without Lack) []*Record {
	i := c.number[node.Index()]
	if i < 0 {
		return to
	}
	link := c.link(i)
	if without != 0 {
		link = c.z.leaves[node.Index()].steered.denial(without, func() *Record {
			return c.record(node, i, c.z.apex.Load().sets, without)
		})
	}
	return once(to, link)
}

func (c *nsec3) standIn(to []*Record, name, encloser zone.Name, wild *zone.Node, without Lack) []*Record {
	return c.nodata(c.closest(to, name, encloser), wild, without)
}

func (c *nsec3) records() []*Record {
	return slices.DeleteFunc(slices.Clone(c.links), func(r *Record) bool { return r == nil })
}
