package health

import (
	"strconv"
	"strings"
)

// Kind is how an endpoint is asked for its health, with everything that is asked: one of [HTTP],
// [TCP], [TLS], [DNS], [GRPC], [ICMP], [Exec], [File] and [Push], each in a file of its own. All are values that can be
// compared and are never changed; two equal ones ask the same. The kinds are complete: every default has been filled
// in, so a zero field means zero.
type Kind interface {
	// String is the word of the config for the kind.
	String() string
	// tell gives all that tells this kind from others of the same word, field by field, for the
	// fingerprint of a check. An empty value is not told, so that a field that a later version adds
	// does not change old fingerprints; the names and the order of fields never change.
	tell(add func(field, value string))
	// ask asks once, and gives nil for a healthy endpoint. It ends soon after the visit is over, holds no more of what
	// the endpoint sends than a bound of its own, and leaves nothing behind. Of its errors, cause makes
	// the words that an operator reads: a fault for what only this kind knows.
	ask(v *visit) error
}

// number and truth write the zero value as nothing, as [Kind.tell] wants it.
func number[N ~int | ~uint16](n N) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}

func truth(b bool) string {
	if !b {
		return ""
	}
	return "true"
}

// List is a list of texts as a comparable value. The zero value is the empty list.
type List struct{ ended string } // each text is followed by a NUL

// ListOf makes a list of texts. A text ends at a NUL.
func ListOf(texts ...string) List {
	var b strings.Builder
	for _, t := range texts {
		t, _, _ = strings.Cut(t, "\x00")
		b.WriteString(t + "\x00")
	}
	return List{b.String()}
}

// Texts gives the texts, in their order.
func (l List) Texts() []string {
	if l.ended == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(l.ended, "\x00"), "\x00")
}
