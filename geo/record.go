package geo

import (
	"math"
	"strings"

	"github.com/oschwald/geoip2-golang/v2"
	"github.com/oschwald/maxminddb-golang/v2"
)

// flat is the record of ip-location-db's databases. GeoIP2 uses some of its keys too, with values of other types.
type flat struct {
	Country   string   `maxminddb:"country_code,maxsize:16"`
	State     string   `maxminddb:"state1,maxsize:1024"`
	Region    string   `maxminddb:"region,maxsize:1024"`
	City      string   `maxminddb:"city,maxsize:1024"`
	Latitude  *float64 `maxminddb:"latitude"`
	Longitude *float64 `maxminddb:"longitude"`
}

// locationOf reads a record. It is of the flat schema exactly if it has a country code of its own, and of GeoIP2's otherwise.
func locationOf(r maxminddb.Result) (Location, error) {
	var code *string
	if err := r.DecodePath(&code, "country_code"); err != nil {
		return Location{}, err
	}
	if code != nil {
		return flatLocation(r)
	}
	var c geoip2.City // a country's record has a part of the same fields
	if err := r.Decode(&c); err != nil {
		return Location{}, err
	}
	l := Location{
		Continent: letters(c.Continent.Code),
		Country:   letters(c.Country.ISOCode),
		City:      c.City.Names.English,
	}
	if len(c.Subdivisions) > 0 {
		l.Region = subdivision(c.Subdivisions[0].ISOCode)
	}
	l.locate(c.Location.Latitude, c.Location.Longitude)
	return l, nil
}

func flatLocation(r maxminddb.Result) (Location, error) {
	var f flat
	if err := r.Decode(&f); err != nil {
		return Location{}, err
	}
	l := Location{Country: letters(f.Country), Region: subdivision(f.State), City: f.City}
	if l.Region == "" {
		l.Region = subdivision(f.Region)
	}
	l.locate(f.Latitude, f.Longitude)
	return l, nil
}

// systemOf reads the number of an autonomous system, which has one name in both schemas.
func systemOf(r maxminddb.Result) (uint32, error) {
	var a struct {
		Number uint32 `maxminddb:"autonomous_system_number"`
	}
	err := r.Decode(&a)
	return a.Number, err
}

// locate takes over coordinates if they are some. Those of the point 0, 0, in the sea, stand for unknown ones in many
// databases.
func (l *Location) locate(latitude, longitude *float64) {
	if latitude == nil || longitude == nil || *latitude == 0 && *longitude == 0 {
		return
	}
	if math.Abs(*latitude) <= 90 && math.Abs(*longitude) <= 180 { // false for what is no number
		l.Latitude, l.Longitude, l.Located = *latitude, *longitude, true
	}
}

// letters is a code of two letters in upper case, or "" for what databases write where they do not know.
func letters(code string) string {
	code = strings.ToUpper(code)
	if len(code) != 2 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return ""
	}
	return code
}

// subdivision is the part of a code of ISO 3166-2 behind the dash, if there is one: one to three letters and digits.
// Some databases have names in that place, which no rule can match, so they count as unknown.
func subdivision(code string) string {
	if len(code) > 3 && code[2] == '-' {
		code = code[3:]
	}
	if len(code) > 3 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
		return ""
	}
	return code
}
