package state

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// content is everything that a store holds.
type content struct {
	Windows, Prefixes, Large map[string]string
	Events                   []string
}

func contentOf(t testing.TB, s *Store) content {
	t.Helper()
	events, err := s.Events(time.Time{}, 0)
	must(t, err)
	return content{mustAll(t, s, "windows"), mustAll(t, s, "prefixes"), mustAll(t, s, "large"), texts(events)}
}

// realFile gives the bytes of a state file with branches, leaves, inline buckets, a value that
// runs over pages and free pages, what it holds, and what it held one write before.
func realFile(t testing.TB) (file []byte, now, before content) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "real")
	s := openGood(t, name)
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 3 {
		windows := map[string][]byte{}
		for i := range 150 {
			value := make([]byte, 20+random.IntN(60))
			for j := range value {
				value[j] = byte('a' + random.IntN(26))
			}
			windows[fmt.Sprintf("192.0.2.%d/web/%d", i, round)] = value
		}
		must(t, s.putAll("windows", windows))
	}
	must(t, s.put("prefixes", "sibtel", []byte("203.0.113.0/24")))
	must(t, s.put("large", "page", bytes.Repeat([]byte("large"), 3000)))
	for i := range 60 {
		must(t, s.append(at(i, fmt.Sprintf("event %d: %s", i, strings.Repeat("word ", i%20)))))
	}
	before = contentOf(t, s)
	must(t, s.put("prefixes", "uraltel", []byte("198.51.100.0/24")))
	now = contentOf(t, s)
	must(t, s.Close())
	file, err := os.ReadFile(name)
	must(t, err)
	return file, now, before
}

var asideNotice = regexp.MustCompile(`^state (\S+): damaged: .+: set aside as (\S+\.damaged-\d{8}T\d{6}Z(?:-\d+)?), begun anew$`)

// survives opens a damaged file: it must open, hold what it held, or what it held before the last
// write, or be set aside with nothing left; and then take writes.
func survives(t *testing.T, what string, damaged []byte, now, before content) (outcome string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state.db")
	must(t, os.WriteFile(file, damaged, 0o600))
	s, notice, err := Open(file)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer s.Close()
	s.db.NoSync = true // no power is cut here, and hundreds of files are written
	got := contentOf(t, s)
	match := asideNotice.FindStringSubmatch(notice)
	switch {
	case match != nil:
		outcome = "set aside"
		if kept, err := os.ReadFile(match[2]); err != nil || !bytes.Equal(kept, damaged) {
			t.Errorf("%s: %s does not hold the damaged file: %v", what, match[2], err)
		}
		if len(got.Windows)+len(got.Prefixes)+len(got.Large)+len(got.Events) != 0 {
			t.Errorf("%s: the new file is not empty", what)
		}
	case notice == "" && cmp.Equal(got, now):
		outcome = "harmless"
	case strings.Contains(notice, "one of its two heads was damaged") && (cmp.Equal(got, now) || cmp.Equal(got, before)):
		outcome = "one head"
	default:
		t.Fatalf("%s: notice %q, and the content is neither the last nor the one before", what, notice)
	}
	reopens(t, what, s, file)
	return outcome
}

// reopens writes into every bucket and looks whether the file is good after it.
func reopens(t *testing.T, what string, s *Store, file string) {
	t.Helper()
	err := errors.Join(
		s.putAll("windows", map[string][]byte{"new": []byte("x")}),
		s.put("prefixes", "new", []byte("x")),
		s.put("large", "new", []byte("x")),
		s.append(at(1000, "new")),
		s.Close())
	if err != nil {
		t.Fatalf("%s: writing to it: %v", what, err)
	}
	s, notice, err := Open(file)
	if err != nil || notice != "" {
		t.Fatalf("%s: after writing to it: notice %q, error %v", what, notice, err)
	}
	defer s.Close()
	if got, err := s.Get("prefixes", "new"); err != nil || string(got) != "x" {
		t.Errorf("%s: what was written after it is %q, %v", what, got, err)
	}
}

func TestSurvivesAChangedByteAnywhere(t *testing.T) {
	file, now, before := realFile(t)
	outcomes := map[string]int{}
	flip := func(offset int, mask byte) {
		damaged := bytes.Clone(file)
		damaged[offset] ^= mask
		outcomes[survives(t, fmt.Sprintf("byte %d xor %#x", offset, mask), damaged, now, before)]++
	}
	h, _, err := latestHead(bytes.NewReader(file), int64(len(file)))
	must(t, err)
	end := int(h.end * h.pageSize) // behind it is nothing but zeros
	for offset := 0; offset < end; offset += 512 {
		flip(offset, 0xff)
	}
	for page := 0; page < end; page += 4096 {
		for offset := 8; offset < 32; offset += 4 { // the head of the page and its first element
			flip(page+offset, 0x01)
		}
	}
	for offset := 0; offset < 2*4096; offset += 4096 {
		for field := 16; field < 16+headSize; field += 8 {
			flip(offset+field, 0x10)
		}
	}
	t.Logf("%d bytes: %v", end, outcomes)
	for _, outcome := range []string{"set aside", "harmless", "one head"} {
		if outcomes[outcome] < 5 {
			t.Errorf("only %d changes were %s: the test has lost its teeth", outcomes[outcome], outcome)
		}
	}
}

// The test above writes files; this one only inspects, and so can change many more bytes. That most
// of them are noticed says that checksums and page checks leave no gap.
func TestNoticesChangedBytesThatAreInUse(t *testing.T) {
	file, _, _ := realFile(t)
	used, noticed := 0, 0
	for offset := 0; offset < len(file); offset += 13 {
		if file[offset] == 0 { // mostly the unused rest of a page
			continue
		}
		file[offset] ^= 0x20
		used++
		switch _, err := inspect(bytes.NewReader(file), int64(len(file))); {
		case errors.Is(err, errDamaged):
			noticed++
		case err != nil:
			t.Fatalf("byte %d: %v", offset, err)
		}
		file[offset] ^= 0x20
	}
	t.Logf("%d of %d changed bytes were noticed", noticed, used)
	if noticed < used/2 { // the others are in free pages
		t.Errorf("only %d of %d changed bytes were noticed", noticed, used)
	}
}

// Whatever bbolt leaves behind must pass: to set a good file aside would lose it.
func TestNeverTakesAGoodFileForDamaged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	s := openGood(t, file)
	s.db.NoSync = true
	random := rand.New(rand.NewPCG(5, 6))
	for round := range 60 {
		windows := map[string][]byte{}
		for range random.IntN(1 + random.IntN(1500)) {
			key := strings.Repeat(fmt.Sprint(random.IntN(2000)), 1+random.IntN(8))
			windows[key] = make([]byte, random.IntN(1+random.IntN(300)))
		}
		var events []Event
		for i := range random.IntN(300) {
			events = append(events, at(random.IntN(1000), strings.Repeat("word ", i%9)))
		}
		must(t, s.putAll(fmt.Sprint("windows ", round%3), windows))
		must(t, s.append(events...))
		must(t, s.trim(at(random.IntN(500), "").Time, random.IntN(2000)))
		must(t, s.put("large", fmt.Sprint(random.IntN(5)), make([]byte, random.IntN(100_000))))
		found, err := s.file.Stat()
		must(t, err)
		if torn, err := inspect(s.file, found.Size()); torn || err != nil {
			t.Fatalf("round %d: torn %v, %v", round, torn, err)
		}
	}
}

func TestSurvivesTruncationAnywhere(t *testing.T) {
	file, now, before := realFile(t)
	lengths := []int{1, 10, 16, 79, 80, 81, 1024, 4095, 4096, 4097, 4096 + 79, 8191, 8192, 8193, 16383, 16384, len(file) - 1}
	for length := 512; length < len(file); length += len(file) / 40 {
		lengths = append(lengths, length)
	}
	for _, length := range lengths {
		survives(t, fmt.Sprintf("first %d bytes", length), file[:length], now, before)
	}
}

func TestSurvivesOtherDamage(t *testing.T) {
	file, now, before := realFile(t)
	random := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, len(file))
	for i := range noise {
		noise[i] = byte(random.IntN(256))
	}
	edit := func(do func([]byte) []byte) []byte { return do(bytes.Clone(file)) }
	cases := map[string][]byte{
		"noise":              noise,
		"zeros":              make([]byte, len(file)),
		"text":               []byte("server: {listen: [127.0.0.1:5353]}\n"),
		"heads and noise":    append(bytes.Clone(file[:8192]), noise[8192:]...),
		"heads and zeros":    edit(func(b []byte) []byte { clear(b[8192:]); return b }),
		"first page lost":    edit(func(b []byte) []byte { clear(b[:4096]); return b }),
		"second page lost":   edit(func(b []byte) []byte { clear(b[4096:8192]); return b }),
		"longer than needed": append(bytes.Clone(file), noise...),
		"pages exchanged": edit(func(b []byte) []byte {
			page := bytes.Clone(b[8192:12288])
			copy(b[8192:], b[16384:20480])
			copy(b[16384:], page)
			return b
		}),
	}
	for what, damaged := range cases {
		t.Run(what, func(t *testing.T) { survives(t, what, damaged, now, before) })
	}
}

// A page that is its own child makes bbolt recurse until the stack is full, which ends a process
// for good: no recover helps.
func TestSurvivesAPageThatIsItsOwnChild(t *testing.T) {
	file, now, before := realFile(t)
	branches := 0
	for id := uint64(2); id < uint64(len(file)/4096); id++ {
		page := file[id*4096 : (id+1)*4096]
		if order.Uint64(page) != id || order.Uint16(page[8:]) != branchPage {
			continue
		}
		branches++
		damaged := bytes.Clone(file)
		order.PutUint64(damaged[id*4096+pageHead+8:], id)
		survives(t, fmt.Sprintf("branch page %d", id), damaged, now, before)
	}
	if branches == 0 {
		t.Error("the file has no branch page")
	}
}

func TestDamagedFilesDoNotReplaceEachOther(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "state.db")
	for i := range 3 {
		must(t, os.WriteFile(file, fmt.Appendf(nil, "damaged %d", i), 0o600))
		s, notice, err := Open(file)
		if err != nil || !asideNotice.MatchString(notice) {
			t.Fatalf("notice %q, error %v", notice, err)
		}
		must(t, s.Close())
	}
	if found, err := filepath.Glob(file + ".damaged-*"); err != nil || len(found) != 3 {
		t.Errorf("set aside: %v, %v; want 3 files", found, err)
	}
}

func TestDamageWhileOpenIsAnErrorOfEveryCall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	good, _, _ := realFile(t)
	damages := map[string]func() error{
		"truncated": func() error { return os.Truncate(file, 8192) },
		"emptied":   func() error { return os.Truncate(file, 0) },
		"overwritten": func() error {
			f, err := os.OpenFile(file, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt(bytes.Repeat([]byte{0xff}, len(good)-8192), 8192)
			return errors.Join(err, f.Close())
		},
	}
	for what, damage := range damages {
		t.Run(what, func(t *testing.T) {
			must(t, os.WriteFile(file, good, 0o600))
			s := openGood(t, file)
			must(t, damage())
			_, allErr := s.All("windows")
			_, getErr := s.Get("prefixes", "sibtel")
			_, eventsErr := s.Events(time.Time{}, 0)
			for call, err := range map[string]error{
				"All": allErr, "Get": getErr, "Events": eventsErr,
				"Put": s.put("windows", "a", nil), "PutAll": s.putAll("windows", nil),
				"Append": s.append(at(1, "x")), "Trim": s.trim(start, 1),
			} {
				if !errors.Is(err, errDamaged) {
					t.Errorf("%s: error %v", call, err)
				}
			}
			must(t, s.Close())
			s, notice, err := Open(file)
			if err != nil || what != "emptied" && notice == "" {
				t.Fatalf("opened again: notice %q, error %v", notice, err)
			}
			must(t, s.Close())
		})
	}
}

func TestRefusesAFileThatIsNotOurs(t *testing.T) {
	write := func(t *testing.T, do func(*bolt.Tx) error) string {
		file := filepath.Join(t.TempDir(), "state.db")
		db, err := bolt.Open(file, 0o600, nil)
		must(t, err)
		must(t, db.Update(do))
		must(t, db.Close())
		return file
	}
	newer := write(t, func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte(journalBucket))
		must(t, err)
		b, err := tx.CreateBucket([]byte(schemaBucket))
		must(t, err)
		nested, err := tx.CreateBucket([]byte("bucket of buckets, say"))
		must(t, err)
		_, err = nested.CreateBucket([]byte("nested"))
		must(t, err)
		return put(b, schemaBucket, []byte(versionKey), []byte("2"))
	})
	foreign := write(t, func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("theirs"))
		must(t, err)
		return b.Put([]byte("a"), []byte("b"))
	})
	cases := []struct {
		name, file string
		is         error
		want       string
	}{
		{"newer", newer, ErrNewer, "written by a newer gslb: schema version 2, and this one knows 1"},
		{"foreign", foreign, ErrForeign, "a database of another program"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before, err := os.ReadFile(c.file)
			must(t, err)
			_, _, err = Open(c.file)
			if want := "state " + c.file + ": " + c.want; !errors.Is(err, c.is) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if after, err := os.ReadFile(c.file); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was touched: %v", err)
			}
		})
	}
}

func TestGoesOnAfterAFirstStartThatWasCutShort(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	db, err := bolt.Open(file, 0o600, nil)
	must(t, err)
	must(t, db.Close())
	s := openGood(t, file)
	must(t, s.append(at(1, "x")))
}

// FuzzInspect proves that bbolt can be trusted with whatever inspect lets through.
func FuzzInspect(f *testing.F) {
	file, _, _ := realFile(f)
	f.Add(uint32(0), uint64(0), uint32(9000), uint64(0))
	f.Add(uint32(8192+12), uint64(1), uint32(8192+8), uint64(3))
	f.Add(uint32(4096+16+16), uint64(0xff), uint32(16+40), uint64(0xff00))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, at1 uint32, value1 uint64, at2 uint32, value2 uint64) {
		damaged := bytes.Clone(file)
		order.PutUint64(damaged[int(at1)%(len(damaged)-8):], value1)
		order.PutUint64(damaged[int(at2)%(len(damaged)-8):], value2)
		for page := 0; page < 2; page++ { // heads that are good, but say something else
			resum(damaged[page*4096+pageHead:])
		}
		if _, err := inspect(bytes.NewReader(damaged), int64(len(damaged))); err != nil {
			return
		}
		name := filepath.Join(folder, "state.db")
		must(t, os.WriteFile(name, damaged, 0o600))
		s, notice, err := Open(name)
		if err != nil || strings.Contains(notice, "set aside") {
			t.Fatalf("Open: notice %q, error %v", notice, err)
		}
		defer s.Close()
		contentOf(t, s)
		reopens(t, "let through", s, name)
	})
}

// resum gives a head its right checksum.
func resum(head []byte) {
	sum := fnv.New64a()
	sum.Write(head[:headSize-8])
	order.PutUint64(head[headSize-8:], sum.Sum64())
}
