package sheet

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Count gives a number of things, with their name in singular or plural.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Stamp writes a point in time as configurations and reasons do.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Prefixes counts prefixes.
func Prefixes(n int) string {
	if n == 1 {
		return "1 prefix"
	}
	return fmt.Sprintf("%d prefixes", n)
}

func addresses(all []netip.AddrPort) string {
	if len(all) == 0 {
		return "none"
	}
	words := make([]string, len(all))
	for i, a := range all {
		words[i] = a.String()
	}
	return strings.Join(words, ", ")
}

// mostNamed bounds how many things are named one by one.
const mostNamed = 6

// listed gives the number of things, with the first few of them in words.
func listed[T any](all []T, word func(T) string) string {
	if len(all) == 0 {
		return "none"
	}
	var words []string
	for _, x := range all[:min(len(all), mostNamed)] {
		words = append(words, word(x))
	}
	if more := len(all) - mostNamed; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d: %s", len(all), strings.Join(words, ", "))
}
