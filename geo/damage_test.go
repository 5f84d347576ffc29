package geo

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
)

// TestDamagedDatabaseIsReadOrRefused flips bits and cuts off the end of databases: a small one anywhere, a larger one here
// and there. Whatever comes of it takes little time and memory, and says which file is bad.
func TestDamagedDatabaseIsReadOrRefused(t *testing.T) {
	long := os.Getenv("GSLB_LONG") != ""
	globe, err := os.ReadFile("../cmd/gslb/testdata/globe.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	for name, good := range map[string][]byte{
		"city":  content(t, "GeoIP2-City", record{"192.0.2.0/24", moscow()}, record{"2001:db8::/32", country("FR")}, record{"198.51.100.0/24", flatCountry("DE")}),
		"short": contentOf(t, mmdbwriter.Options{IPVersion: 4, RecordSize: 24, DatabaseType: "x"}, record{"192.0.2.0/24", flatCountry("FR")}),
		"globe": globe,
	} {
		t.Run(name, func(t *testing.T) {
			d := &damage{t: t, folder: t.TempDir(), size: len(good)}
			random := rand.New(rand.NewPCG(1, 2))
			step := max(1, len(good)/400)
			if long {
				step = max(1, len(good)/20_000)
			}
			for i := random.IntN(step); i < len(good); i += 1 + random.IntN(2*step-1) {
				damaged := bytes.Clone(good)
				damaged[i] ^= 1 << random.IntN(8)
				d.try(fmt.Sprintf("byte %d is %#x instead of %#x", i, damaged[i], good[i]), damaged)
			}
			for i := random.IntN(step); i < len(good); i += 1 + random.IntN(8*step) {
				d.try(fmt.Sprintf("the first %d bytes", i), good[:i])
			}
			t.Logf("%d bytes: %d refused, %d read; the slowest took %v, the largest %d MB", len(good), d.refused, d.read, d.slowest, d.largest>>20)
			if d.refused < 20 || d.read < 20 {
				t.Error("the test has lost its teeth")
			}
		})
	}
}

// damage opens databases that are damaged.
type damage struct {
	t             *testing.T
	folder        string
	size          int
	read, refused int
	slowest       time.Duration
	largest       uint64 // octets that were allocated for one
}

func (d *damage) try(what string, content []byte) {
	d.t.Helper()
	file := filepath.Join(d.folder, "x.mmdb")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		d.t.Fatal(err)
	}
	for _, files := range []Files{{Database: file}, {Database: file, ASN: file}} {
		begin, before := time.Now(), allocated()
		m, err := Open(files)
		took, took2 := time.Since(begin), allocated()-before
		d.slowest, d.largest = max(d.slowest, took), max(d.largest, took2)
		if took > 20*time.Second || took2 > uint64(64<<20+100*d.size) {
			d.t.Errorf("%s: took %v and %d octets", what, took, took2)
		}
		if err != nil {
			d.refused++
			if m != nil || !strings.Contains(err.Error(), file) {
				d.t.Errorf("%s: map %v, error %v, which does not name the file", what, m, err)
			}
			continue
		}
		d.read++
		for _, a := range []string{"192.0.2.1", "2001:db8::1", "255.255.255.255", "::"} {
			m.Lookup(netip.MustParseAddr(a))
		}
	}
}

// allocated is how many octets were allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func TestReadingThatTakesTooLongIsGivenUp(t *testing.T) {
	d, err := newDatabase("x.mmdb", content(t, "GeoIP2-City", record{"192.0.2.0/24", moscow()}))
	if err != nil {
		t.Fatal(err)
	}
	d.until = time.Now().Add(-time.Second)
	if _, _, err := d.locations(); err == nil || !strings.Contains(err.Error(), "takes longer than 5m") {
		t.Errorf("error %v", err)
	}
}
