package geo

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"

	"gslb/geo/prefix"
)

// database is an open .mmdb, whose content is in memory.
type database struct {
	file   string
	reader *maxminddb.Reader
	until  time.Time // when reading it is given up
}

// patience bounds how long the reading of a database takes: some ten times what the largest in use do on a slow
// machine. Each of the records of a forged one can be as large as the file.
const patience = 5 * time.Minute

func newDatabase(file string, content []byte) (*database, error) {
	r, err := maxminddb.OpenBytes(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if v := r.Metadata.IPVersion; v != 4 && v != 6 {
		return nil, fmt.Errorf("%s: is for version %d of IP", file, v)
	}
	return &database{file, r, time.Now().Add(patience)}, nil
}

// name is the name of the file without its folder, and the day on which the database was built.
func (d *database) name() string {
	return filepath.Base(d.file) + " " + d.reader.Metadata.BuildTime().UTC().Format(time.DateOnly)
}

// locations is the table of a database of countries or cities: its values are numbers of locations.
func (d *database) locations() (*prefix.Table, []Location, error) {
	all, err := builtinCountries()
	if err != nil {
		return nil, nil, err
	}
	known := newIndex()
	table, err := d.flatten(func(r maxminddb.Result) (uint32, error) {
		l, err := locationOf(r)
		return known.number(all.complete(l)), err
	})
	if err != nil {
		return nil, nil, err
	}
	if len(known.locations) == 1 {
		return nil, nil, fmt.Errorf("no record tells a country or coordinates (it is of type %q)", d.reader.Metadata.DatabaseType)
	}
	return table, known.locations, nil
}

// systems is the table of a database of autonomous systems: the values are their numbers.
func (d *database) systems() (*prefix.Table, error) {
	found := false
	table, err := d.flatten(func(r maxminddb.Result) (uint32, error) {
		n, err := systemOf(r)
		found = found || n != 0
		return n, err
	})
	if err == nil && !found {
		err = fmt.Errorf("no record tells an autonomous system (it is of type %q)", d.reader.Metadata.DatabaseType)
	}
	return table, err
}

// flatten walks the networks and gives each the value of its record. Records are shared by many networks, and read once;
// networks are not kept, so that a database of very many takes little more memory than the table of it.
//
// The walk sees every end of the search tree, those without data too, since only by counting them all it is bounded: a
// tree of n nodes has n+1 ends, and four more copies of those below IPv4 where the file has aliases for it. A forged
// file whose nodes share children in a row would have 2^128.
func (d *database) flatten(value func(maxminddb.Result) (uint32, error)) (*prefix.Table, error) {
	var b prefix.Ordered
	values := map[uintptr]uint32{}
	left := 5 * (d.reader.Metadata.NodeCount + 1)
	for r := range d.reader.Networks(maxminddb.IncludeNetworksWithoutData(), maxminddb.IncludeAliasedNetworks()) {
		if err := r.Err(); err != nil {
			return nil, err
		}
		if left--; left == 0 {
			return nil, errors.New("the search tree is none: its branches meet again")
		}
		p := r.Prefix()
		if !r.Found() || embedsIPv4(p) {
			continue
		}
		v, ok := values[r.Offset()]
		if !ok {
			if time.Now().After(d.until) {
				return nil, fmt.Errorf("it takes longer than %v to read", patience)
			}
			var err error
			if v, err = value(r); err != nil {
				return nil, fmt.Errorf("record of %s: %w", p, err)
			}
			values[r.Offset()] = v
		}
		if !set(&b, p, v) {
			return nil, fmt.Errorf("the networks are out of order at %s", p)
		}
	}
	return b.Table(), nil
}

// set gives a value to a network of a database, in which IPv4 is the block ::/96 of IPv6. The walk gives networks within
// that block as IPv4 already; one around it covers both families.
func set(b *prefix.Ordered, p netip.Prefix, value uint32) bool {
	if p.Addr() == netip.IPv6Unspecified() && p.Bits() <= 96 {
		return b.Set(p, value) && b.Set(netip.PrefixFrom(netip.IPv4Unspecified(), 0), value)
	}
	return b.Set(p, value)
}

// embedsIPv4 reports whether the addresses of p have an IPv4 address inside, by which they are looked up: mapped
// (RFC 4291, 2.5.5.2), NAT64 (RFC 6052), Teredo (RFC 4380) and 6to4 (RFC 3056). Many databases lead them to the networks
// of IPv4, so that each comes five times.
func embedsIPv4(p netip.Prefix) bool {
	if p.Addr().Is4() {
		return false
	}
	b := p.Addr().As16()
	switch {
	case p.Bits() >= 96 && [12]byte(b[:12]) == [12]byte{10: 0xff, 11: 0xff}:
		return true
	case p.Bits() >= 96 && [12]byte(b[:12]) == [12]byte{0, 0x64, 0xff, 0x9b}:
		return true
	case p.Bits() >= 32 && [4]byte(b[:4]) == [4]byte{0x20, 0x01}:
		return true
	}
	return p.Bits() >= 16 && [2]byte(b[:2]) == [2]byte{0x20, 0x02}
}

// joined is a table of locations with the autonomous system of each address added to its location.
func joined(places *prefix.Table, locations []Location, systems *prefix.Table) (*prefix.Table, []Location) {
	known := newIndex()
	pairs := map[[2]uint32]uint32{}
	table := prefix.Overlay(places, systems, func(i, system uint32) uint32 {
		n, ok := pairs[[2]uint32{i, system}]
		if !ok {
			l := locations[i]
			l.ASN = system
			n = known.number(l)
			pairs[[2]uint32{i, system}] = n
		}
		return n
	})
	return table, known.locations
}
