package sign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"

	"gslb/dns/zone"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func name(t testing.TB, s string) zone.Name {
	t.Helper()
	n, err := zone.ParseName(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// newKey makes a key in a folder.
func newKey(t testing.TB, folder string, a Algorithm, entryPoint bool, times Times) *Key {
	t.Helper()
	k, err := Make{Folder: folder, Zone: name(t, "ok.test"), Algorithm: a, EntryPoint: entryPoint, Times: times}.Key()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The files in testdata were made by dnssec-keygen of BIND 9.18.
func TestReadsTheKeysThatBINDMakes(t *testing.T) {
	keys, err := ReadFolder("testdata/bind", name(t, "ok.test"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range keys {
		got = append(got, fmt.Sprintf("%d %s %t %s", k.Tag(), k.Algorithm(), k.EntryPoint(), k.Times.Inactive.Format("2006")))
	}
	want := []string{
		"6794 ed25519 false 2027", "22655 ecdsap256sha256 true 0001", "23838 rsasha256 false 0001",
		"31400 ed25519 true 0001", "38210 ecdsap256sha256 false 2027",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, k := range keys {
		r := &ring{origin: k.zone}
		set := zone.NewRRset(dns.TypeTXT, 60, "\x01x")
		z, _ := zone.Build(zone.Spec{Origin: "ok.test", TTL: 60, NS: []string{"ns.example."}})
		s, err := r.sign([]*Key{k}, subject{k.zone, dns.TypeTXT, 60, z.AppendCanonical(nil, k.zone, set)}, newLifetime(Rules{Validity: time.Hour}), noon)
		if err != nil {
			t.Fatal(err)
		}
		sig := z.RecordsAt(k.zone, s.Records())[0].(*dns.RRSIG)
		if err := sig.Verify(&k.public, z.RecordsAt(k.zone, set)); err != nil {
			t.Errorf("%s: %v", k.Algorithm(), err)
		}
	}
}

func TestKeysAreForNobodyElseToRead(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "keys")
	k := newKey(t, folder, ECDSAP256SHA256, true, Times{Created: noon, Publish: noon})
	for path, want := range map[string]os.FileMode{folder: 0o700 | os.ModeDir, k.Path() + ".private": 0o600, k.Path() + ".key": 0o644} {
		about, err := os.Stat(path)
		if err != nil || about.Mode() != want {
			t.Errorf("%s: %v, %v", path, about.Mode(), err)
		}
	}
	again := k.Times
	again.Inactive, again.Delete = noon.Add(time.Hour), noon.Add(2*time.Hour)
	if err := k.SetTimes(again); err != nil {
		t.Fatal(err)
	}
	keys, err := ReadFolder(folder, k.zone)
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	if d := cmp.Diff(again, keys[0].Times); d != "" || keys[0].data != k.data {
		t.Errorf("times: %s", d)
	}
	if err := k.SetTimes(Times{Created: noon, Publish: noon}); err != nil {
		t.Fatal(err)
	}
	if keys, err = ReadFolder(folder, k.zone); err != nil || len(keys) != 1 || keys[0].Times != k.Times {
		t.Errorf("times that were taken back: %+v, %v", keys, err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".key-*")); len(left) > 0 {
		t.Errorf("%s is left", left)
	}
}

// Tools leave out the class and the TTL of the record, or write both.
func TestReadsKeysHoweverTheirRecordIsWritten(t *testing.T) {
	k := newKey(t, t.TempDir(), Ed25519, true, Times{Created: noon, Publish: noon})
	secret, err := os.ReadFile(k.Path() + ".private")
	if err != nil {
		t.Fatal(err)
	}
	data := strings.TrimPrefix(k.public.String(), k.public.Hdr.String())
	for _, head := range []string{"ok.test. DNSKEY ", "ok.test. IN DNSKEY ", "OK.test. 3600 IN DNSKEY ", "ok.test. 3600 DNSKEY "} {
		if got, err := keyOf("; a key\n"+head+data+"\n", string(secret), k.zone); err != nil || got.data != k.data {
			t.Errorf("%s: %v", head, err)
		}
	}
}

// A zone of RFC 2317 has a slash in its name, and any octet can stand in one: a file's name holds neither.
func TestKeysOfZonesWithOddNamesAreFound(t *testing.T) {
	for _, tc := range []struct{ zone, stem string }{
		{"ok.test", "Kok.test.+013+"},
		{"0/25.2.0.192.in-addr.arpa", "K0%2F25.2.0.192.in-addr.arpa.+013+"},
		{`A-_\.b\000*.test`, "Ka-_%2Eb%00%2A.test.+013+"},
		{".", "K.+013+"},
	} {
		folder := t.TempDir()
		k, err := Make{Folder: folder, Zone: name(t, tc.zone), Algorithm: ECDSAP256SHA256, EntryPoint: true, Times: Times{Created: noon, Publish: noon}}.Key()
		if err != nil {
			t.Errorf("%s: %v", tc.zone, err)
			continue
		}
		if !strings.HasPrefix(filepath.Base(k.Path()), tc.stem) {
			t.Errorf("%s: the key is in %s, want %s…", tc.zone, filepath.Base(k.Path()), tc.stem)
		}
		if keys, err := ReadFolder(folder, k.zone); err != nil || len(keys) != 1 || keys[0].data != k.data {
			t.Errorf("%s: found %v, %v", tc.zone, keys, err)
		}
		if listing(folder, k.zone) == "" {
			t.Errorf("%s: a change of its files would not be seen", tc.zone)
		}
		if other, err := ReadFolder(folder, name(t, "k.test")); err != nil || len(other) > 0 {
			t.Errorf("another zone has %v, %v", other, err)
		}
	}
}

// Whoever rolls keys over as root does it for a server without rights.
func TestKeysBelongToWhomTheFolderDoes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	const nobody = 65534
	folder := t.TempDir()
	if err := os.Chown(folder, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	k := newKey(t, folder, ECDSAP256SHA256, true, Times{Created: noon, Publish: noon})
	for range 2 {
		for _, ending := range []string{".private", ".key"} {
			about, err := os.Stat(k.Path() + ending)
			if err != nil {
				t.Fatal(err)
			}
			if owner := about.Sys().(*syscall.Stat_t); owner.Uid != nobody || owner.Gid != nobody {
				t.Errorf("%s is of user %d and group %d", ending, owner.Uid, owner.Gid)
			}
		}
		if err := k.SetTimes(k.Times); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTellsWhatIsWrongWithAKey(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile("testdata/bind/" + path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const good, other = "Kok.test.+013+22655", "Kok.test.+013+38210"
	for _, tc := range []struct{ name, public, private, origin, want string }{
		{"another's private part", read(good + ".key"), read(other + ".private"), "ok.test", "its private file: it is the private part of another key"},
		{"no private part", read(good + ".key"), "", "ok.test", "its private file: it is not a private key"},
		{"no record", "; nothing\n", read(good + ".private"), "ok.test", "its public file has no DNSKEY record"},
		{"another zone", read(good + ".key"), read(good + ".private"), "no.test", "it is a key of ok.test."},
		{"an old algorithm", strings.Replace(read(good+".key"), "257 3 13", "257 3 5", 1), read(good + ".private"), "ok.test", "its algorithm rsasha1 is not one of"},
		{"revoked", strings.Replace(read(good+".key"), "257 3 13", "385 3 13", 1), read(good + ".private"), "ok.test", "it has flags 385 and protocol 3"},
		{"a time that is none", read(good + ".key"), read(good+".private") + "Inactive: soon\n", "ok.test", "Inactive: soon is not a time"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := keyOf(tc.public, tc.private, name(t, tc.origin)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func FuzzKeyFiles(f *testing.F) {
	for _, path := range []string{"Kok.test.+013+22655", "Kok.test.+008+23838", "Kok.test.+015+31400"} {
		public, err := os.ReadFile("testdata/bind/" + path + ".key")
		private, err2 := os.ReadFile("testdata/bind/" + path + ".private")
		if err != nil || err2 != nil {
			f.Fatal(err, err2)
		}
		f.Add(string(public), string(private))
	}
	origin := name(f, "ok.test")
	f.Fuzz(func(t *testing.T, public, private string) {
		k, err := keyOf(public, private, origin)
		if err == nil && (k.private == nil || k.data == "") {
			t.Errorf("half a key of %q, %q", public, private)
		}
	})
}

// DS records are those that BIND's dnssec-dsfromkey prints.
func TestDS(t *testing.T) {
	keys, err := ReadFolder("testdata/bind", name(t, "ok.test"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		for _, d := range []Digest{SHA256, SHA384} {
			_, got := k.DS(d)
			ds := k.public.ToDS(uint8(d))
			if want := fmt.Sprintf("%d %d %d %s", ds.KeyTag, ds.Algorithm, ds.DigestType, strings.ToUpper(ds.Digest)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}

// roles shows what the keys of a ring do, by the words that stand for them.
func roles(r *ring, words map[*Key]string) string {
	list := func(keys []*Key) string {
		var all []string
		for _, k := range keys {
			all = append(all, words[k])
		}
		return strings.Join(all, ",")
	}
	return fmt.Sprintf("shown=%s data=%s keys=%s cds=%s", list(r.shown), list(r.data), list(r.shows), list(r.synced))
}

func TestKeysDoWhatTheirTimesSay(t *testing.T) {
	folder := t.TempDir()
	at := func(hours int) time.Time { return noon.Add(time.Duration(hours) * time.Hour) }
	key := func(entryPoint bool, times Times) *Key {
		return newKey(t, folder, Ed25519, entryPoint, times)
	}
	csk := key(true, Times{Publish: at(0), Activate: at(0)})
	old := key(true, Times{Publish: at(-9), Activate: at(-9), Inactive: at(5), Delete: at(9)})
	next := key(true, Times{Publish: at(1), Activate: at(3), SyncPublish: at(3)})
	ksk := key(true, Times{Publish: at(0), Activate: at(0)})
	zsk := key(false, Times{Publish: at(0), Activate: at(0), Inactive: at(4), Delete: at(6)})
	zsk2 := key(false, Times{Publish: at(2), Activate: at(4)})
	timeless := key(true, Times{})
	words := map[*Key]string{csk: "csk", old: "old", next: "next", ksk: "ksk", zsk: "zsk", zsk2: "zsk2", timeless: "timeless"}
	for _, tc := range []struct {
		name string
		keys []*Key
		now  int
		want string
	}{
		{"a CSK", []*Key{csk}, 0, "shown=csk data=csk keys=csk cds=csk"},
		{"a key without times", []*Key{timeless}, 0, "shown=timeless data=timeless keys=timeless cds=timeless"},
		{"not yet", []*Key{csk}, -1, "no key may sign the zone at this time"},
		{"KSK and ZSK", []*Key{ksk, zsk}, 0, "shown=ksk,zsk data=zsk keys=ksk cds=ksk"},
		{"the ZSK that comes is shown before", []*Key{ksk, zsk, zsk2}, 3, "shown=ksk,zsk,zsk2 data=zsk keys=ksk cds=ksk"},
		{"it signs, and the one that goes is still shown", []*Key{ksk, zsk, zsk2}, 4, "shown=ksk,zsk,zsk2 data=zsk2 keys=ksk cds=ksk"},
		{"the one that went is gone", []*Key{ksk, zsk, zsk2}, 6, "shown=ksk,zsk2 data=zsk2 keys=ksk cds=ksk"},
		{"the CSK that comes signs the keys first", []*Key{old, next}, 2, "shown=old,next data=old keys=old,next cds=old"},
		{"then the zone, and the parent is told", []*Key{old, next}, 3, "shown=old,next data=next keys=old,next cds=old,next"},
		{"the one that goes signs no more", []*Key{old, next}, 5, "shown=old,next data=next keys=next cds=next"},
		{"and is gone", []*Key{old, next}, 9, "shown=next data=next keys=next cds=next"},
		{"only the ZSK is left", []*Key{zsk}, 0, "shown=zsk data=zsk keys=zsk cds="},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			if r, err := newRing(tc.keys, csk.zone, at(tc.now)); err != nil {
				got = err.Error()
			} else {
				got = roles(r, words)
			}
			if got != tc.want {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
		})
	}
	if r, _ := newRing([]*Key{old, next}, csk.zone, at(3)); !r.until.Equal(at(5)) {
		t.Errorf("it changes at %v, want %v", r.until, at(5))
	}
}
