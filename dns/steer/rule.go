package steer

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"

	"gslb/geo"
)

// rules is one map: the first rule that fits a client gives its tiers.
type rules []rule

// rule fits the clients that fit every one of its keys; an empty key fits anybody.
type rule struct {
	country, region, continent, city string
	asn                              uint32
	networks                         []netip.Prefix
	nearest                          bool // the tiers are the places by distance
	to                               list // otherwise these
}

// viewKey is one way of seeing geography: a map, and the places that its "nearest" ranges over.
type viewKey struct {
	rules int       // index in Policy.maps
	near  []placeID // located, in order of places; nil when the map does not ask
}

// word is a text that equal keys, and no others, have.
func (v viewKey) word() string {
	w := binary.AppendUvarint(nil, uint64(v.rules))
	for _, p := range v.near {
		w = binary.AppendUvarint(w, uint64(p))
	}
	return string(w)
}

func (rs rules) asksNearest() bool {
	return slices.ContainsFunc(rs, func(r rule) bool { return r.nearest })
}

func (rs rules) nameNetworks() bool {
	return slices.ContainsFunc(rs, func(r rule) bool { return r.networks != nil })
}

// first gives the index of the first rule that fits a client at this location, or -1. The held
// are the indices of the rules whose networks hold the client. A rule by distance is skipped for
// a client without a location.
func (rs rules) first(at geo.Location, held []int) int {
	for i, r := range rs {
		if r.fits(at) && (r.networks == nil || slices.Contains(held, i)) && (!r.nearest || at.Located) {
			return i
		}
	}
	return -1
}

func (r rule) fits(at geo.Location) bool {
	return (r.country == "" || r.country == at.Country) &&
		(r.region == "" || r.region == at.Region) &&
		(r.continent == "" || r.continent == at.Continent) &&
		(r.city == "" || strings.EqualFold(r.city, at.City)) &&
		(r.asn == 0 || r.asn == at.ASN)
}

// ranking orders places by distance, for one point after the other.
type ranking struct {
	places []place
	near   []placeID
	far    []distant // scratch
}

type distant struct {
	place placeID
	apart float64
}

// order gives the places, the nearest first; of equally near ones the one that stands first in the
// configuration. The result is good until the next call.
func (r *ranking) order(at geo.Point) []distant {
	r.far = r.far[:0]
	for _, id := range r.near {
		r.far = append(r.far, distant{id, at.Apart(r.places[id].point)})
	}
	slices.SortStableFunc(r.far, func(a, b distant) int { return cmp.Compare(a.apart, b.apart) })
	return r.far
}

// held gives the indices of the rules whose networks hold an address.
func (rs rules) held(a netip.Addr) []int {
	var held []int
	for i, r := range rs {
		if holds(r.networks, a) {
			held = append(held, i)
		}
	}
	return held
}
