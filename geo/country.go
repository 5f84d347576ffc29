package geo

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// countries tells, for the code of a country, a location with its continent and the middle of its addresses.
type countries map[string]Location

// complete adds to a location what follows from its country alone: the continent, and the middle of the country's
// addresses where the database has no coordinates. So a database that knows only countries still tells near from far.
func (c countries) complete(l Location) Location {
	known := c[l.Country]
	if l.Continent == "" {
		l.Continent = known.Continent
	}
	if !l.Located {
		l.Latitude, l.Longitude, l.Located = known.Latitude, known.Longitude, known.Located
	}
	return l
}

// builtinCountries reads the lists that stand beside the built-in database.
func builtinCountries() (countries, error) {
	c := countries{}
	if err := c.readContinents("builtin/continents.csv"); err != nil {
		return nil, err
	}
	if err := c.readCentroids("builtin/country-centroids.csv"); err != nil {
		return nil, err
	}
	return c, nil
}

// readContinents reads lines of a continent and its countries, which spaces part.
func (c countries) readContinents(file string) error {
	return eachLine(file, 2, func(line []string) error {
		for code := range strings.FieldsSeq(line[1]) {
			c[code] = Location{Continent: line[0], Country: code}
		}
		return nil
	})
}

// readCentroids reads lines of country, latitude and longitude.
func (c countries) readCentroids(file string) error {
	return eachLine(file, 3, func(line []string) error {
		l := c[line[0]]
		var err error
		if l.Latitude, err = strconv.ParseFloat(line[1], 64); err != nil {
			return err
		}
		if l.Longitude, err = strconv.ParseFloat(line[2], 64); err != nil {
			return err
		}
		l.Located = true
		c[line[0]] = l
		return nil
	})
}

// eachLine calls read with the fields of every line that is no comment, until it gives an error.
func eachLine(file string, fields int, read func([]string) error) error {
	f, err := builtin.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment, r.FieldsPerRecord = '#', fields
	for {
		line, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = read(line)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
}
