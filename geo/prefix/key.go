package prefix

import (
	"cmp"
	"encoding/binary"
	"net/netip"
)

// key is the bits of an address, first bit on top. An IPv4 address fills the first 32, and zeros follow: the last node
// on its path decides bits that no address has, all slots of which have one value, so no span exceeds 32 (the same goes
// for IPv6 and 128).
type key struct {
	high, low uint64
}

func keyOf(a netip.Addr) key {
	if a.Is4() {
		return key4(a)
	}
	return key6(a)
}

func key4(a netip.Addr) key {
	b := a.As4()
	return key{high: uint64(binary.BigEndian.Uint32(b[:])) << 32}
}

func key6(a netip.Addr) key {
	b := a.As16()
	return key{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

// slot is the first [stride] bits of k.
func (k key) slot() uint {
	return uint(k.high >> (64 - stride))
}

// rest is k without its first [stride] bits.
func (k key) rest() key {
	return k.from(stride)
}

// from is k without its first depth bits.
func (k key) from(depth int) key {
	if depth >= 64 {
		return key{high: k.low << (depth - 64)}
	}
	return key{k.high<<depth | k.low>>(64-depth), k.low << depth}
}

// with is k with the bits from depth on set to slot; they must be clear.
func (k key) with(depth int, slot uint) key {
	s := key{high: uint64(slot) << (64 - stride)}
	if depth >= 64 {
		return key{k.high, k.low | s.high>>(depth-64)}
	}
	return key{k.high | s.high>>depth, k.low | s.high<<(64-depth)}
}

func (k key) compare(o key) int {
	if c := cmp.Compare(k.high, o.high); c != 0 {
		return c
	}
	return cmp.Compare(k.low, o.low)
}

// prefix4 is the IPv4 prefix that begins at k.
func (k key) prefix4(length int) netip.Prefix {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(k.high>>32))
	return netip.PrefixFrom(netip.AddrFrom4(b), length)
}

// prefix6 is the IPv6 prefix that begins at k.
func (k key) prefix6(length int) netip.Prefix {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], k.high)
	binary.BigEndian.PutUint64(b[8:], k.low)
	return netip.PrefixFrom(netip.AddrFrom16(b), length)
}
