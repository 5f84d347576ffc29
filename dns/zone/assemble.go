package zone

import (
	"cmp"
	"slices"

	"github.com/miekg/dns"
)

// assemble makes the zone from the drafts and tells duplicates and unequal TTLs on the way.
func (b *builder) assemble() *Zone {
	b.addNonTerminals()
	z := &Zone{origin: b.origin, names: make([]Name, 0, len(b.drafts)), nodes: make(map[Name]*Node, len(b.drafts)), targets: map[*Node]Name{}}
	for name := range b.drafts {
		z.names = append(z.names, name)
		z.depth = max(z.depth, name.Labels())
	}
	slices.SortFunc(z.names, Name.Compare)
	nodes := make([]Node, len(z.names)) // as one piece: names are many and nodes small
	for i, name := range z.names {
		node, d := &nodes[i], b.drafts[name]
		node.name, node.Service = name, -1
		if d.service >= 0 {
			node.Service = b.spec.Services[d.service].Service
		}
		b.fill(node, d)
		z.nodes[name] = node
		z.link(node)
		z.note(node)
	}
	if soa := z.SOA().wire; soa != "" {
		z.denial = min(z.SOA().TTL, soaMinimum(soa))
	}
	return z
}

// addNonTerminals drafts the names between the origin and each name, which exist without data.
func (b *builder) addNonTerminals() {
	given := make([]Name, 0, len(b.drafts))
	for name := range b.drafts {
		given = append(given, name)
	}
	for _, name := range given {
		for name != b.origin {
			name = name.Parent()
			if b.drafts[name] != nil {
				break
			}
			b.draft(name)
		}
	}
}

// link notes what stands over a node; its parent, which comes before it, is linked already.
func (z *Zone) link(node *Node) {
	if node.name == z.origin {
		return
	}
	parent := z.nodes[node.name.Parent()]
	if node.name.Wildcard() {
		parent.wild = node
	}
	_, cut := node.Set(dns.TypeNS)
	switch {
	case parent.over != nil:
		node.over = parent.over
	case parent.redirects():
		node.over = parent
	case cut:
		node.over = node
	}
}

// fill groups the draft's records into the node's RRsets.
func (b *builder) fill(node *Node, d *draft) {
	if len(d.records) == 0 {
		return
	}
	slices.SortStableFunc(d.records, func(a, b record) int { return cmp.Compare(a.rrtype, b.rrtype) })
	node.sets = make([]RRset, 0, d.types())
	for rest := d.records; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].rrtype == rest[0].rrtype {
			n++
		}
		node.sets = append(node.sets, RRset{
			Type: rest[0].rrtype, TTL: rest[0].ttl, wire: wire(b.distinct(node.name, rest[:n])),
		})
		rest = rest[n:]
	}
}

// types counts the types of a draft whose records are in order.
func (d *draft) types() int {
	count := 0
	for i, r := range d.records {
		if i == 0 || r.rrtype != d.records[i-1].rrtype {
			count++
		}
	}
	return count
}

// distinct returns the records of one RRset in canonical order (RFC 4034 section 6.3), each once.
func (b *builder) distinct(name Name, set []record) []record {
	for _, r := range set[1:] {
		if ttl, first := r.ttl, set[0].ttl; ttl != first {
			b.errorf(r.at, "%s %s has TTL %d here and %d at %s: one RRset has one TTL (RFC 2181 section 5.2)",
				name, dns.Type(r.rrtype), ttl, first, b.there(set[0].at, r.at))
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
			b.warnf(r.at, "%s %s repeats %s and is given once", name, dns.Type(r.rrtype), b.there(last.at, r.at))
			continue
		}
		kept = append(kept, r)
	}
	return kept
}
