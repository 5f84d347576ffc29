package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// durationPattern is what a duration looks like; the schema shows the same text.
const durationPattern = `^([0-9]{1,9}(\.[0-9]{1,9})?(us|ms|s|m|h|d))+$`

var (
	durationShape = regexp.MustCompile(durationPattern)
	durationPart  = regexp.MustCompile(`([0-9.]+)([a-z]+)`)
)

// Duration writes a duration as the operator does: 10s, 5m, 1h30m.
func Duration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// parseDuration reads a duration as [Duration] writes it, and days.
func parseDuration(s string) (time.Duration, error) {
	if !durationShape.MatchString(s) {
		if _, err := strconv.Atoi(s); err == nil {
			return 0, fmt.Errorf("%s has no unit: write %ss for seconds", s, s)
		}
		return 0, fmt.Errorf("%q is not a duration such as 10s, 5m or 1h30m", s)
	}
	var total float64
	for _, part := range durationPart.FindAllStringSubmatch(s, -1) {
		amount, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration such as 10s, 5m or 1h30m", s)
		}
		total += amount * float64(unit(part[2]))
	}
	if total > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is longer than a century", s)
	}
	return time.Duration(math.Round(total)), nil
}

// unit is the length of a unit of durationPattern.
func unit(word string) time.Duration {
	switch word {
	case "us":
		return time.Microsecond
	case "ms":
		return time.Millisecond
	case "s":
		return time.Second
	case "m":
		return time.Minute
	case "h":
		return time.Hour
	}
	return 24 * time.Hour
}
