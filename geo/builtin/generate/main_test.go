package main

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/oschwald/geoip2-golang/v2"
	"github.com/oschwald/maxminddb-golang/v2"
)

// flat is a database in which 192.0.2.0/24 and 2001:db8::/32 are in a country.
func flat(t *testing.T, country string) *maxminddb.Reader {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{
		BuildEpoch:              time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Unix(),
		IncludeReservedNetworks: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"192.0.2.0/24", "2001:db8::/32"} {
		err := tree.Insert(network(netip.MustParsePrefix(p)), mmdbtype.Map{"country_code": mmdbtype.String(country)})
		if err != nil {
			t.Fatal(err)
		}
	}
	return open(t, content(t, tree))
}

func content(t *testing.T, tree *mmdbwriter.Tree) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := tree.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t *testing.T, content []byte) *maxminddb.Reader {
	t.Helper()
	r, err := maxminddb.OpenBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func converted(t *testing.T, country string) []byte {
	t.Helper()
	records, err := records("..")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := convert(flat(t, country), records)
	if err != nil {
		t.Fatal(err)
	}
	return content(t, tree)
}

func TestFlatRecordsBecomeCities(t *testing.T) {
	r := open(t, converted(t, "NL"))
	for _, a := range []string{"192.0.2.1", "2001:db8::1"} {
		var c geoip2.City
		if err := r.Lookup(netip.MustParseAddr(a)).Decode(&c); err != nil {
			t.Fatal(err)
		}
		if c.Country.ISOCode != "NL" || c.Continent.Code != "EU" || !c.Location.HasCoordinates() {
			t.Errorf("%s is in %+v", a, c)
		}
	}
	if got := r.Metadata.BuildTime().UTC().Format(time.DateOnly); got != "2026-11-20" {
		t.Errorf("built on %s, want the day of the source", got)
	}
}

func TestEqualDataGivesEqualFiles(t *testing.T) {
	if !bytes.Equal(converted(t, "NL"), converted(t, "NL")) {
		t.Error("two files differ")
	}
}

func TestUnknownCountryIsAnError(t *testing.T) {
	records, err := records("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := convert(flat(t, "QQ"), records); err == nil || !strings.Contains(err.Error(), `"QQ"`) {
		t.Errorf("error %v, want one on the country", err)
	}
}
