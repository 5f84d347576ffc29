package main

import (
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

// writeDatabases puts geo databases of the kinds that there are into a folder.
//
//	city.mmdb     GeoIP2 City: 203.0.113.0/25 is in Moscow, 203.0.113.128/26 in Novosibirsk, the rest of 203.0.113.0/24 in Russia
//	country.mmdb  GeoIP2 Country: 203.0.113.0/24 is in Russia, 198.51.100.0/24 in Germany
//	flat.mmdb     the flat schema: 203.0.113.0/25 is in Moscow, 198.51.100.0/24 in Germany
//	asn.mmdb      GeoLite2 ASN: 198.51.100.0/24 is announced by AS 64501
func writeDatabases(folder string) error {
	text := func(s string) mmdbtype.String { return mmdbtype.String(s) }
	city := func(country, continent, region, city string) mmdbtype.Map {
		m := mmdbtype.Map{
			"continent": mmdbtype.Map{"code": text(continent)},
			"country":   mmdbtype.Map{"iso_code": text(country)},
		}
		if region != "" {
			m["subdivisions"] = mmdbtype.Slice{mmdbtype.Map{"iso_code": text(region)}}
			m["city"] = mmdbtype.Map{"names": mmdbtype.Map{"en": text(city), "ru": text("-")}}
		}
		return m
	}
	type records map[string]mmdbtype.DataType
	for file, networks := range map[string]records{
		"city.mmdb": {
			"203.0.113.0/25": city("RU", "EU", "MOW", "Moscow"), "203.0.113.128/26": city("RU", "EU", "NVS", "Novosibirsk"),
			"203.0.113.192/26": city("RU", "EU", "", ""), "2001:db8:a::/48": city("RU", "EU", "MOW", "Moscow"),
		},
		"country.mmdb": {"203.0.113.0/24": city("RU", "EU", "", ""), "198.51.100.0/24": city("DE", "EU", "", "")},
		"flat.mmdb": {
			"203.0.113.0/25":  mmdbtype.Map{"country_code": text("RU"), "state1": text("MOW"), "city": text("Moscow")},
			"198.51.100.0/24": mmdbtype.Map{"country_code": text("DE")},
		},
		"asn.mmdb": {"198.51.100.0/24": mmdbtype.Map{"autonomous_system_number": mmdbtype.Uint32(64501)}},
	} {
		if err := writeDatabase(filepath.Join(folder, file), networks); err != nil {
			return err
		}
	}
	return nil
}

func writeDatabase(path string, networks map[string]mmdbtype.DataType) error {
	tree, err := mmdbwriter.New(mmdbwriter.Options{
		DatabaseType: "test", IncludeReservedNetworks: true, BuildEpoch: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Unix(),
	})
	if err != nil {
		return err
	}
	for network, record := range networks {
		_, n, err := net.ParseCIDR(network)
		if err == nil {
			err = tree.Insert(n, record)
		}
		if err != nil {
			return err
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := tree.WriteTo(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
