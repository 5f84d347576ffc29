package zone

import (
	"strings"

	"github.com/miekg/dns"
)

// Record types that others need a name for.
const (
	TypeA     = dns.TypeA
	TypeAAAA  = dns.TypeAAAA
	TypeHTTPS = dns.TypeHTTPS
	TypeCNAME = dns.TypeCNAME
	TypeSRV   = dns.TypeSRV
)

// TypeWord names a record type, as "MX" or "TYPE65534" (RFC 3597 section 5).
func TypeWord(rrtype uint16) string {
	if f, ok := formOfNumber(rrtype); ok {
		return f.word
	}
	return dns.Type(rrtype).String()
}

// Alias gives the name that a node is an alias to, when it holds a CNAME.
func (z *Zone) Alias(n *Node) (target Name, ok bool) {
	if _, ok := n.Set(dns.TypeCNAME); !ok {
		return "", false
	}
	target, ok = z.targets[n]
	return target, ok
}

// Redirection gives the name that a node's DNAME leads to.
func (z *Zone) Redirection(n *Node) (target Name, ok bool) {
	if !n.redirects() {
		return "", false
	}
	target, ok = z.targets[n]
	return target, ok
}

// Redirected gives the name that stands for one below a DNAME, which leads from owner to target. It is false when there
// can be no such name: it would be too long (RFC 6672 section 2.2).
func Redirected(name, owner, target Name) (Name, bool) {
	above := name[:len(name)-len(owner)] // the labels that stand before the DNAME's owner
	next, _, err := nameFromWire([]byte(above + target))
	return next, err == nil
}

// note remembers where an alias leads to, for no question to read it from the record.
func (z *Zone) note(node *Node) {
	for _, rrtype := range [...]uint16{dns.TypeCNAME, dns.TypeDNAME} {
		set, ok := node.Set(rrtype)
		if !ok {
			continue
		}
		var buf [MaxName]byte
		data, _ := nextData(set.wire)
		if target, ok := readName(data, z.origin, &buf); ok {
			z.targets[node] = Name(strings.Clone(string(target)))
		}
	}
}
