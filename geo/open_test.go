package geo

import (
	"fmt"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

// france is where the built-in lists say a country lies.
var france = Location{Continent: "EU", Country: "FR", Latitude: 48, Longitude: 2.6, Located: true}

func TestOpenReadsEachSchema(t *testing.T) {
	with := func(l Location, change func(*Location)) Location { change(&l); return l }
	for _, c := range []struct {
		name, kind string
		value      mmdbtype.Map
		want       Location
	}{
		{"city of GeoIP2", "GeoIP2-City", moscow(), Location{
			Continent: "EU", Country: "RU", Region: "MOW", City: "Moscow", Latitude: 55.75, Longitude: 37.62, Located: true,
		}},
		{"country of GeoIP2 without coordinates", "GeoLite2-Country", country("FR"), france},
		{"flat country", "country", flatCountry("FR"), france},
		{"flat country in lower case", "country", flatCountry("fr"), france},
		{"flat city", "city", mmdbtype.Map{
			"country_code": mmdbtype.String("US"), "state1": mmdbtype.String("CA"), "city": mmdbtype.String("Palo Alto"),
			"latitude": mmdbtype.Float32(37.5), "longitude": mmdbtype.Float32(-122.25), "timezone": mmdbtype.String("America/Los_Angeles"),
		}, Location{Continent: "NA", Country: "US", Region: "CA", City: "Palo Alto", Latitude: 37.5, Longitude: -122.25, Located: true}},
		{"flat region with its country", "city", mmdbtype.Map{
			"country_code": mmdbtype.String("FR"), "region": mmdbtype.String("FR-IDF"),
		}, with(france, func(l *Location) { l.Region = "IDF" })},
		{"flat region by name", "city", mmdbtype.Map{
			"country_code": mmdbtype.String("FR"), "state1": mmdbtype.String("Bretagne"),
		}, france},
		{"coordinates of the empty sea", "city", mmdbtype.Map{
			"country_code": mmdbtype.String("FR"), "latitude": mmdbtype.Float64(0), "longitude": mmdbtype.Float64(0),
		}, france},
		{"coordinates beyond the pole", "city", mmdbtype.Map{
			"country_code": mmdbtype.String("FR"), "latitude": mmdbtype.Float64(91), "longitude": mmdbtype.Float64(0),
		}, france},
		{"coordinates that are no number", "city", mmdbtype.Map{
			"country_code": mmdbtype.String("FR"), "latitude": mmdbtype.Float64(math.NaN()), "longitude": mmdbtype.Float64(0),
		}, france},
		{"coordinates without a country", "GeoIP2-City", mmdbtype.Map{
			"location": mmdbtype.Map{"latitude": mmdbtype.Float64(1), "longitude": mmdbtype.Float64(2)},
		}, Location{Latitude: 1, Longitude: 2, Located: true}},
		{"country that is none", "country", flatCountry("-"), Location{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := write(t, t.TempDir(), "x.mmdb", content(t, c.kind,
				record{"192.0.2.0/24", c.value}, record{"2001:db8::/32", c.value}, record{"198.51.100.0/24", country("DE")}))
			m, err := Open(Files{Database: file})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range []string{"192.0.2.1", "2001:db8::1"} {
				if diff := cmp.Diff(c.want, m.Lookup(netip.MustParseAddr(a))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", a, diff)
				}
			}
			if got := m.Lookup(netip.MustParseAddr("203.0.113.1")); got != (Location{}) {
				t.Errorf("address outside of the database is in %+v", got)
			}
			if m.Name() != "x.mmdb 2026-11-20" || m.Version() != 1 {
				t.Errorf("name %q, version %d", m.Name(), m.Version())
			}
		})
	}
}

func TestNetworksBecomeSpans(t *testing.T) {
	for _, c := range []struct {
		name    string
		options mmdbwriter.Options
		records []record
		spans   map[string]int
	}{
		{"equal neighbours merge", mmdbwriter.Options{}, []record{
			{"192.0.2.0/25", country("FR")}, {"192.0.2.128/25", flatCountry("FR")},
		}, map[string]int{"192.0.2.1": 24, "192.0.3.1": 24, "2001::": 0}},
		{"IPv4 database", mmdbwriter.Options{IPVersion: 4}, []record{
			{"192.0.2.0/24", country("FR")},
		}, map[string]int{"192.0.2.1": 24, "2001::": 0}},
		{"IPv4 is read once", mmdbwriter.Options{}, []record{
			{"192.0.2.0/24", country("FR")},
		}, map[string]int{"192.0.2.1": 24, "2002:c000:201::": 0, "::ffff:192.0.2.1": 0}},
		{"IPv6 around IPv4 covers it", mmdbwriter.Options{DisableIPv4Aliasing: true}, []record{
			{"::/1", country("FR")},
		}, map[string]int{"192.0.2.1": 0, "::1": 1, "8000::": 1}},
		{"network around an alias", mmdbwriter.Options{DisableIPv4Aliasing: true}, []record{
			{"2000::/3", country("FR")},
		}, map[string]int{"2400::": 3, "2002::": 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.DatabaseType = "x"
			m, err := Open(Files{Database: write(t, t.TempDir(), "x.mmdb", contentOf(t, c.options, c.records...))})
			if err != nil {
				t.Fatal(err)
			}
			for a, want := range c.spans {
				if _, span := m.Table().Lookup(netip.MustParseAddr(a)); span != want {
					t.Errorf("span of %s is %d, want %d", a, span, want)
				}
			}
		})
	}
}

func TestSystemsAreLaidOverLocations(t *testing.T) {
	folder := t.TempDir()
	m, err := Open(Files{
		Database: write(t, folder, "city.mmdb", content(t, "GeoIP2-City",
			record{"192.0.2.0/24", moscow()}, record{"198.51.100.0/24", moscow()})),
		ASN: write(t, folder, "asn.mmdb", content(t, "GeoLite2-ASN",
			record{"192.0.2.128/25", system(64501)}, record{"203.0.113.0/24", system(64502)})),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		address, city string
		asn           uint32
		span          int
	}{
		{"192.0.2.1", "Moscow", 0, 25},
		{"192.0.2.129", "Moscow", 64501, 25},
		{"198.51.100.1", "Moscow", 0, 24},
		{"203.0.113.1", "", 64502, 24},
		{"2001:db8::", "", 0, 0},
	} {
		l := m.Lookup(netip.MustParseAddr(c.address))
		_, span := m.Table().Lookup(netip.MustParseAddr(c.address))
		if l.City != c.city || l.ASN != c.asn || span != c.span {
			t.Errorf("%s: %q AS%d /%d, want %q AS%d /%d", c.address, l.City, l.ASN, span, c.city, c.asn, c.span)
		}
	}
	if m.Name() != "city.mmdb 2026-11-20, asn.mmdb 2026-11-20" || m.Len() != 4 {
		t.Errorf("name %q with %d locations, want both files and 4", m.Name(), m.Len())
	}
}

func TestBadFilesAreErrors(t *testing.T) {
	folder := t.TempDir()
	good := content(t, "GeoIP2-City", record{"192.0.2.0/24", moscow()})
	asn := write(t, folder, "asn.mmdb", content(t, "GeoLite2-ASN", record{"192.0.2.0/24", system(64501)}))
	city := write(t, folder, "city.mmdb", good)
	for _, c := range []struct {
		name  string
		files Files
		want  string
	}{
		{"missing", Files{Database: filepath.Join(folder, "none")}, "no such file"},
		{"folder", Files{Database: folder}, "not a regular file"},
		{"empty", Files{Database: write(t, folder, "empty", nil)}, "invalid MaxMind DB file"},
		{"text", Files{Database: write(t, folder, "text", []byte("hello"))}, "invalid MaxMind DB file"},
		{"half", Files{Database: write(t, folder, "half", good[:len(good)/2])}, "invalid MaxMind DB file"},
		{"without its beginning", Files{Database: write(t, folder, "tail", good[len(good)/2:])}, "invalid"},
		{"without networks", Files{Database: write(t, folder, "none.mmdb", content(t, "GeoIP2-City"))}, "no record tells a country"},
		{"ASN for a location", Files{Database: asn}, `no record tells a country or coordinates (it is of type "GeoLite2-ASN")`},
		{"location for an ASN", Files{Database: city, ASN: city}, `no record tells an autonomous system (it is of type "GeoIP2-City")`},
		{"missing ASN", Files{Database: city, ASN: filepath.Join(folder, "none")}, "ASN database: "},
		{"record of another type", Files{Database: write(t, folder, "type", content(t, "x",
			record{"192.0.2.0/24", mmdbtype.Map{"country": mmdbtype.String("FR")}}))}, "record of 192.0.2.0/24: "},
		{"flat record of another type", Files{Database: write(t, folder, "flat", content(t, "x",
			record{"192.0.2.0/24", mmdbtype.Map{"country_code": mmdbtype.Uint32(7)}}))}, "record of 192.0.2.0/24: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Open(c.files)
			if err == nil || m != nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, error %v; want none, %q", m, err, c.want)
			}
		})
	}
}

func TestLargeFileIsRefused(t *testing.T) {
	file := write(t, t.TempDir(), "x.mmdb", nil)
	if err := os.Truncate(file, largest+1); err != nil { // a hole, which takes no room
		t.Skip("file system without holes:", err)
	}
	if _, err := Open(Files{Database: file}); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Fatalf("error %v, want the limit", err)
	}
}

// A tree in which both branches of each node are the next node has 2^128 ends: the walk must give up long before.
func TestBranchesThatMeetAreRefused(t *testing.T) {
	forged := contentOf(t, mmdbwriter.Options{RecordSize: 24}, record{"8000::1/128", country("FR")})
	d, err := newDatabase("x", forged)
	if err != nil {
		t.Fatal(err)
	}
	for depth := range 128 {
		next := uint32(depth + 1)
		if depth == 127 {
			next = uint32(d.reader.Metadata.NodeCount) // no data
		}
		branch := []byte{byte(next >> 16), byte(next >> 8), byte(next)}
		copy(forged[6*depth:], append(branch, branch...))
	}
	_, err = Open(Files{Database: write(t, t.TempDir(), "x.mmdb", forged)})
	if err == nil || !strings.Contains(err.Error(), "branches meet") {
		t.Fatalf("error %v, want one on the tree", err)
	}
}

// openOnce is the built-in map, which takes long under the race detector.
var openOnce = sync.OnceValues(func() (*Map, error) { return Open(Files{}) })

func TestBuiltinKnowsTheWorld(t *testing.T) {
	m, err := openOnce()
	if err != nil {
		t.Fatal(err)
	}
	if date, ok := strings.CutPrefix(m.Name(), "builtin "); !ok {
		t.Errorf("name %q", m.Name())
	} else if _, err := time.Parse(time.DateOnly, date); err != nil {
		t.Errorf("name %q: %v", m.Name(), err)
	}
	for a, want := range map[string]string{
		"193.0.6.139": "NL", "8.8.8.8": "US", "77.88.8.8": "RU", "185.60.216.35": "IE", "202.12.29.175": "AU", "200.160.2.3": "BR",
		"202.112.0.36": "CN", "133.11.0.1": "JP", "196.216.2.6": "ZA", "2001:67c:2e8:22::c100:68b": "NL", "2a02:6b8::2:242": "RU",
		"10.0.0.1": "", "::1": "",
	} {
		if got := m.Lookup(netip.MustParseAddr(a)).Country; got != want {
			t.Errorf("%s is in %q, want %q", a, got, want)
		}
	}
}

func TestBuiltinLocationsAreComplete(t *testing.T) {
	m, err := openOnce()
	if err != nil {
		t.Fatal(err)
	}
	unlocated := map[string]bool{"AN": true, "CX": true, "EH": true, "TF": true} // the list of centroids lacks them
	for i := 1; i < m.Len(); i++ {
		l := m.Location(uint32(i))
		if len(l.Country) != 2 || len(l.Continent) != 2 || l.Located == unlocated[l.Country] {
			t.Errorf("location %+v", l)
		}
	}
	if m.Len() < 240 {
		t.Errorf("%d locations, want all countries", m.Len())
	}
}

func FuzzOpen(f *testing.F) {
	for _, c := range [][]byte{
		content(f, "GeoIP2-City", record{"192.0.2.0/24", moscow()}, record{"2001:db8::/32", country("FR")}),
		contentOf(f, mmdbwriter.Options{IPVersion: 4, RecordSize: 24}, record{"192.0.2.0/24", flatCountry("FR")}),
		contentOf(f, mmdbwriter.Options{RecordSize: 32}, record{"192.0.2.0/24", system(64501)}),
	} {
		f.Add(c)
		f.Add(c[:len(c)/2])
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := newDatabase("fuzz", content)
		if err != nil {
			return
		}
		if _, locations, err := d.locations(); err == nil && len(locations) < 2 {
			t.Error("a map without locations")
		}
		if table, err := d.systems(); err == nil {
			table.Lookup(netip.IPv6Unspecified())
		}
	})
}

var sinkMap *Map

func BenchmarkOpenBuiltin(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m, err := Open(Files{})
		if err != nil {
			b.Fatal(err)
		}
		sinkMap = m
	}
	var with, without runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&with)
	blocks := 0
	for range sinkMap.Table().All() {
		blocks++
	}
	sinkMap = nil
	runtime.GC()
	runtime.ReadMemStats(&without)
	b.ReportMetric(float64(with.HeapAlloc-without.HeapAlloc)/(1<<20), "map-MB")
	b.ReportMetric(float64(blocks), "blocks")
}

func BenchmarkLookupBuiltin(b *testing.B) {
	m, err := Open(Files{})
	if err != nil {
		b.Fatal(err)
	}
	var addresses [1 << 12]netip.Addr
	for i := range addresses {
		n := uint32(i) * 2654435761
		addresses[i] = netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	}
	b.ReportAllocs()
	countries := 0
	for i := 0; b.Loop(); i++ {
		countries += len(m.Lookup(addresses[i%len(addresses)]).Country)
	}
	if countries == 0 {
		b.Fatal(fmt.Errorf("no country found"))
	}
}
