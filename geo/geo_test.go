package geo

import (
	"iter"
	"maps"
	"math"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

func networks() iter.Seq2[netip.Prefix, Location] {
	return maps.All(map[netip.Prefix]Location{
		netip.MustParsePrefix("192.0.2.0/24"):    {Country: "FR"},
		netip.MustParsePrefix("192.0.2.128/25"):  {Country: "FR", City: "Paris"},
		netip.MustParsePrefix("198.51.100.0/24"): {Country: "FR"},
		netip.MustParsePrefix("2001:db8::/32"):   {Country: "DE"},
	})
}

func TestNewMapNumbersEqualLocationsAlike(t *testing.T) {
	m := NewMap(networks())
	if m.Len() != 4 || m.Version() != 1 || m.Name() != "table" {
		t.Errorf("%q version %d has %d locations; want table, 1, 4", m.Name(), m.Version(), m.Len())
	}
	a, _ := m.Table().Lookup(netip.MustParseAddr("192.0.2.1"))
	b, _ := m.Table().Lookup(netip.MustParseAddr("198.51.100.1"))
	if a != b || m.Location(a).Country != "FR" {
		t.Errorf("numbers %d and %d for one location", a, b)
	}
	if m.Location(0) != (Location{}) {
		t.Errorf("number 0 is %+v", m.Location(0))
	}
}

func TestLongestNetworkSaysWhere(t *testing.T) {
	m := NewMap(networks())
	for a, want := range map[string]Location{
		"192.0.2.1":   {Country: "FR"},
		"192.0.2.129": {Country: "FR", City: "Paris"},
		"2001:db8::1": {Country: "DE"},
		"203.0.113.1": {},
	} {
		if got := m.Lookup(netip.MustParseAddr(a)); got != want {
			t.Errorf("%s is in %+v, want %+v", a, got, want)
		}
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	m := NewMap(networks())
	a := netip.MustParseAddr("192.0.2.1")
	if n := testing.AllocsPerRun(100, func() { m.Lookup(a) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// kilometres is the great-circle distance that belongs to how far two points are apart.
func kilometres(p, q Point) float64 {
	const earthRadius = 6371.0088 // mean
	return 2 * earthRadius * math.Asin(min(1, math.Sqrt(p.Apart(q))/2))
}

func TestPointsAreAsFarApartAsOnTheGlobe(t *testing.T) {
	for _, c := range []struct {
		name                   string
		lat1, lon1, lat2, lon2 float64
		want                   float64
	}{
		{"nothing", 55.75, 37.62, 55.75, 37.62, 0},
		{"Moscow to Novosibirsk", 55.75, 37.62, 55.03, 82.92, 2811},
		{"Moscow to Saint Petersburg", 55.75, 37.62, 59.94, 30.31, 635},
		{"over the date line", 0, 179, 0, -179, 222.4},
		{"pole to pole", 90, 0, -90, 0, 20015.1},
		{"antipodes", 37, -122, -37, 58, 20015.1},
		{"a degree of the equator", 0, 0, 0, 1, 111.195},
		{"two streets", 55.75, 37.62, 55.7501, 37.62, 0.01112},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := kilometres(PointAt(c.lat1, c.lon1), PointAt(c.lat2, c.lon2))
			if math.Abs(got-c.want) > 0.001*c.want {
				t.Errorf("%.1f km, want %.1f", got, c.want)
			}
		})
	}
}

func TestApartIsSymmetricAndAtMostTheGlobe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		point := func() Point {
			return PointAt(rapid.Float64Range(-90, 90).Draw(t, "latitude"), rapid.Float64Range(-180, 180).Draw(t, "longitude"))
		}
		p, q := point(), point()
		if there, back := p.Apart(q), q.Apart(p); there != back || !(there >= 0 && there <= 4+1e-9) {
			t.Fatalf("%v there, %v back", there, back)
		}
	})
}
