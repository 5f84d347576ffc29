package zone

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb/test/golden"
)

// TestTellsEveryMistake builds each zone of the gallery and compares what is told of it. The keys of a
// zone stand in its file as comments: ";; ns ns1 ns2", ";; soa MNAME RNAME", ";; service NAME".
func TestTellsEveryMistake(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.zone")
	if err != nil || len(files) == 0 {
		t.Fatalf("gallery: %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".zone"), func(t *testing.T) {
			spec := readSpec(t, file)
			z, problems := Build(spec)
			fatal := false
			for _, p := range problems {
				fatal = fatal || !p.Warning
			}
			if fatal != (z == nil) {
				t.Errorf("zone built: %t, with an error: %t", z != nil, fatal)
			}
			golden.Compare(t, strings.TrimSuffix(file, ".zone")+".txt", tell(spec, problems))
		})
	}
}

// readSpec reads a zone file with its keys.
func readSpec(t *testing.T, file string) Spec {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{Origin: "ok.test", TTL: 3600, Texts: []Text{{File: filepath.Base(file), Line: 1, Text: string(text)}}}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != ";;" {
			continue
		}
		switch words[1] {
		case "ns":
			s.NS = words[2:]
		case "soa":
			s.SOA = &SOA{MName: words[2], RName: words[3], Auto: true, Refresh: 1, Retry: 2, Expire: 3, Minimum: 4}
		case "service":
			s.Services = append(s.Services, addressService(words[2], len(s.Services)))
		default:
			t.Fatalf("unknown key in %s: %s", file, line)
		}
	}
	return s
}

func addressService(name string, index int) ServiceName {
	return ServiceName{Name: name, Service: index, Pinned: "portal", Gives: []uint16{dns.TypeA, dns.TypeAAAA}}
}

// tell prints problems as an operator would read them.
func tell(s Spec, problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		place := "key " + p.Key
		if p.Text >= 0 {
			place = fmt.Sprintf("%s:%d:%d", s.Texts[p.Text].File, p.Line, p.Column)
		}
		kind := "error"
		if p.Warning {
			kind = "warning"
		}
		fmt.Fprintf(&b, "%s: %s: %s\n", place, kind, p.Message)
	}
	return b.String()
}
