package zone

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"gslb/test/golden"
	"gslb/test/rig"
)

// formsZone is the zone of the types that are read here.
func formsZone(t *testing.T) *Zone {
	t.Helper()
	text, err := os.ReadFile("testdata/good/forms.zone")
	if err != nil {
		t.Fatal(err)
	}
	return build(t, fromText(string(text)))
}

// octets is every record of a zone but those of its apex, by its name and type.
func octets(z *Zone) map[string]string {
	found := map[string]string{}
	for n, node := range z.All() {
		for set := range node.Sets() {
			if n == z.origin {
				continue
			}
			data, _ := nextData(set.wire)
			found[n.String()] = fmt.Sprintf("%d %d %s", set.Type, set.TTL, hex.EncodeToString([]byte(data)))
		}
	}
	return found
}

func TestReadsTheFormsOfRareTypes(t *testing.T) {
	found := octets(formsZone(t))
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintln(&b, name, found[name])
	}
	golden.Compare(t, "testdata/good/forms.txt", b.String())
}

// TestReadsTheFormsOfRareTypesAsBINDDoes has BIND compile the zone, into its raw format: a header of 24 octets, and RRsets.
func TestReadsTheFormsOfRareTypesAsBINDDoes(t *testing.T) {
	program := rig.Installed(t, "named-compilezone", "bind9-utils")
	raw := filepath.Join(t.TempDir(), "raw")
	args := []string{"-i", "none", "-k", "ignore", "-F", "raw", "-o", raw, "ok.test", "testdata/good/forms.zone"}
	if said, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	b, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	const header = 24
	for b = b[header:]; len(b) > 0; {
		set := b[4:binary.BigEndian.Uint32(b)] // the length counts itself
		b = b[len(set)+4:]
		rrtype, ttl := binary.BigEndian.Uint16(set[2:]), binary.BigEndian.Uint32(set[6:])
		name, n, err := nameFromWire(set[16:])
		if err != nil {
			t.Fatal(err)
		}
		if data := set[16+n:]; name != "\x02ok\x04test\x00" {
			want[name.String()] = fmt.Sprintf("%d %d %s", rrtype, ttl, hex.EncodeToString(data[2:2+binary.BigEndian.Uint16(data)]))
		}
	}
	if diff := cmp.Diff(want, octets(formsZone(t))); diff != "" {
		t.Errorf("BIND and we (-BIND +we):\n%s", diff)
	}
}

// What secondaries get is what is answered.
func TestGivesRecordsAsTheyAreSent(t *testing.T) {
	z := formsZone(t)
	for n, node := range z.All() {
		for set := range node.Sets() {
			data, _ := nextData(set.wire)
			want := z.appendFull(nil, set.Type, data)
			b := make([]byte, 1<<16)
			for _, rr := range z.Records(node, set)[:1] {
				end, err := dns.PackRR(rr, b, 0, nil, false)
				if got := b[min(end, len(n)+10):end]; err != nil || string(got) != string(want) {
					t.Errorf("%s %s: %x (%v), want %x", n, TypeWord(set.Type), got, err, want)
				}
			}
		}
	}
}
