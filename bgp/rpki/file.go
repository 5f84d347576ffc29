package rpki

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// maxFile bounds a VRP file: the whole of the Internet takes some 80 MB.
const maxFile = 512 << 20

// ReadFile reads the VRPs of a JSON file in the form that validators write (rpki-client, Routinator, FORT,
// OctoRPKI): {"roas": [{"asn": "AS64501" or 64501, "prefix": "203.0.113.0/24", "maxLength": 24}]}.
func ReadFile(name string) ([]VRP, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	vrps, err := Read(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return vrps, nil
}

// roa is one entry of a VRP file.
type roa struct {
	ASN       json.RawMessage `json:"asn"`
	Prefix    netip.Prefix    `json:"prefix"`
	MaxLength *int            `json:"maxLength"`
}

// Read reads VRPs as ReadFile does, one at a time: memory is needed for them only. An entry that makes
// no sense is an error: half a list would call good routes invalid.
func Read(r io.Reader) ([]VRP, error) {
	d := json.NewDecoder(r)
	if err := enter(d, json.Delim('{')); err != nil {
		return nil, err
	}
	var vrps []VRP
	found := false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		if key != "roas" {
			var skipped json.RawMessage
			if err := d.Decode(&skipped); err != nil {
				return nil, err
			}
			continue
		}
		found = true
		if vrps, err = readList(d, vrps); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if !found {
		return nil, errors.New(`there is no list "roas"`)
	}
	return vrps, nil
}

func readList(d *json.Decoder, vrps []VRP) ([]VRP, error) {
	if err := enter(d, json.Delim('[')); err != nil {
		return nil, err
	}
	for n := 1; d.More(); n++ {
		var entry roa
		if err := d.Decode(&entry); err != nil {
			return nil, fmt.Errorf("entry %d: %w", n, err)
		}
		v, err := entry.vrp()
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", n, err)
		}
		vrps = append(vrps, v)
	}
	_, err := d.Token()
	return vrps, err
}

func enter(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if err == nil && t != want {
		err = fmt.Errorf("%v stands where %v should", t, want)
	}
	return err
}

func (e roa) vrp() (VRP, error) {
	text := strings.TrimPrefix(strings.Trim(string(e.ASN), `"`), "AS")
	asn, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return VRP{}, fmt.Errorf("%s is no ASN", cut(string(e.ASN)))
	}
	v := VRP{Prefix: e.Prefix, MaxLength: e.Prefix.Bits(), ASN: uint32(asn)}
	if e.MaxLength != nil {
		v.MaxLength = *e.MaxLength
	}
	if !v.valid() {
		return VRP{}, fmt.Errorf("%s up to /%d is no prefix with a length inside it", v.Prefix, v.MaxLength)
	}
	return v, nil
}

func cut(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
