package rpki

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDamagedFileIsReadOrRefused flips bits and cuts off the end of what a validator wrote. What can be read makes sense.
func TestDamagedFileIsReadOrRefused(t *testing.T) {
	var text bytes.Buffer
	text.WriteString(`{"metadata": {"buildtime": "2026-11-30T08:00:00Z", "counts": [1, {"a": 2}]}, "roas": [`)
	for i := range 12 {
		fmt.Fprintf(&text, `{"asn": %d, "prefix": "203.0.%d.0/24", "maxLength": 24}, {"asn": "AS%d", "prefix": "2001:db8:%x::/48"}, `, 64500+i, i, 64500+i, i)
	}
	text.WriteString(`{"asn": 1, "prefix": "192.0.2.0/24", "ta": "ripe", "expires": 1}]}`)
	good := text.Bytes()
	outcomes := map[string]int{}
	try := func(what string, damaged []byte) {
		vrps, err := Read(bytes.NewReader(damaged))
		if err != nil {
			outcomes["refused"]++
			if err.Error() == "" || vrps != nil {
				t.Errorf("%s: %d VRPs and error %q", what, len(vrps), err)
			}
			return
		}
		outcomes["read"]++
		if len(vrps) > 25 {
			t.Errorf("%s: %d VRPs", what, len(vrps))
		}
		for _, v := range vrps {
			if !v.valid() {
				t.Errorf("%s: %v was read", what, v)
			}
		}
	}
	for i := range good {
		for _, bit := range [2]int{i % 8, (i + 3) % 8} {
			damaged := bytes.Clone(good)
			damaged[i] ^= 1 << bit
			try(fmt.Sprintf("byte %d, bit %d", i, bit), damaged)
		}
	}
	if outcomes["refused"] < 200 || outcomes["read"] < 200 {
		t.Errorf("%v: the test has lost its teeth", outcomes)
	}
	before := outcomes["read"]
	for n := range good {
		try(fmt.Sprintf("the first %d bytes", n), good[:n])
	}
	if outcomes["read"] != before {
		t.Errorf("%d files that were cut off were read", outcomes["read"]-before)
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a long word":            {`{"roas": [{"asn": 1, "ta": "` + strings.Repeat("x", 8<<20), "a value of more than 1048576 octets"},
		"a long word beside":     {`{"metadata": {"x": "` + strings.Repeat("x", 8<<20), "a value of more than 1048576 octets"},
		"a long entry":           {`{"roas": [{"asn": [` + strings.Repeat("1,", 4<<20), "a value of more than 1048576 octets"},
		"deep beside":            {`{"metadata": ` + strings.Repeat("[", 1<<20), "more than 100 lists and objects within each other"},
		"deep":                   {`{"roas": [{"asn": ` + strings.Repeat("[", 1<<19), "exceeded max depth"},
		"a long list beside":     {`{"aspas": [` + strings.Repeat(`{"customer": 1}, `, 1<<18) + `1], "roas": []}`, ""},
		"a word without its end": {`{"roas": [{"asn": "1`, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.text))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestTooManyAreRefused(t *testing.T) {
	full := make([]VRP, maxVRPs) // never touched, so that it takes no memory
	if _, err := readList(json.NewDecoder(strings.NewReader(`[{"asn": 1, "prefix": "192.0.2.0/24"}]`)), full); !errors.Is(err, errTooMany) {
		t.Errorf("error %v", err)
	}
}

func TestOnlyARegularFileOfSomeSizeIsOpened(t *testing.T) {
	pipe, large := filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "large")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(large, nil, 0o600), os.Truncate(large, maxFile+1)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{pipe: "not a regular file", large: "larger than 512 MiB", filepath.Dir(pipe): "not a regular file"} {
		if _, err := ReadFile(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// That very many VRPs are of one prefix must not cost the square of their number.
func TestManyOfOnePrefix(t *testing.T) {
	const many = 50_000
	prefix := netip.MustParsePrefix("203.0.112.0/20")
	vrps := make([]VRP, 0, 2*many)
	for i := range uint32(many) {
		vrps = append(vrps, VRP{prefix, 20, i + 1}, VRP{prefix, 22, i + 1})
	}
	begin := time.Now()
	set := NewSet(append(vrps, vrps...))
	for i := range uint32(many) {
		if got := set.Validate(netip.MustParsePrefix("203.0.112.0/22"), i+1); got != Valid {
			t.Fatalf("AS%d is %v", i+1, got)
		}
	}
	if got := set.Validate(netip.MustParsePrefix("203.0.112.0/23"), 7); got != Invalid || set.Len() != 2*many {
		t.Errorf("longer: %v; %d VRPs", got, set.Len())
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}
