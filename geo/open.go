package geo

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"

	"gslb/config/regular"
)

//go:generate go run ./builtin/generate -folder builtin

// builtin holds the country database of this build and the lists of countries. Embedded files cannot change.
//
//go:embed builtin/country.mmdb.gz builtin/country-centroids.csv builtin/continents.csv
var builtin embed.FS

// largest is the size in bytes above which a database is not read: 1 GiB, several times that of the largest in use.
// While a map is made, the file and the new map are in memory beside the old map.
const largest = 1 << 30

// Files names the databases that a map is made of. It is comparable.
type Files struct {
	Database string // country or city database; "" and "builtin" mean the built-in one
	ASN      string // database of autonomous systems; "" for none
}

// paths are the files of f on disk.
func (f Files) paths() []string {
	var paths []string
	if f.Database != "" && f.Database != "builtin" {
		paths = append(paths, f.Database)
	}
	if f.ASN != "" {
		paths = append(paths, f.ASN)
	}
	return paths
}

// Open reads the databases into memory and makes a map of them, with version 1.
//
// The schemas are those of GeoIP2, GeoLite2 and DB-IP (Country, City and supersets of them; ASN), and the flat one of
// ip-location-db, where the record itself has country_code, and maybe city, state1, latitude and longitude. A record
// with a country and without coordinates gets the middle of the country's addresses. In an IPv6 database the networks
// below ::/96 are those of IPv4. The networks of IPv6 in which an IPv4 address is embedded are not read: such clients
// are looked up by the IPv4 address.
//
// Bad files are errors, however they are damaged, and so is a database that has nothing of what it is opened for.
func Open(f Files) (*Map, error) {
	d, err := openDatabase(f.Database)
	if err != nil {
		return nil, fmt.Errorf("geo database: %w", err)
	}
	table, locations, err := d.locations()
	if err != nil {
		return nil, fmt.Errorf("geo database: %s: %w", d.file, err)
	}
	name := d.name()
	if f.ASN != "" {
		if d, err = openFile(f.ASN); err != nil {
			return nil, fmt.Errorf("ASN database: %w", err)
		}
		systems, err := d.systems()
		if err != nil {
			return nil, fmt.Errorf("ASN database: %s: %w", d.file, err)
		}
		table, locations = joined(table, locations, systems)
		name += ", " + d.name()
	}
	return mapOf(name, table, locations), nil
}

// openDatabase opens a file, or the built-in database where none is named.
func openDatabase(file string) (*database, error) {
	if file == "" || file == "builtin" {
		return openBuiltin()
	}
	return openFile(file)
}

func openBuiltin() (*database, error) {
	packed, err := builtin.Open("builtin/country.mmdb.gz")
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("builtin: %w", err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("builtin: %w", err)
	}
	return newDatabase("builtin", content)
}

// openFile reads a file whole.
func openFile(file string) (*database, error) {
	f, err := regular.Open(file, largest)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	content := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := content.ReadFrom(io.LimitReader(f, largest)); err != nil { // it may have grown
		return nil, err
	}
	return newDatabase(file, content.Bytes())
}
