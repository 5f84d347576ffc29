package screen

// family is an address family, by its AFI; the subsequent identifier is always unicast.
type family uint8

const (
	ipv4    family = 1
	ipv6    family = 2
	unicast        = 1 // the SAFI (RFC 4760 section 6)

	pathIDLength = 4 // RFC 7911 section 3
)

func familyOf(afi uint16, safi byte) (family, bool) {
	return family(afi), (afi == uint16(ipv4) || afi == uint16(ipv6)) && safi == unicast
}

// bits is the length of an address.
func (f family) bits() int {
	if f == ipv4 {
		return 32
	}
	return 128
}

// routes is a list of prefixes in wire form (RFC 4271 section 4.3), well-formed once it is made.
type routes struct {
	family family
	paths  bool // each comes with a path identifier
	bytes  []byte
	count  int
}

// readRoutes checks a list of prefixes as RFC 7606 section 5.3 asks: no length is beyond the
// family's, and the last prefix ends where the field does.
func readRoutes(f family, paths bool, b []byte) (routes, bool) {
	r := routes{family: f, paths: paths, bytes: b}
	for len(b) > 0 {
		n, ok := r.next(b)
		if !ok {
			return routes{}, false
		}
		r.count++
		b = b[n:]
	}
	return r, true
}

// next is the size of the first prefix of b in octets; false where b does not begin with one.
func (r routes) next(b []byte) (int, bool) {
	n := 1
	if r.paths {
		n += pathIDLength
	}
	if len(b) < n || int(b[n-1]) > r.family.bits() {
		return 0, false
	}
	n += (int(b[n-1]) + 7) / 8
	return n, n <= len(b)
}

// split takes as many whole prefixes from the front as fit into room octets.
func (r routes) split(room int) (front, back routes) {
	front, back = r, r
	end := 0
	for front.count = 0; end < len(r.bytes); front.count++ {
		n, ok := r.next(r.bytes[end:])
		if !ok || end+n > room {
			break
		}
		end += n
	}
	front.bytes, back.bytes = r.bytes[:end], r.bytes[end:]
	back.count -= front.count
	return front, back
}

// append writes the prefixes with their host bits cleared.
func (r routes) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, r.bytes...)
	skip := 0
	if r.paths {
		skip = pathIDLength
	}
	for b := dst[start:]; len(b) > skip; {
		length := int(b[skip])
		n := skip + 1 + (length+7)/8
		if length%8 != 0 {
			b[n-1] &= 0xff << (8 - length%8)
		}
		b = b[n:]
	}
	return dst
}
