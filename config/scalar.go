package config

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fitting tells whether a text fits a pattern. Its expression is made for the first text: a configuration has but few
// of all the keys that there are.
func fitting(pattern string) func(text string) bool {
	expression := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(text string) bool { return expression().MatchString(text) }
}

// text is a word or sentence that fits a pattern.
func text(noun, pattern string) form[string] {
	fits := fitting(pattern)
	return form[string]{
		takes: isText, noun: noun,
		schema: schema{Type: jsonTypes(isText), Pattern: pattern},
		read: func(r *reader, n *node, to *string) {
			if !fits(n.text) {
				r.refuse(n, noun, "")
				return
			}
			*to = n.text
		},
	}
}

// freeText is a text that may look like a number, since YAML reads 42 as one.
func freeText(noun, pattern string) form[string] {
	f := text(noun, pattern)
	f.takes = isText | isInteger
	f.schema.Type = jsonTypes(f.takes)
	return f
}

// namePattern is what names of the operator's own, as they are referred to.
const namePattern = `^[A-Za-z0-9_.-]{1,63}$`

var ownName = naming{"a name of at most 63 letters, digits, -, _ and .", regexp.MustCompile(namePattern), 0}

// reference refers to something by its name.
func reference(noun string) form[string] { return freeText(noun, namePattern) }

// anything is one line of text.
func anything(noun string) form[string] { return freeText(noun, `^[^\r\n]+$`) }

// secret is a text that no message quotes.
func secret(f form[string]) form[string] {
	fits := fitting(f.schema.Pattern)
	f.read = func(r *reader, n *node, to *string) {
		if !fits(n.text) {
			r.fault(n, "must be %s", f.noun)
			return
		}
		*to = n.text
	}
	return f
}

// boolean is true or false.
func boolean() form[bool] {
	return form[bool]{
		takes: isBoolean, noun: isBoolean.String(),
		schema: schema{Type: jsonTypes(isBoolean)},
		read:   func(_ *reader, n *node, to *bool) { *to = strings.EqualFold(n.text, "true") },
	}
}

// number is a whole number within bounds.
func number[N ~int | ~uint16 | ~uint32](least, most int64) form[N] {
	noun := fmt.Sprintf("a whole number from %d to %d", least, most)
	low, high := float64(least), float64(most)
	return form[N]{
		takes: isInteger, noun: noun,
		schema: schema{Type: jsonTypes(isInteger), Minimum: &low, Maximum: &high},
		read: func(r *reader, n *node, to *N) {
			i, err := strconv.ParseInt(n.text, 10, 64)
			if err == nil && i != 0 && strings.HasPrefix(strings.TrimLeft(n.text, "+-"), "0") {
				r.fault(n, "%s begins with 0, which YAML reads as octal: write the number plainly", n.text)
				return
			}
			if err != nil || i < least || i > most {
				r.refuse(n, noun, "")
				return
			}
			*to = N(i)
		},
	}
}

// decimal is a number with a fraction within bounds.
func decimal(least, most float64) form[float64] {
	noun := fmt.Sprintf("a number from %g to %g", least, most)
	return form[float64]{
		takes: isInteger | isDecimal, noun: noun,
		schema: schema{Type: jsonTypes(isInteger | isDecimal), Minimum: &least, Maximum: &most},
		read: func(r *reader, n *node, to *float64) {
			f, err := strconv.ParseFloat(n.text, 64)
			if err != nil || math.IsNaN(f) || f < least || f > most {
				r.refuse(n, noun, "")
				return
			}
			*to = f
		},
	}
}

// duration is a time span within bounds.
func duration(least, most time.Duration) form[time.Duration] {
	noun := "a duration such as 10s, 5m or 1h30m"
	f := form[time.Duration]{takes: isText | isInteger, noun: noun}
	f.schema = schema{Type: jsonTypes(isText), Pattern: durationPattern}
	f.read = func(r *reader, n *node, to *time.Duration) {
		d, err := parseDuration(n.text)
		switch {
		case err != nil:
			r.fault(n, "%s", err)
		case d < least || d > most:
			r.fault(n, "must be from %s to %s, not %s", Duration(least), Duration(most), n.text)
		default:
			*to = d
		}
	}
	return f
}

// seconds is a number of seconds or a duration, as TTLs and the times of an SOA are given.
func seconds(least, most uint32) form[uint32] {
	unit := time.Second
	span := duration(time.Duration(least)*unit, time.Duration(most)*unit)
	span.takes = isText
	whole := of(span, func(d time.Duration, to *uint32) { *to = uint32(d / unit) })
	read := whole.read
	whole.read = func(r *reader, n *node, to *uint32) {
		if d, err := parseDuration(n.text); err == nil && d%unit != 0 {
			r.fault(n, "must be whole seconds, not %s", n.text)
			return
		}
		read(r, n, to)
	}
	return either(number[uint32](int64(least), int64(most)), whole)
}

// choice is one word of a closed set and what it means.
type choice[E any] struct {
	word  string
	means E
}

// word is one of a closed set of words.
func word[E any](choices ...choice[E]) form[E] {
	words := make([]string, len(choices))
	for i, c := range choices {
		words[i] = c.word
	}
	noun := "one of " + strings.Join(words, ", ")
	if len(words) == 1 {
		noun = words[0]
	}
	return form[E]{
		takes: isText, noun: noun,
		schema: schema{Type: jsonTypes(isText), Enum: words},
		read: func(r *reader, n *node, to *E) {
			i := slices.Index(words, n.text)
			if i < 0 {
				r.refuse(n, noun, r.meant(n.text, words))
				return
			}
			*to = choices[i].means
		},
	}
}

// words is one of a closed set of words that mean themselves.
func words(all ...string) form[string] {
	choices := make([]choice[string], len(all))
	for i, w := range all {
		choices[i] = choice[string]{w, w}
	}
	return word(choices...)
}

// filePath is the name of a file; a relative one starts from the folder of the file that it stands in.
// Words in as are no paths and kept as they are.
func filePath(noun string, as ...string) form[string] {
	f := text(noun, `^[^\x00\r\n]+$`)
	f.read = func(r *reader, n *node, to *string) {
		switch base := *n.file; {
		case n.text == "" || strings.ContainsAny(n.text, "\x00\r\n"):
			r.refuse(n, noun, "")
		case slices.Contains(as, n.text) || filepath.IsAbs(n.text):
			*to = n.text
		case base == "":
			*to = filepath.Join(filepath.Dir(r.main), n.text)
		default:
			*to = filepath.Join(filepath.Dir(base), n.text)
		}
	}
	return f
}
