package zone

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/miekg/dns"
)

// assemble makes the zone from the drafts and tells duplicates and unequal TTLs on the way.
func (b *builder) assemble() *Zone {
	b.addNonTerminals()
	b.sort()
	names := make([]Name, len(b.names))
	for i, n := range b.names {
		names[i] = n.name
	}
	z := &Zone{origin: b.origin, index: NewIndex(names), nodes: make([]Node, len(names)), targets: map[*Node]Name{}}
	sets := make([]RRset, 0, len(b.names))
	var parent *Node
	for i := range b.names {
		n := &b.names[i]
		n.node = &z.nodes[i]
		n.node.name, n.node.index, n.node.Service = n.name, i, -1
		if n.service >= 0 {
			n.node.Service = b.spec.Services[n.service].Service
		}
		sets = b.fill(n.node, n.draft, sets)
		if n.name != b.origin {
			if above := n.name.Parent(); parent == nil || parent.name != above {
				parent = z.node(above)
			}
			n.node.link(parent)
		}
		z.note(n.node)
	}
	if soa := z.SOA().wire; soa != "" {
		z.denial = min(z.SOA().TTL, soaMinimum(soa))
	}
	return z
}

// addNonTerminals drafts the names between the origin and each name, which exist without data.
func (b *builder) addNonTerminals() {
	last := b.origin            // that is known to be there
	for _, n := range b.names { // without those that are added
		for name := n.name; name != b.origin; {
			name = name.Parent()
			if name == last || b.drafts[name] != nil {
				last = name
				break
			}
			b.draft(name)
		}
	}
}

// sort puts the names in canonical order (RFC 4034 section 6.1).
func (b *builder) sort() {
	type keyed struct { // without pointers, so that to move one costs the collector nothing
		first  uint64 // bytes of the key behind that of the origin
		start  int    // of the key among keys
		size   uint32 // of the key
		number uint32 // among names
	}
	all := make([]keyed, len(b.names))
	var keys []byte // as one piece
	origin := len(b.origin.AppendKey(nil))
	for i, n := range b.names {
		start := len(keys)
		keys = n.name.AppendKey(keys)
		var first [8]byte
		copy(first[:], keys[start+origin:])
		all[i] = keyed{binary.BigEndian.Uint64(first[:]), start, uint32(len(keys) - start), uint32(i)}
	}
	slices.SortFunc(all, func(a, b keyed) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return bytes.Compare(keys[a.start:a.start+int(a.size)], keys[b.start:b.start+int(b.size)])
	})
	names := make([]named, len(all))
	for i, k := range all {
		names[i] = b.names[k.number]
	}
	b.names = names
}

// link notes what stands over a node; its parent is linked already.
func (n *Node) link(parent *Node) {
	if n.name.Wildcard() {
		parent.wild = n
	}
	_, cut := n.Set(dns.TypeNS)
	switch {
	case parent.over != nil:
		n.over = parent.over
	case parent.redirects():
		n.over = parent
	case cut:
		n.over = n
	}
}

// fill groups the draft's records into the node's RRsets, which are cut from sets.
func (b *builder) fill(node *Node, d *draft, sets []RRset) []RRset {
	if len(d.records) == 0 {
		return sets
	}
	slices.SortStableFunc(d.records, func(a, b record) int { return cmp.Compare(a.rrtype, b.rrtype) })
	first := len(sets)
	for rest := d.records; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].rrtype == rest[0].rrtype {
			n++
		}
		sets = append(sets, RRset{
			Type: rest[0].rrtype, TTL: rest[0].ttl, wire: wire(b.distinct(node.name, rest[:n])),
		})
		rest = rest[n:]
	}
	node.sets = sets[first:len(sets):len(sets)]
	return sets
}

// distinct returns the records of one RRset in canonical order (RFC 4034 section 6.3), each once.
func (b *builder) distinct(name Name, set []record) []record {
	for _, r := range set[1:] {
		if ttl, first := r.ttl, set[0].ttl; ttl != first {
			b.errorf(r.at, "%s %s has TTL %d here and %d at %s: one RRset has one TTL (RFC 2181 section 5.2)",
				name, TypeWord(r.rrtype), ttl, first, b.there(set[0].at, r.at))
		}
	}
	if len(set) == 1 {
		return set
	}
	set = slices.Clone(set)
	slices.SortStableFunc(set, func(a, b record) int { return cmp.Compare(a.rdata, b.rdata) })
	kept := set[:1]
	for _, r := range set[1:] {
		last := kept[len(kept)-1]
		if r.rdata == last.rdata {
			b.warnf(r.at, "%s %s repeats %s and is given once", name, TypeWord(r.rrtype), b.there(last.at, r.at))
			continue
		}
		kept = append(kept, r)
	}
	return kept
}
