package config

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNetworksOfAFileJoinThoseOfTheRule(t *testing.T) {
	c, problems := Load("testdata/good/networks-file.yaml")
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Maps[0].Rules[0].Networks {
		got = append(got, p.String())
	}
	if diff := cmp.Diff([]string{"192.0.2.0/24", "203.0.113.0/24", "2001:db8::/32"}, got); diff != "" {
		t.Errorf("networks (-want +got):\n%s", diff)
	}
	if none := c.Maps[0].Rules[1].Networks; none == nil || len(none) > 0 {
		t.Errorf("the rule with an empty file has the networks %v, nil means that it fits anybody", none)
	}
	if !slices.Contains(c.Files, "testdata/good/networks.txt") {
		t.Errorf("files %v: a file of networks is not watched", c.Files)
	}
}

func TestHashCoversTheFilesOfNetworks(t *testing.T) {
	hash := func(networks string) string {
		const text = "datacenters: {msk: {}}\nmaps: {world: [{networks_file: n.txt, to: [msk]}]}\n"
		c, problems := ParseWith(func(string) (string, error) { return networks, nil }, Source{File: "gslb.yaml", Text: []byte(text)})
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		return c.Hash()
	}
	if hash("192.0.2.0/24") == hash("192.0.2.0/25") {
		t.Error("other networks have the same hash")
	}
	if hash("192.0.2.0/24\n198.51.100.0/24") != hash("198.51.100.0/24 # again\n192.0.2.0/24\n198.51.100.0/24\n") {
		t.Error("the same networks in another order have another hash")
	}
}

func TestNetworksFileThatIsTooLargeIsRefused(t *testing.T) {
	read := func(string) (string, error) { return strings.Repeat(" ", maxNetworksFile+1), nil }
	_, problems := readNetworks("maps.m[0].networks_file", "n.txt", Pos{File: "gslb.yaml", Line: 3, Column: 7}, read)
	if got, want := told(problems), "gslb.yaml:3:7: maps.m[0].networks_file: n.txt is larger than 64 MiB\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzNetworks reads any text as a file of networks.
func FuzzNetworks(f *testing.F) {
	for _, text := range []string{"", "192.0.2.0/24\r\n# a\n\n2001:db8::/32", "192.0.2.1", "10.0.0.0/8, 11.0.0.0/8", "\ufeff0.0.0.0/0", "::ffff:1.2.3.0/120", "fe80::%a/64", "1.1.1.1/08"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		networks, problems := parseNetworks("path", "file", text)
		lines := strings.Count(text, "\n") + 1
		for _, p := range problems {
			if p.Message == "" || p.Pos.Line < 1 || p.Pos.Line > lines || p.Pos.Column < 1 || p.Pos.Column > len(text)+1 {
				t.Fatalf("problem %+v in a text of %d lines", p, lines)
			}
		}
		var again []string
		for _, p := range networks {
			if p != p.Masked() || !p.IsValid() {
				t.Fatalf("network %s", p)
			}
			again = append(again, p.String())
		}
		twin, faults := parseNetworks("path", "file", strings.Join(again, "\n"))
		if len(faults) > 0 || !slices.EqualFunc(twin, networks, func(a, b netip.Prefix) bool { return a == b }) {
			t.Fatalf("%v written and read again is %v %v", networks, twin, faults)
		}
	})
}

func TestEmptyFileOfNetworksIsToldOf(t *testing.T) {
	for rule, want := range map[string]string{
		"{networks_file: n.txt, to: [msk]}":                           "gslb.yaml:2:17: warning: maps.world[0].networks_file: n.txt holds no networks: the rule fits nobody\n",
		"{networks: [192.0.2.0/24], networks_file: n.txt, to: [msk]}": "gslb.yaml:2:43: warning: maps.world[0].networks_file: n.txt holds no networks\n",
	} {
		text := "datacenters: {msk: {}}\nmaps: {world: [" + rule + "]}\n"
		_, problems := ParseWith(func(string) (string, error) { return "# all left\n", nil }, Source{File: "gslb.yaml", Text: []byte(text)})
		if got := told(problems); got != want {
			t.Errorf("%s: got %q, want %q", rule, got, want)
		}
	}
}

// A list of networks in which a bit is flipped, or that is cut off, is read, or refused with the line.
func TestDamagedFileOfNetworksIsReadOrRefused(t *testing.T) {
	good := "# partners\n192.0.2.0/24\n2001:db8::/32 # six\n198.51.100.7/32\n10.0.0.0/8\n"
	read, refused := 0, 0
	try := func(text string) {
		networks, problems := parseNetworks("path", "n.txt", text)
		if len(problems) == 0 {
			read++
		} else {
			refused++
		}
		if len(networks) > 8 || len(problems) > 8 {
			t.Errorf("%q: %d networks, %d problems", text, len(networks), len(problems))
		}
		for _, p := range problems {
			if p.Pos.File != "n.txt" || p.Pos.Line == 0 || p.Message == "" {
				t.Errorf("%q: problem %v", text, p)
			}
		}
	}
	for i := range good {
		for bit := range 8 {
			damaged := []byte(good)
			damaged[i] ^= 1 << bit
			try(string(damaged))
		}
		try(good[:i])
	}
	if read < 100 || refused < 100 {
		t.Errorf("%d read, %d refused: the test has lost its teeth", read, refused)
	}
}
