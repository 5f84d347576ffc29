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

// Left writes a span of time that is to pass, by its two largest units, and not less than it is: "13s", "4m10s",
// "1h59m", "3d4h".
func Left(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d <= time.Hour-time.Second:
		return units(roundedUp(d, time.Second), time.Minute, "m", time.Second, "s")
	case d <= 48*time.Hour-time.Minute:
		return units(roundedUp(d, time.Minute), time.Hour, "h", time.Minute, "m")
	}
	return units(roundedUp(d, time.Hour), 24*time.Hour, "d", time.Hour, "h")
}

func roundedUp(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }

// units writes a span by a larger and a smaller unit; one of which there is nothing is left out.
func units(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	more, less := d/large, d%large/small
	switch {
	case more == 0:
		return fmt.Sprintf("%d%s", less, smallName)
	case less == 0:
		return fmt.Sprintf("%d%s", more, largeName)
	}
	return fmt.Sprintf("%d%s%d%s", more, largeName, less, smallName)
}

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
