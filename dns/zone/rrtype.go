package zone

import "github.com/miekg/dns"

// Record types that others need a name for.
const (
	TypeA    = dns.TypeA
	TypeAAAA = dns.TypeAAAA
)

// TypeWord names a record type, as "MX" or "TYPE65534" (RFC 3597 section 5).
func TypeWord(rrtype uint16) string { return dns.Type(rrtype).String() }

// Alias gives the name that the node is an alias to, when it holds a CNAME.
func (n *Node) Alias() (target Name, ok bool) {
	set, ok := n.Set(dns.TypeCNAME)
	if !ok {
		return "", false
	}
	target, err := ParseName(set.RRs[0].(*dns.CNAME).Target)
	return target, err == nil
}
