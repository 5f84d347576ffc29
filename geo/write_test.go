package geo

import (
	"bytes"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

// record is a value in a database of the tests.
type record struct {
	network string
	value   mmdbtype.DataType
}

// content is a database of the given type, built on 2026-11-20, with IPv4 aliased as MaxMind does.
func content(t testing.TB, kind string, records ...record) []byte {
	t.Helper()
	return contentOf(t, mmdbwriter.Options{DatabaseType: kind}, records...)
}

func contentOf(t testing.TB, o mmdbwriter.Options, records ...record) []byte {
	t.Helper()
	o.IncludeReservedNetworks = true
	o.BuildEpoch = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Unix()
	tree, err := mmdbwriter.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		p := netip.MustParsePrefix(r.network)
		n := &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
		if err := tree.Insert(n, r.value); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if _, err := tree.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// write puts a file in a folder and returns its path.
func write(t testing.TB, folder, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// moscow is a record of the GeoIP2 City schema.
func moscow() mmdbtype.Map {
	return mmdbtype.Map{
		"continent": mmdbtype.Map{"code": mmdbtype.String("EU"), "geoname_id": mmdbtype.Uint32(6255148)},
		"country":   mmdbtype.Map{"iso_code": mmdbtype.String("RU"), "names": names("Russia", "Россия")},
		"subdivisions": mmdbtype.Slice{
			mmdbtype.Map{"iso_code": mmdbtype.String("MOW"), "names": names("Moscow", "Москва")},
			mmdbtype.Map{"iso_code": mmdbtype.String("XXX")},
		},
		"city":     mmdbtype.Map{"names": names("Moscow", "Москва")},
		"location": mmdbtype.Map{"latitude": mmdbtype.Float64(55.75), "longitude": mmdbtype.Float64(37.62), "time_zone": mmdbtype.String("Europe/Moscow")},
		"postal":   mmdbtype.Map{"code": mmdbtype.String("101000")},
	}
}

func names(english, russian string) mmdbtype.Map {
	return mmdbtype.Map{"en": mmdbtype.String(english), "ru": mmdbtype.String(russian)}
}

func country(code string) mmdbtype.Map {
	return mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String(code)}}
}

func flatCountry(code string) mmdbtype.Map {
	return mmdbtype.Map{"country_code": mmdbtype.String(code)}
}

func system(n uint32) mmdbtype.Map {
	return mmdbtype.Map{
		"autonomous_system_number":       mmdbtype.Uint32(n),
		"autonomous_system_organization": mmdbtype.String("Example"),
	}
}
