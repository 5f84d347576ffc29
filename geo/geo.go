// Package geo answers: where is this address?
//
// A [Map] gives every address a [Location]: continent, country, region, city, autonomous system and coordinates, each as
// far as it is known. It is immutable and made whole: [Open] reads a country, city or ASN database (.mmdb) into memory and
// flattens it to a prefix table of small integers, each the number of a location. So whoever steers by geography
// decides once for each location, not for each address, and learns from the table how far a decision reaches.
//
//	m, err := geo.Open(geo.Files{Database: "builtin"})
//	m.Lookup(netip.MustParseAddr("193.0.6.139")).Country // "NL"
//
// A [Source] keeps the map current: it watches the files and puts a new map in place of the old, or keeps the old one and
// says why.
//
// The built-in database knows countries only, and is dated; builtin/generate makes it, NOTICE tells of whose data.
//
// Refused: mapped files (a database that is rewritten under a mapping kills the process), look-ups in the file, names in
// other languages than English, and any judgement on which place is better for a location: that is steering.
package geo

import (
	"iter"
	"net/netip"
	"sync"

	"gslb/geo/prefix"
)

// Location is what is known of the whereabouts of an address. It is comparable; the zero Location is "nowhere".
type Location struct {
	Continent string // AF, AN, AS, EU, NA, OC or SA
	Country   string // ISO 3166-1, two letters
	Region    string // ISO 3166-2 behind the dash, such as NVS of RU-NVS
	City      string // English name

	ASN uint32 // autonomous system that announces the address; 0 if unknown

	// Degrees, north and east positive; they mean nothing unless Located. Where only the country is known, they are
	// those of the middle of its addresses.
	Latitude, Longitude float64
	Located             bool
}

// Map says for every address where it is. It never changes, and any number of goroutines may read it.
type Map struct {
	version   uint64
	name      string
	table     *prefix.Table
	nodes     int                   // of table
	ground    func() *prefix.Ground // likewise
	locations []Location
	points    []Point // of locations
}

// NewMap makes a map of networks, of which the longest one that covers an address counts. It has version 1 and the name
// "table".
func NewMap(networks iter.Seq2[netip.Prefix, Location]) *Map {
	var b prefix.Builder
	known := newIndex()
	for p, l := range networks {
		b.Set(p, known.number(l))
	}
	return mapOf("table", b.Table(), known.locations)
}

// mapOf is a map with version 1.
func mapOf(name string, table *prefix.Table, locations []Location) *Map {
	m := &Map{version: 1, name: name, table: table, nodes: table.Nodes(), locations: locations}
	m.ground = sync.OnceValue(func() *prefix.Ground { return prefix.NewGround(table) })
	m.points = make([]Point, len(locations))
	for i, l := range locations {
		m.points[i] = PointAt(l.Latitude, l.Longitude)
	}
	return m
}

// Version counts the maps of one [Source], from 1.
func (m *Map) Version() uint64 { return m.version }

// Name tells file and build date, as in "GeoLite2-City.mmdb 2026-11-20" or "builtin 2026-06-17".
func (m *Map) Name() string { return m.name }

// Table maps addresses to the numbers of their locations.
func (m *Map) Table() *prefix.Table { return m.table }

// Nodes is how large the table is.
func (m *Map) Nodes() int { return m.nodes }

// Ground is the same as Table, for whoever sees locations as something else, in many ways. It is made when it is asked for
// first: it takes three times the memory of the table.
func (m *Map) Ground() *prefix.Ground { return m.ground() }

// Len is the number of locations: they are numbered from 0, which is "nowhere", to Len()-1.
func (m *Map) Len() int { return len(m.locations) }

// Location is the location with number i, which must be a value of the table.
func (m *Map) Location(i uint32) Location { return m.locations[i] }

// Point is where the location with number i is, if it is located.
func (m *Map) Point(i uint32) Point { return m.points[i] }

// Lookup is the location of an address, the zero Location if nothing is known. It does not allocate.
func (m *Map) Lookup(a netip.Addr) Location {
	i, _ := m.table.Lookup(a)
	return m.locations[i]
}

// index numbers locations in the order in which they come, equal ones alike. Number 0 is the zero Location.
type index struct {
	locations []Location
	numbers   map[Location]uint32
}

func newIndex() *index {
	return &index{locations: []Location{{}}, numbers: map[Location]uint32{{}: 0}}
}

func (x *index) number(l Location) uint32 {
	i, ok := x.numbers[l]
	if !ok {
		i = uint32(len(x.locations))
		x.numbers[l] = i
		x.locations = append(x.locations, l)
	}
	return i
}
