package zone

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// The limits of RFC 1035 section 2.3.4, in bytes.
const (
	maxLabel = 63
	// MaxName is the longest name in wire form, with the length bytes and the root's zero.
	MaxName = 255
)

// Name is an absolute domain name in wire form without compression, in lower case:
// "\x02ok\x04test\x00". Two names are equal when DNS says so, hence it is compared with == and keys
// maps. A Name made by this package is always well formed; the zero value is no name at all (the root
// is "\x00").
type Name string

// Root is the name above all others.
const Root Name = "\x00"

// ParseName reads a name in presentation form (RFC 1035 section 5.1): "\." is a dot inside a label,
// "\DDD" a byte by its decimal value. The name is absolute with or without a final dot.
func ParseName(s string) (Name, error) {
	return parse(s, Root)
}

// ParseRelative reads a name as a master file under $ORIGIN origin would: "@" is the origin, a name
// without a final dot is continued by it.
func ParseRelative(s string, origin Name) (Name, error) {
	if s == "@" {
		return origin, nil
	}
	return parse(s, origin)
}

// parse reads a name that origin continues unless it ends in a dot.
func parse(s string, origin Name) (Name, error) {
	if s == "." {
		return Root, nil
	}
	var buf [MaxName]byte
	n, absolute, err := parseLabels(&buf, s)
	if err != nil {
		return "", fmt.Errorf("name %q: %w", s, err)
	}
	end := Root
	if !absolute {
		end = origin
	}
	if n+len(end) > MaxName {
		return "", fmt.Errorf("name %q: %w", s, errLongName)
	}
	n += copy(buf[n:], end)
	return Name(buf[:n]), nil
}

// The reasons why a text is not a name.
var (
	errNoName     = errors.New("it is empty")
	errEmptyLabel = errors.New("a label is empty")
	errLongLabel  = errors.New("a label is longer than 63 bytes")
	errLongName   = errors.New("it is longer than 255 bytes")
	errEscape     = errors.New("a backslash must be followed by a character or by three digits up to 255")
)

// parseLabels writes the labels of s, in lower case and without the root, and returns their length
// and whether s ended in a dot.
func parseLabels(buf *[MaxName]byte, s string) (n int, absolute bool, err error) {
	if s == "" {
		return 0, false, errNoName
	}
	start := 0 // of the current label: its length byte
	n = 1
	for i := 0; i < len(s); {
		c := s[i]
		width := 1
		switch c {
		case '.':
			if err := closeLabel(buf, start, n); err != nil {
				return 0, false, err
			}
			if i == len(s)-1 {
				return n, true, nil
			}
			start, n, i = n, n+1, i+1
			continue
		case '\\':
			if c, width, err = unescape(s[i:]); err != nil {
				return 0, false, err
			}
		}
		if n >= MaxName {
			return 0, false, errLongName
		}
		buf[n] = lower(c)
		n, i = n+1, i+width
	}
	return n, false, closeLabel(buf, start, n)
}

// closeLabel sets the length byte at start of the label that ends before end.
func closeLabel(buf *[MaxName]byte, start, end int) error {
	switch length := end - start - 1; {
	case length == 0:
		return errEmptyLabel
	case length > maxLabel:
		return errLongLabel
	case end >= MaxName:
		return errLongName
	default:
		buf[start] = byte(length)
		return nil
	}
}

// unescape reads the escape that s begins with and says how many bytes it takes.
func unescape(s string) (c byte, width int, err error) {
	if len(s) < 2 {
		return 0, 0, errEscape
	}
	if !digit(s[1]) {
		return s[1], 2, nil
	}
	if len(s) < 4 || !digit(s[2]) || !digit(s[3]) {
		return 0, 0, errEscape
	}
	value := int(s[1]-'0')*100 + int(s[2]-'0')*10 + int(s[3]-'0')
	if value > 255 {
		return 0, 0, errEscape
	}
	return byte(value), 4, nil
}

// The reasons why bytes are not a name in wire form.
var (
	errShort      = errors.New("wire name ends too early")
	errCompressed = errors.New("wire name is compressed or has an unknown label type")
	errLongWire   = errors.New("wire name is longer than 255 bytes")
)

// nameFromWire reads the uncompressed name that b begins with, in any case, and returns it with the
// number of bytes it takes.
func nameFromWire(b []byte) (Name, int, error) {
	var buf [MaxName]byte
	name, n, err := ReadName(b, &buf)
	return Name(strings.Clone(string(name))), n, err
}

// ReadName is [nameFromWire] without an allocation: the name lies in buf, and is good until that is written
// again. Nobody may keep it for longer.
func ReadName(b []byte, buf *[MaxName]byte) (Name, int, error) {
	n := 0
	for {
		if n >= len(b) {
			return "", 0, errShort
		}
		length := int(b[n])
		if length > maxLabel {
			return "", 0, errCompressed
		}
		n += 1 + length
		if n > MaxName || length > 0 && n >= MaxName {
			return "", 0, errLongWire
		}
		if length == 0 {
			break
		}
	}
	fold(buf[:n], b[:n])
	return borrow(buf[:n]), n, nil
}

// fold copies b to buf, which is as long, in lower case: eight bytes at a time.
func fold(buf, b []byte) {
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(buf, lower8(binary.LittleEndian.Uint64(b)))
		buf, b = buf[8:], b[8:]
	}
	for i, c := range b {
		buf[i] = lower(c)
	}
}

// borrow is the name that lies in b, for as long as b is not written.
func borrow(b []byte) Name {
	return Name(unsafe.String(unsafe.SliceData(b), len(b)))
}

// String is the name in presentation form with a final dot, escaped as dig escapes it.
func (n Name) String() string {
	if n == Root {
		return "."
	}
	var b strings.Builder
	b.Grow(len(n))
	for ; len(n) > 1; n = n.Parent() {
		for _, c := range []byte(n[1 : 1+n[0]]) {
			escape(&b, c)
		}
		b.WriteByte('.')
	}
	return b.String()
}

// escape writes one byte of a label in presentation form.
func escape(b *strings.Builder, c byte) {
	switch {
	case strings.IndexByte(`"$().;@\`, c) >= 0:
		b.WriteByte('\\')
		b.WriteByte(c)
	case c > ' ' && c < 0x7f:
		b.WriteByte(c)
	default:
		b.Write([]byte{'\\', '0' + c/100, '0' + c/10%10, '0' + c%10})
	}
}

// Parent is the name without its first label; the root is its own parent. It shares n's bytes.
func (n Name) Parent() Name {
	if len(n) <= 1 {
		return n
	}
	return n[1+int(n[0]):]
}

// Labels is the number of labels, without the root's.
func (n Name) Labels() int {
	count := 0
	for ; len(n) > 1; n = n.Parent() {
		count++
	}
	return count
}

// Below reports whether n is o or a name under it.
func (n Name) Below(o Name) bool {
	if !strings.HasSuffix(string(n), string(o)) {
		return false
	}
	for len(n) > len(o) && n != Root {
		n = n.Parent()
	}
	return n == o
}

// Wildcard reports whether the first label is "*" (RFC 4592 section 2.1.1).
func (n Name) Wildcard() bool {
	return len(n) > 2 && n[0] == 1 && n[1] == '*'
}

// Compare orders names canonically (RFC 4034 section 6.1): by the rightmost label first, each label as
// bytes, so that a name stands directly before the names under it.
func (n Name) Compare(o Name) int {
	var a, b [MaxName / 2]uint8
	i, j := n.offsets(&a), o.offsets(&b)
	for i > 0 && j > 0 {
		i, j = i-1, j-1
		if c := cmp.Compare(n.label(a[i]), o.label(b[j])); c != 0 {
			return c
		}
	}
	return cmp.Compare(i, j)
}

// AppendNext appends the name that is the first behind another in canonical order, of all names of the zone whose origin is
// given: behind the last of them it is that again (RFC 4471 section 3.1.2).
func (n Name) AppendNext(to []byte, origin Name) []byte {
	if len(n)+2 <= MaxName {
		return append(append(to, 1, 0), n...)
	}
	for ; n != origin; n = n.Parent() { // which has no room for names below it, or whose last one was here
		if label := n.label(0).following(MaxName - len(n)); label != "" {
			return append(append(append(to, byte(len(label))), label...), n.Parent()...)
		}
	}
	return append(to, origin...)
}

// following is the first label behind a label n, longer by one octet where there is room; "" behind the last of all.
func (n Name) following(room int) Name {
	if room > 0 && len(n) < maxLabel {
		return n + "\x00"
	}
	last := len(n) - 1
	for last >= 0 && n[last] == 0xff {
		last--
	}
	if last < 0 {
		return ""
	}
	next := n[last] + 1
	if next == 'A' {
		next = 'Z' + 1 // upper case is no other name
	}
	return n[:last] + Name([]byte{next})
}

// AppendKey appends bytes that compare, byte by byte, as names do by [Name.Compare]: the labels from the
// right, each with a zero behind it. Inside a label a zero becomes 1 1 and a one 1 2.
func (n Name) AppendKey(key []byte) []byte {
	var at [MaxName / 2]uint8
	for i := n.offsets(&at) - 1; i >= 0; i-- {
		for _, c := range []byte(n.label(at[i])) {
			if c <= 1 {
				key = append(key, 1)
				c++
			}
			key = append(key, c)
		}
		key = append(key, 0)
	}
	return key
}

// offsets fills in where each label begins and returns their number.
func (n Name) offsets(at *[MaxName / 2]uint8) int {
	count := 0
	for i := 0; i < len(n)-1; i += 1 + int(n[i]) {
		at[count] = uint8(i)
		count++
	}
	return count
}

// label is the label whose length byte is at offset i.
func (n Name) label(i uint8) Name {
	return n[int(i)+1 : int(i)+1+int(n[i])]
}

// lower folds ASCII only (RFC 4343 section 3). A length byte is at most 63, below 'A', so a name in
// wire form may be folded byte by byte.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// lower8 folds eight bytes at once. A byte has its highest bit set in one of the sums when, without its own highest bit, it
// is at least 'A', and in the other when it is above 'Z'; no sum carries into the next byte.
func lower8(b uint64) uint64 {
	const each, low, high = 0x0101010101010101, 0x7f * 0x0101010101010101, 0x80 * 0x0101010101010101
	fromA, aboveZ := b&low+(0x80-'A')*each, b&low+(0x7f-'Z')*each
	return b | (fromA&^aboveZ&^b&high)>>2 // the bit that is 32
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
