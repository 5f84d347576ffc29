package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

// zoneName is the zone that all servers have.
const zoneName = "example.com"

// The networks of the partners: so many /24, from 64.0.0.0 on, of each partner in turn.
const (
	routes    = 100_000
	routeBase = 64 << 16 // the first one's upper 24 bits
)

// place is a place that the client's country or continent leads to.
type place struct{ Continent, Country, Address string }

// places are the rules of the name "geo", the first that fits; else it is the first of these.
var places = []place{
	{"NA", "", "192.0.2.10"}, {"EU", "GB", "192.0.2.21"}, {"AS", "IN", "192.0.2.31"}, {"AS", "JP", "192.0.2.32"},
	{"SA", "BR", "192.0.2.41"}, {"EU", "", "192.0.2.20"}, {"AS", "", "192.0.2.30"}, {"SA", "", "192.0.2.40"},
	{"OC", "", "192.0.2.50"}, {"AF", "", "192.0.2.60"},
}

// Key names a place: its country, else its continent.
func (p place) Key() string {
	if p.Country != "" {
		return p.Country
	}
	return p.Continent
}

// Endpoint is an address of the name "lb", with its weight.
type endpoint struct {
	Address string
	Weight  int
}

var endpoints = []endpoint{{"127.0.0.11", 5}, {"127.0.0.12", 3}, {"127.0.0.13", 2}}

// world is what the configurations of all servers are made from.
type world struct {
	Folder   string
	Port     int // of the server that is being configured
	Check    int // TCP port that answers health checks at every address
	BGP      int // TCP port of the partners' routers
	Zone     string
	Places   []place
	Pool     []endpoint
	Database string
	Coalesce time.Duration // the pause of our server; 0: none
	Guarded  bool          // our server limits rates and knows cookies
}

// newWorld writes the zone and the geo data into a folder.
func newWorld(folder string) (*world, error) {
	w := &world{Folder: folder, Zone: zoneName, Places: places, Pool: endpoints, Database: filepath.Join(folder, "country.mmdb")}
	var text strings.Builder
	fmt.Fprintf(&text, "$ORIGIN %s.\n$TTL 300\n@ SOA ns1 hostmaster 1 7200 3600 1209600 300\n@ NS ns1\n@ NS ns2\nns1 A 192.0.2.2\nns2 A 192.0.2.3\n", zoneName)
	for i := range staticNames {
		fmt.Fprintf(&text, "h%03d A 198.51.%d.%d\n", i, 100+i/250, 1+i%250)
	}
	if err := os.WriteFile(w.path("static.zone"), []byte(text.String()), 0o644); err != nil {
		return nil, err
	}
	return w, w.writeDatabase()
}

func (w *world) path(name string) string { return filepath.Join(w.Folder, name) }

// loopback is the countries in which the clients 127.1.0.0/16, 127.2.0.0/16 and so on are.
var loopback = [clients]place{{"NA", "US", ""}, {"EU", "DE", ""}, {"EU", "GB", ""}, {"AS", "JP", ""}, {"AS", "IN", ""}, {"SA", "BR", ""},
	{"OC", "AU", ""}, {"AF", "ZA", ""}, {"NA", "CA", ""}, {"EU", "FR", ""}, {"AS", "CN", ""}, {"SA", "AR", ""}, {"AF", "NG", ""},
	{"OC", "NZ", ""}, {"EU", "SE", ""}, {"AS", "KR", ""}}

// writeDatabase makes the built-in countries a database that every server reads, with countries for the clients.
func (w *world) writeDatabase() error {
	packed, err := os.ReadFile("geo/builtin/country.mmdb.gz")
	if err != nil {
		return fmt.Errorf("%w (the benchmark is run in the root of the module)", err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	content, err := io.ReadAll(unpacked)
	if err != nil {
		return err
	}
	if err := os.WriteFile(w.Database, content, 0o644); err != nil {
		return err
	}
	tree, err := mmdbwriter.Load(w.Database, mmdbwriter.Options{DatabaseType: "GeoLite2-Country", DisableIPv4Aliasing: true, IncludeReservedNetworks: true})
	if err != nil {
		return err
	}
	for i, p := range loopback {
		client := &net.IPNet{IP: net.IPv4(127, byte(i+1), 0, 0).To4(), Mask: net.CIDRMask(16, 32)}
		record := mmdbtype.Map{
			"continent": mmdbtype.Map{"code": mmdbtype.String(p.Continent)},
			"country":   mmdbtype.Map{"iso_code": mmdbtype.String(p.Country)},
		}
		if err := tree.Insert(client, record); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	if _, err := tree.WriteTo(&out); err != nil {
		return err
	}
	return os.WriteFile(w.Database, out.Bytes(), 0o644)
}
