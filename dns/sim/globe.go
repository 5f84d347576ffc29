package sim

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"gslb/geo"
)

// builtinGlobe is the one line of a map that is the built-in one of servers.
const builtinGlobe = "builtin"

// entry is one line of a map of the globe.
type entry struct {
	network netip.Prefix
	at      geo.Location
}

// readGlobe reads a map of the globe: on each line a network and what is known of it, as
// "203.0.113.0/24 country=RU at=55.75,37.62"; or the word builtin alone. Lines that begin with # are comments.
func readGlobe(text string) (*geo.Map, error) {
	var entries []entry
	isBuiltin, number := false, 0
	for l := range strings.Lines(text) {
		number++
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		if isBuiltin || l == builtinGlobe && len(entries) > 0 {
			return nil, fmt.Errorf("%s:%d: %s is a whole map: no other line stands beside it", geoFile, number, builtinGlobe)
		}
		if isBuiltin = l == builtinGlobe; isBuiltin {
			continue
		}
		e, err := readEntry(l)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", geoFile, number, err)
		}
		entries = append(entries, e)
	}
	if isBuiltin {
		return geo.Open(geo.Files{Database: builtinGlobe})
	}
	return geo.NewMap(func(yield func(netip.Prefix, geo.Location) bool) {
		for _, e := range entries {
			if !yield(e.network, e.at) {
				return
			}
		}
	}), nil
}

// readEntry reads a network and what is known of it.
func readEntry(l string) (entry, error) {
	words, err := split(l)
	if err != nil {
		return entry{}, err
	}
	network, err := netip.ParsePrefix(words[0])
	if err != nil || network.Addr().Is4In6() {
		return entry{}, fmt.Errorf("%q is not a network", words[0])
	}
	at, err := readLocation(words[1:])
	return entry{network.Masked(), at}, err
}

// readLocation reads key=value words.
func readLocation(words []string) (at geo.Location, err error) {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "continent":
			at.Continent = value
		case "country":
			at.Country = value
		case "region":
			at.Region = value
		case "city":
			at.City = value
		case "asn":
			n, err := strconv.ParseUint(value, 10, 32)
			if err != nil {
				return at, fmt.Errorf("asn: %q is not a number of an autonomous system", value)
			}
			at.ASN = uint32(n)
		case "at":
			north, east, _ := strings.Cut(value, ",")
			var errs [2]error
			at.Latitude, errs[0] = strconv.ParseFloat(north, 64)
			at.Longitude, errs[1] = strconv.ParseFloat(east, 64)
			if errs != [2]error{} {
				return at, fmt.Errorf("at: %q is not latitude,longitude in degrees", value)
			}
			at.Located = true
		default:
			return at, fmt.Errorf("%q is none of continent=, country=, region=, city=, asn=, at=", word)
		}
	}
	return at, nil
}
