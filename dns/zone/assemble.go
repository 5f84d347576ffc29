package zone

import (
	"cmp"
	"slices"

	"github.com/miekg/dns"
)

// assemble makes the zone from the drafts and tells duplicates and unequal TTLs on the way.
func (b *builder) assemble() *Zone {
	b.addNonTerminals()
	z := &Zone{origin: b.origin, names: make([]Name, 0, len(b.drafts)), nodes: make(map[Name]*Node, len(b.drafts))}
	records := 0
	for name, d := range b.drafts {
		z.names = append(z.names, name)
		z.depth = max(z.depth, name.Labels())
		records += len(d.records)
	}
	slices.SortFunc(z.names, Name.Compare)
	nodes := make([]Node, len(z.names)) // as one piece: names are many and nodes small
	rrs := make([]dns.RR, 0, records)
	for i, name := range z.names {
		node, d := &nodes[i], b.drafts[name]
		node.name, node.Service = name, -1
		if d.service >= 0 {
			node.Service = b.spec.Services[d.service].Service
		}
		rrs = b.fill(node, d, rrs)
		z.nodes[name] = node
		z.link(node)
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

// fill groups the draft's records into the node's RRsets. The slices of records are cut from rrs, which
// has room for all.
func (b *builder) fill(node *Node, d *draft, rrs []dns.RR) []dns.RR {
	if len(d.records) == 0 {
		return rrs
	}
	slices.SortStableFunc(d.records, func(a, b record) int { return cmp.Compare(rrtype(a), rrtype(b)) })
	owner := node.name.String()
	node.sets = make([]RRset, 0, d.types())
	for rest := d.records; len(rest) > 0; {
		n := 1
		for n < len(rest) && rrtype(rest[n]) == rrtype(rest[0]) {
			n++
		}
		start := len(rrs)
		for _, r := range b.distinct(node.name, rest[:n]) {
			r.rr.Header().Name = owner
			rrs = append(rrs, r.rr)
		}
		node.sets = append(node.sets, RRset{
			Type: rrtype(rest[0]), TTL: rest[0].rr.Header().Ttl, RRs: rrs[start:len(rrs):len(rrs)],
		})
		rest = rest[n:]
	}
	return rrs
}

// types counts the types of a draft whose records are in order.
func (d *draft) types() int {
	count := 0
	for i, r := range d.records {
		if i == 0 || rrtype(r) != rrtype(d.records[i-1]) {
			count++
		}
	}
	return count
}

func rrtype(r record) uint16 { return r.rr.Header().Rrtype }

// distinct returns the records of one RRset in canonical order (RFC 4034 section 6.3), each once.
func (b *builder) distinct(name Name, set []record) []record {
	for _, r := range set[1:] {
		if ttl, first := r.rr.Header().Ttl, set[0].rr.Header().Ttl; ttl != first {
			b.errorf(r.at, "%s %s has TTL %d here and %d at %s: one RRset has one TTL (RFC 2181 section 5.2)",
				name, dns.Type(rrtype(r)), ttl, first, b.there(set[0].at, r.at))
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
			b.warnf(r.at, "%s %s repeats %s and is given once", name, dns.Type(rrtype(r)), b.there(last.at, r.at))
			continue
		}
		kept = append(kept, r)
	}
	return kept
}
