package screen

import "encoding/binary"

// The types of path segments (RFC 4271 section 4.3, RFC 5065 section 3).
const (
	asSet          = 1
	asSequence     = 2
	confedSequence = 3
	confedSet      = 4
)

// segment is one segment of a path whose AS numbers are width octets wide.
type segment struct {
	kind  byte
	width int
	ases  []byte
}

// nextSegment takes the first segment. It is false where none of a known type and at least one AS
// number is there (RFC 7606 section 7.2).
func nextSegment(path []byte, width int) (s segment, rest []byte, ok bool) {
	if len(path) < 2 || path[0] < asSet || path[0] > confedSet || path[1] == 0 {
		return segment{}, nil, false
	}
	n := 2 + int(path[1])*width
	if len(path) < n {
		return segment{}, nil, false
	}
	return segment{kind: path[0], width: width, ases: path[2:n]}, path[n:], true
}

func (s segment) confed() bool { return s.kind == confedSequence || s.kind == confedSet }

func (s segment) count() int { return len(s.ases) / s.width }

func (s segment) at(i int) uint32 {
	if s.width == 4 {
		return binary.BigEndian.Uint32(s.ases[4*i:])
	}
	return uint32(binary.BigEndian.Uint16(s.ases[2*i:]))
}

// hops is what the segment counts for in the length of a path: a set is one hop (RFC 4271 section
// 9.1.2.2), a confederation none (RFC 5065 section 5.3).
func (s segment) hops() int {
	switch s.kind {
	case asSequence:
		return s.count()
	case asSet:
		return 1
	default:
		return 0
	}
}

// append writes the first n AS numbers of the segment as a segment of four-octet ones.
func (s segment) append(dst []byte, n int) []byte {
	dst = append(dst, s.kind, byte(n))
	for i := range n {
		dst = binary.BigEndian.AppendUint32(dst, s.at(i))
	}
	return dst
}

// wellFormed tells whether a path has whole segments of known types and no AS 0 (RFC 7607 section
// 2). Confederation segments belong to peers inside our confederation, and we are in none (RFC 5065
// section 5), so an AS_PATH with one is malformed; an AS4_PATH only loses it (RFC 6793 section 6).
func wellFormed(path []byte, width int, confeds bool) bool {
	for len(path) > 0 {
		s, rest, ok := nextSegment(path, width)
		if !ok || s.confed() && !confeds {
			return false
		}
		for i := range s.count() {
			if s.at(i) == 0 {
				return false
			}
		}
		path = rest
	}
	return true
}

// widen makes the path of four-octet AS numbers out of the AS_PATH and the AS4_PATH of a peer that
// speaks of two octets (RFC 6793 section 4.2.3): the AS4_PATH, led by as much of the AS_PATH as it
// is shorter. An AS4_PATH that is the longer one is not believed. Both must be well-formed.
func widen(path, path4 []byte) []byte {
	keep := pathHops(path, 2)
	if more := pathHops(path4, 4); more <= keep {
		keep -= more
	} else {
		path4 = nil
	}
	wide := make([]byte, 0, 2*len(path)+len(path4))
	for len(path) > 0 && keep > 0 {
		s, rest, _ := nextSegment(path, 2)
		n := s.count()
		if s.kind == asSequence {
			n = min(n, keep)
		}
		wide = s.append(wide, n)
		keep -= s.hops()
		path = rest
	}
	for len(path4) > 0 {
		s, rest, _ := nextSegment(path4, 4)
		if !s.confed() {
			wide = s.append(wide, s.count())
		}
		path4 = rest
	}
	return wide
}

// pathHops is the length of a well-formed path for the decision process.
func pathHops(path []byte, width int) (hops int) {
	for len(path) > 0 {
		s, rest, _ := nextSegment(path, width)
		hops += s.hops()
		path = rest
	}
	return hops
}
