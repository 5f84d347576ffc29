// Package prefix answers: which value does this address have, and how wide is the block around it in which every
// address has the same one?
//
// The second half is the reason for the package. A DNS answer that depends on the client's network has to tell the
// resolver how far it may be reused (the scope of RFC 7871), and that is exactly the span of a look-up.
//
// A [Table] maps every address of both families to a small integer, usually an index into the caller's list. It is
// immutable: any number of goroutines may read it, and a change is a new table. Addresses that nobody set have value 0.
// A table is made by a [Builder], from another table by [Table.Map], or from two by [Overlay].
//
//	var b prefix.Builder
//	b.Set(netip.MustParsePrefix("192.0.2.0/24"), 1)
//	b.Set(netip.MustParsePrefix("192.0.2.128/25"), 2)
//	value, span := b.Table().Lookup(netip.MustParseAddr("192.0.2.7")) // 1, 25
//
// The package does not hold values other than integers, does not change a table in place, and does not mix the families:
// an IPv4-mapped IPv6 address (::ffff:192.0.2.7) is an ordinary IPv6 address here, so callers unmap first.
package prefix
