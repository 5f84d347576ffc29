package health

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	statusMin = 100
	statusMax = 599
)

// StatusSet is a set of HTTP status codes from 100 to 599. It is comparable: equal sets are equal
// however they were written. The zero value is the empty set.
type StatusSet struct {
	words [(statusMax - statusMin + 64) / 64]uint64
}

// ParseStatus reads codes and ranges of codes separated by commas, such as "200,204,300-302".
func ParseStatus(text string) (StatusSet, error) {
	var s StatusSet
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, err := parseCode(first)
		if err != nil {
			return StatusSet{}, fmt.Errorf("status %q: %w", text, err)
		}
		to, err := parseCode(last)
		if err != nil {
			return StatusSet{}, fmt.Errorf("status %q: %w", text, err)
		}
		if to < from {
			return StatusSet{}, fmt.Errorf("status %q: the range %d-%d is empty", text, from, to)
		}
		for code := from; code <= to; code++ {
			s.words[(code-statusMin)/64] |= 1 << ((code - statusMin) % 64)
		}
	}
	return s, nil
}

func parseCode(text string) (int, error) {
	text = strings.TrimSpace(text)
	code, err := strconv.ParseUint(text, 10, 16)
	if err != nil || code < statusMin || code > statusMax {
		return 0, fmt.Errorf("%q is not a code from %d to %d", text, statusMin, statusMax)
	}
	return int(code), nil
}

// Has reports whether the code is in the set.
func (s StatusSet) Has(code int) bool {
	if code < statusMin || code > statusMax {
		return false
	}
	return s.words[(code-statusMin)/64]>>((code-statusMin)%64)&1 != 0
}

// String writes the set in its shortest form, which [ParseStatus] reads; "" for the empty set.
func (s StatusSet) String() string {
	var b strings.Builder
	for code := statusMin; code <= statusMax; code++ {
		if !s.Has(code) {
			continue
		}
		last := code
		for s.Has(last + 1) {
			last++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(code))
		if last > code {
			b.WriteString("-" + strconv.Itoa(last))
		}
		code = last
	}
	return b.String()
}
