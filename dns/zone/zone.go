package zone

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/miekg/dns"
)

// Zone is one zone's names and records, ready for questions. It is immutable and safe for
// concurrent use.
type Zone struct {
	origin Name
	nodes  []Node // every name of the zone in canonical order (RFC 4034 section 6.1), empty non-terminals too
	index  Index  // of the nodes' names

	targets map[*Node]Name // where CNAME and DNAME records lead to
	auto    bool           // the serial is a hash
	denial  uint32         // TTL of the SOA record with which the zone denies

	sum [sha256.Size]byte // of the spec; zero when there was something to be told of it
}

// Node is a name of the zone with what it holds. A node without sets and without a service is an
// empty non-terminal: it exists because a name below it does (RFC 4592 section 2.2.2).
type Node struct {
	// Service is the index from [ServiceName], or -1.
	Service int

	name  Name
	index int     // among the zone's names
	sets  []RRset // by type
	// over is the topmost delegation or DNAME that hides this name: the node itself at a
	// delegation point, an ancestor below one, nil where the zone itself answers.
	over *Node
	wild *Node // the node of "*." + name, or nil
}

// MatchKind says how a name stands to the zone.
type MatchKind uint8

const (
	// OutOfZone: the name is not under the zone's origin.
	OutOfZone MatchKind = iota
	// Exact: the name exists; it may be an empty non-terminal, whose node has nothing.
	Exact
	// Wildcard: the name does not exist and a wildcard stands in for it; answer under the asked
	// name.
	Wildcard
	// Delegation: the name is a delegation point or is under one; the child zone knows more.
	Delegation
	// DNAME: the name is under the owner of a DNAME record (RFC 6672), which redirects it.
	DNAME
	// Missing: the name does not exist and no wildcard applies (NXDOMAIN).
	Missing
)

// Match is what [Zone.Find] found. The zero value is OutOfZone.
type Match struct {
	Kind MatchKind
	// Node has the data to answer from: the name's own node, the wildcard's, or the node of the
	// delegation point or DNAME owner. It is nil for Missing and OutOfZone.
	Node *Node
	// Owner is the name of Node: the asked name for Exact, "*.encloser" for Wildcard.
	Owner Name
	// Encloser is the longest existing ancestor of the asked name (RFC 4592 section 3.3.1), the
	// name itself if it exists. Below a delegation point or DNAME it is Owner: what the zone
	// holds further down does not exist for a resolver.
	Encloser Name
}

// Find tells how name n stands to the zone: the look-up of RFC 1034 section 4.3.2 step 3 as RFC 4592
// reads it. A name that exists costs one look-up; no question allocates.
//
// A delegation hides what is at and below it, so a question at the delegation point itself finds
// Delegation too, with n equal to Owner; the one type that the zone answers there is DS, from Node.
func (z *Zone) Find(n Name) Match {
	if node := z.node(n); node != nil {
		if node.over != nil {
			return node.over.hides()
		}
		return Match{Kind: Exact, Node: node, Owner: node.name, Encloser: node.name}
	}
	if !n.Below(z.origin) {
		return Match{}
	}
	at, _ := z.index.Closest(n.Parent()) // at least the origin
	encloser := &z.nodes[at]
	switch {
	case encloser.over != nil:
		return encloser.over.hides()
	case encloser.redirects():
		return encloser.hides()
	case encloser.wild != nil:
		w := encloser.wild
		return Match{Kind: Wildcard, Node: w, Owner: w.name, Encloser: encloser.name}
	}
	return Match{Kind: Missing, Encloser: encloser.name}
}

// node gives the node of a name; nil where the zone does not have it.
func (z *Zone) node(n Name) *Node {
	if i, ok := z.index.Find(n); ok {
		return &z.nodes[i]
	}
	return nil
}

// hides is the match for names that n, a delegation point or a DNAME owner, takes out of the zone.
func (n *Node) hides() Match {
	kind := DNAME
	if n.cut() {
		kind = Delegation
	}
	return Match{Kind: kind, Node: n, Owner: n.name, Encloser: n.name}
}

// cut reports a delegation point that no other hides.
func (n *Node) cut() bool { return n.over == n }

// redirects reports whether a DNAME stands at n, so that it rules the names below n but not n.
func (n *Node) redirects() bool {
	_, ok := n.Set(dns.TypeDNAME)
	return ok
}

// Origin is the zone's own name, its apex.
func (z *Zone) Origin() Name { return z.origin }

// SOA is the RRset of the zone's one SOA record.
func (z *Zone) SOA() RRset {
	set, _ := z.nodes[0].Set(dns.TypeSOA)
	return set
}

// Serial is the number of the zone's version (RFC 1982), as the SOA record has it.
func (z *Zone) Serial() uint32 {
	wire := z.SOA().wire
	return binary.BigEndian.Uint32([]byte(wire[len(wire)-soaNumbers:]))
}

// Expire is the field of the SOA record that says for how many seconds a secondary that cannot reach anybody goes on to
// answer from the zone, in the four octets of the wire.
func (z *Zone) Expire() string {
	const behind = 4 + 4 // octets of it and of the minimum, with which the record ends
	wire := z.SOA().wire
	return wire[len(wire)-behind : len(wire)-behind/2]
}

// DenialTTL is how long, in seconds, a resolver may believe that something does not exist: the lesser of the
// SOA record's TTL and its minimum (RFC 2308 section 3).
func (z *Zone) DenialTTL() uint32 { return z.denial }

// All yields every name with its node in canonical order, the apex first, with empty non-terminals
// and the names that a delegation hides: ask [Zone.Find] for what a resolver may see.
func (z *Zone) All() iter.Seq2[Name, *Node] {
	return func(yield func(Name, *Node) bool) {
		for i := range z.nodes {
			if !yield(z.nodes[i].name, &z.nodes[i]) {
				return
			}
		}
	}
}

// Len is the number of names, as [Zone.All] yields them.
func (z *Zone) Len() int { return len(z.nodes) }

// Hosts appends the nodes that hold the A and AAAA records of the targets of a set of NS, MX, SRV, SVCB or
// HTTPS records at node n, each once, also where a delegation hides them from answers (RFC 9471). A target
// whose addresses a service or a wildcard gives has none here.
func (z *Zone) Hosts(n *Node, set RRset, to []*Node) []*Node {
	start := len(to)
	var buf [MaxName]byte
	for data, rest := "", set.wire; len(rest) > 0; {
		data, rest = nextData(rest)
		host, ok := target(set.Type, data, n.name, z.origin, &buf)
		if !ok {
			return to // no record of this type points anywhere
		}
		node := z.node(host)
		if node == nil || slices.Contains(to[start:], node) {
			continue
		}
		to = append(to, node)
	}
	return to
}

// Name is the node's own name.
func (n *Node) Name() Name { return n.name }

// Index is the node's number among the zone's names, in canonical order and from 0: that of the origin.
func (n *Node) Index() int { return n.index }

// Delegated tells whether the node is a delegation point: the zone speaks for its DS records only.
func (n *Node) Delegated() bool { return n.cut() }

// Hidden tells whether the node is below a delegation point or a DNAME, so that the zone does not speak for it.
func (n *Node) Hidden() bool { return n.over != nil && !n.cut() }

// Position is the number of a type among the node's RRsets, as [Node.Sets] yields them, or -1.
func (n *Node) Position(rrtype uint16) int {
	return slices.IndexFunc(n.sets, func(set RRset) bool { return set.Type == rrtype })
}

// Set returns the RRset of a type at this node.
func (n *Node) Set(rrtype uint16) (RRset, bool) {
	for i := range n.sets {
		if n.sets[i].Type == rrtype {
			return n.sets[i], true
		}
	}
	return RRset{}, false
}

// Types returns the record types at this node in ascending order, without what its service gives.
func (n *Node) Types() []uint16 {
	types := make([]uint16, len(n.sets))
	for i, set := range n.sets {
		types[i] = set.Type
	}
	return types
}

// Sets yields the RRsets of this node by ascending type.
func (n *Node) Sets() iter.Seq[RRset] {
	return slices.Values(n.sets)
}

// Empty reports an empty non-terminal.
func (n *Node) Empty() bool { return len(n.sets) == 0 && n.Service < 0 }
