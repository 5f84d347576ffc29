package sign

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"gslb/config/regular"
	"gslb/dns/zone"
)

// The endings of a key's two files, as BIND names them.
const (
	publicEnding  = ".key"
	privateEnding = ".private"
)

// stampForm is how key files write a moment, in UTC.
const stampForm = "20060102150405"

// maxKeyFile bounds a key file, in bytes: one of RSA with 4096 bits has some 3 KiB.
const maxKeyFile = 64 << 10

// ReadFolder reads the keys of a zone in a folder, by their tags. A folder that is not there has none; files that are
// no keys of the zone disturb nobody.
func ReadFolder(folder string, origin zone.Name) ([]*Key, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var keys []*Key
	var errs []error
	for _, e := range entries {
		base, isKey := strings.CutSuffix(e.Name(), publicEnding)
		if !isKey || !ofZone(base, origin) {
			continue
		}
		k, err := readKey(filepath.Join(folder, base), origin)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b *Key) int { return int(a.tag) - int(b.tag) })
	return keys, errors.Join(errs...)
}

// fileStem is what the names of a zone's key files begin with, but for case. As in BIND, what is no letter, digit, hyphen or
// underscore is written by its number: a zone of RFC 2317 has a slash in its name.
func fileStem(origin zone.Name) string {
	var b strings.Builder
	for n := origin; n != zone.Root; n = n.Parent() {
		for _, c := range []byte(n[1 : 1+n[0]]) {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		b.WriteByte('.')
	}
	return "K" + cmp.Or(b.String(), ".") + "+"
}

// ofZone tells whether a file of a name can be one of the zone's keys. The case of letters in it means nothing.
func ofZone(file string, origin zone.Name) bool {
	stem := fileStem(origin)
	return len(file) >= len(stem) && strings.EqualFold(file[:len(stem)], stem)
}

// readKey reads the two files of a key.
func readKey(path string, origin zone.Name) (*Key, error) {
	text, err := readBounded(path + publicEnding)
	if err != nil {
		return nil, err
	}
	secret, err := readBounded(path + privateEnding)
	if err != nil {
		return nil, err
	}
	k, err := keyOf(text, secret, origin)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	k.path = path
	return k, nil
}

func readBounded(path string) (string, error) {
	text, err := regular.Read(path, maxKeyFile)
	return string(text), err
}

// keyOf makes a key of the texts of its files.
func keyOf(text, secret string, origin zone.Name) (*Key, error) {
	parser := dns.NewZoneParser(strings.NewReader(text), ".", "")
	parser.SetDefaultTTL(0)
	rr, _ := parser.Next()
	public, ok := rr.(*dns.DNSKEY)
	if !ok || parser.Err() != nil {
		return nil, errors.New("its public file has no DNSKEY record")
	}
	owner, err := zone.ParseName(public.Hdr.Name)
	if err != nil || owner != origin {
		return nil, fmt.Errorf("it is a key of %s", public.Hdr.Name)
	}
	switch a := Algorithm(public.Algorithm); {
	case a != RSASHA256 && a != ECDSAP256SHA256 && a != Ed25519:
		return nil, fmt.Errorf("its algorithm %s is not one of rsasha256, ecdsap256sha256, ed25519", strings.ToLower(dns.AlgorithmToString[public.Algorithm]))
	case public.Flags&dns.ZONE == 0 || public.Flags&dns.REVOKE != 0 || public.Protocol != 3:
		return nil, fmt.Errorf("it has flags %d and protocol %d, by which it signs no zone", public.Flags, public.Protocol)
	}
	k := &Key{public: *public, tag: public.KeyTag(), zone: origin}
	if k.data, err = dataOf(public); err != nil {
		return nil, fmt.Errorf("its public file: %w", err)
	}
	if k.private, err = privateOf(public, secret); err != nil {
		return nil, fmt.Errorf("its private file: %w", err)
	}
	return k, k.Times.read(secret)
}

// fields gives the times by the words that stand for them in key files, in their order there.
func (t *Times) fields() []timeField {
	return []timeField{
		{"Created", &t.Created}, {"Publish", &t.Publish}, {"Activate", &t.Activate}, {"Inactive", &t.Inactive},
		{"Delete", &t.Delete}, {"SyncPublish", &t.SyncPublish}, {"SyncDelete", &t.SyncDelete},
	}
}

type timeField struct {
	word string
	at   *time.Time
}

// read takes the times from the text of a private file.
func (t *Times) read(text string) error {
	for line := range strings.Lines(text) {
		word, value, _ := strings.Cut(line, ":")
		for _, f := range t.fields() {
			if word != f.word {
				continue
			}
			at, err := time.Parse(stampForm, strings.TrimSpace(value))
			if err != nil {
				return fmt.Errorf("its private file: %s is not a time such as 20261130120000", strings.TrimSpace(line))
			}
			*f.at = at
		}
	}
	return nil
}

// write gives the lines of the times, each behind a prefix.
func (t *Times) write(prefix string) string {
	var b strings.Builder
	for _, f := range t.fields() {
		if !f.at.IsZero() {
			fmt.Fprintf(&b, "%s%s: %s\n", prefix, f.word, f.at.UTC().Format(stampForm))
		}
	}
	return b.String()
}

// withTimes is the text of a private file with other times.
func withTimes(text string, t *Times) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(line, ":")
		if !slices.ContainsFunc(t.fields(), func(f timeField) bool { return f.word == word }) {
			b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String() + t.write("")
}
