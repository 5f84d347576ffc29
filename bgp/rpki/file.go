package rpki

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"gslb/config/regular"
)

// Bounds of what is taken from a file or a cache. The whole of the Internet has some 800,000 VRPs, of which a file
// takes 80 MB.
const (
	maxFile  = 512 << 20
	maxVRPs  = 2_000_000
	maxValue = 1 << 20 // octets of one entry, or of one word of what is passed over
	maxDepth = 100     // of what is passed over
)

// errTooMany says that there are more VRPs than the Internet can have.
var errTooMany = fmt.Errorf("more than %d VRPs", maxVRPs)

// ReadFile reads the VRPs of a JSON file in the form that validators write (rpki-client, Routinator, FORT,
// OctoRPKI): {"roas": [{"asn": "AS64501" or 64501, "prefix": "203.0.113.0/24", "maxLength": 24}]}.
func ReadFile(name string) ([]VRP, error) {
	f, err := regular.Open(name, maxFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	vrps, err := Read(io.LimitReader(f, maxFile)) // it may have grown
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

// ration reads for a decoder, which keeps in memory all that it reads ahead of what it has given: no more than maxValue.
type ration struct {
	from  io.Reader
	read  int64
	given func() int64
}

func (r *ration) Read(p []byte) (int, error) {
	if r.read-r.given() > maxValue {
		return 0, fmt.Errorf("a value of more than %d octets", maxValue)
	}
	n, err := r.from.Read(p)
	r.read += int64(n)
	return n, err
}

// Read reads VRPs as ReadFile does, one at a time: memory is needed for them only. An entry that makes
// no sense is an error: half a list would call good routes invalid.
func Read(from io.Reader) ([]VRP, error) {
	text := &ration{from: from}
	d := json.NewDecoder(text)
	text.given = d.InputOffset
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
			if err := pass(d); err != nil {
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
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the end of the list") // of two writers, or of a longer file before
	}
	return vrps, nil
}

// pass passes over one value.
func pass(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > maxDepth {
			return fmt.Errorf("more than %d lists and objects within each other", maxDepth)
		}
		if depth == 0 {
			return nil
		}
	}
}

func readList(d *json.Decoder, vrps []VRP) ([]VRP, error) {
	if err := enter(d, json.Delim('[')); err != nil {
		return nil, err
	}
	for n := 1; d.More(); n++ {
		if len(vrps) == maxVRPs {
			return nil, errTooMany
		}
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
