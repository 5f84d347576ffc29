package geo

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// records is a log that tests wait for.
type records chan slog.Record

func (r records) Enabled(context.Context, slog.Level) bool { return true }
func (r records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r records) WithGroup(string) slog.Handler            { return r }
func (r records) Handle(_ context.Context, record slog.Record) error {
	r <- record
	return nil
}

// await gives the next line of the log, with its attributes.
func (r records) await(t *testing.T) string {
	t.Helper()
	select {
	case record := <-r:
		line := record.Level.String() + " " + record.Message
		record.Attrs(func(a slog.Attr) bool {
			line += " " + a.String()
			return true
		})
		return line
	case <-time.After(20 * time.Second):
		t.Fatal("the log stays silent")
		return ""
	}
}

// watched is a source that runs until the test ends, on a hurried clock; the line on its first map is read already.
func watched(t *testing.T, f Files, p pace) (*Source, records) {
	t.Helper()
	log := make(records, 100)
	s, err := NewSource(f, slog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	log.await(t)
	<-s.Changed()
	s.pace = p
	run(t, s, log)
	return s, log
}

// run has a source run until the test ends.
func run(t *testing.T, s *Source, log records) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run ended with %v", err)
		}
		if len(log) > 0 {
			t.Errorf("the log has a line too many: %s", log.await(t))
		}
	})
}

const never = time.Hour

// hurried acts on events, and tells of bad files at once.
func hurried() pace { return pace{quiet: time.Millisecond, again: time.Millisecond, poll: never} }

func awaitCountry(t *testing.T, s *Source, want string, version uint64) {
	t.Helper()
	select {
	case <-s.Changed():
	case <-time.After(20 * time.Second):
		t.Fatal("no change")
	}
	m := s.Latest()
	if got := m.Lookup(netip.MustParseAddr("192.0.2.1")).Country; got != want || m.Version() != version {
		t.Fatalf("country %q in version %d, want %q in %d", got, m.Version(), want, version)
	}
}

// only is a database in which 192.0.2.0/24 is in a country.
func only(t *testing.T, code string) []byte {
	return content(t, "GeoLite2-Country", record{"192.0.2.0/24", country(code)})
}

func TestSourceFollowsItsFile(t *testing.T) {
	for _, c := range []struct {
		name    string
		replace func(t *testing.T, folder, file string)
	}{
		{"renamed over", func(t *testing.T, folder, file string) {
			rename(t, write(t, folder, ".new", only(t, "DE")), file)
		}},
		{"written in place", func(t *testing.T, folder, file string) {
			write(t, folder, "x.mmdb", append(only(t, "DE"), 0)) // of another size, should the clock be coarse
		}},
		{"renamed over by one of equal size and time", func(t *testing.T, folder, file string) {
			next := write(t, folder, ".new", only(t, "DE"))
			old, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(next, old.ModTime(), old.ModTime()); err != nil {
				t.Fatal(err)
			}
			rename(t, next, file)
		}},
		{"removed and written again", func(t *testing.T, folder, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			write(t, folder, "x.mmdb", append(only(t, "DE"), 0))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			file := write(t, folder, "x.mmdb", only(t, "FR"))
			p := hurried()
			p.again = never // a file seen half written is no reason for a word
			s, log := watched(t, Files{Database: file}, p)
			c.replace(t, folder, file)
			awaitCountry(t, s, "DE", 2)
			if line := log.await(t); line != "INFO geo database loaded database=x.mmdb 2026-11-20 version=2" {
				t.Errorf("log says %q", line)
			}
		})
	}
}

// twoVersions makes the folders v1 and v2, with a file that says FR and DE, and a link to the first.
func twoVersions(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for i, code := range []string{"FR", "DE"} {
		version := filepath.Join(folder, fmt.Sprintf("v%d", i+1))
		if err := os.Mkdir(version, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, version, "x.mmdb", append(only(t, code), make([]byte, i)...))
	}
	link(t, "v1", filepath.Join(folder, "now"))
	return folder
}

func turn(t *testing.T, folder string) {
	t.Helper()
	link(t, "v2", filepath.Join(folder, "next"))
	rename(t, filepath.Join(folder, "next"), filepath.Join(folder, "now"))
}

func TestSourceFollowsALinkThatTurns(t *testing.T) {
	folder := twoVersions(t)
	link(t, filepath.Join("now", "x.mmdb"), filepath.Join(folder, "x.mmdb"))
	s, log := watched(t, Files{Database: filepath.Join(folder, "x.mmdb")}, hurried())
	turn(t, folder)
	awaitCountry(t, s, "DE", 2)
	log.await(t)
}

// No event comes from the folders of the file when one further up becomes another.
func TestSourceFindsByTheClockWhatTheSystemDoesNotTell(t *testing.T) {
	folder := twoVersions(t)
	p := hurried()
	p.poll = time.Millisecond
	s, log := watched(t, Files{Database: filepath.Join(folder, "now", "x.mmdb")}, p)
	turn(t, folder)
	awaitCountry(t, s, "DE", 2)
	log.await(t)
}

func TestSourceFollowsTheFileBehindALink(t *testing.T) {
	folder, target := t.TempDir(), t.TempDir()
	link(t, write(t, target, "x.mmdb", only(t, "FR")), filepath.Join(folder, "x.mmdb"))
	s, log := watched(t, Files{Database: filepath.Join(folder, "x.mmdb")}, hurried())
	rename(t, write(t, target, "new", append(only(t, "DE"), 0)), filepath.Join(target, "x.mmdb"))
	awaitCountry(t, s, "DE", 2)
	log.await(t)
}

func TestSourceKeepsTheOldMapAndSaysWhyOnce(t *testing.T) {
	folder := t.TempDir()
	file := write(t, folder, "x.mmdb", only(t, "FR"))
	s, log := watched(t, Files{Database: file}, hurried())
	old := s.Latest()

	rename(t, write(t, folder, ".new", only(t, "DE")[:100]), file)
	line := log.await(t)
	if !strings.HasPrefix(line, "ERROR geo database not loaded, the old one stays database=x.mmdb 2026-11-20 cause=") ||
		!strings.Contains(line, file) || !strings.Contains(line, "invalid MaxMind DB file") {
		t.Errorf("log says %q", line)
	}
	if s.Latest() != old {
		t.Error("the old map went")
	}
	write(t, folder, "other", nil) // an event that changes nothing for us, and so no second line

	rename(t, write(t, folder, ".new", only(t, "DE")), file)
	awaitCountry(t, s, "DE", 2)
	if line := log.await(t); line != "INFO geo database loaded database=x.mmdb 2026-11-20 version=2" {
		t.Errorf("log says %q", line)
	}
}

// That a file is opened to us changes neither its size nor its time.
func TestFileThatCannotBeOpenedIsTriedAgain(t *testing.T) {
	folder := t.TempDir()
	file := write(t, folder, "x.mmdb", only(t, "DE"))
	log := make(records, 100)
	s, err := NewSource(Files{Database: file}, slog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	log.await(t)
	<-s.Changed()
	refused := 0
	s.open = func(f Files) (*Map, error) {
		if refused++; refused < 5 {
			return nil, fmt.Errorf("geo database: %w", &fs.PathError{Op: "open", Path: file, Err: fs.ErrPermission})
		}
		return Open(f)
	}
	s.pace = pace{quiet: time.Millisecond, again: time.Millisecond, poll: time.Millisecond}
	run(t, s, log)
	rename(t, write(t, folder, ".new", only(t, "FR")), file)
	if line := log.await(t); !strings.Contains(line, "ERROR geo database not loaded") {
		t.Error(line)
	}
	awaitCountry(t, s, "FR", 2)
	if line := log.await(t); !strings.Contains(line, "geo database loaded") {
		t.Errorf("it is told again: %s", line)
	}
}

func TestSlowlyWrittenFileIsReadWhenItIsWhole(t *testing.T) {
	folder := t.TempDir()
	file := write(t, folder, "x.mmdb", only(t, "FR"))
	p := hurried()
	p.again = never
	s, log := watched(t, Files{Database: file}, p)
	whole := append(only(t, "DE"), 0)
	for _, part := range [][]byte{whole[:10], whole[:len(whole)/2], whole} {
		write(t, folder, "x.mmdb", part)
	}
	awaitCountry(t, s, "DE", 2)
	log.await(t) // and nothing else, as the end of the test sees
}

func TestUseTurnsToOtherFiles(t *testing.T) {
	folder := t.TempDir()
	first := write(t, folder, "first.mmdb", only(t, "FR"))
	second := write(t, t.TempDir(), "second.mmdb", only(t, "DE"))
	s, log := watched(t, Files{Database: first}, hurried())

	if err := use(s, Files{Database: filepath.Join(folder, "none.mmdb")}); err == nil || !strings.Contains(err.Error(), "none.mmdb") {
		t.Fatalf("error %v, want one on the file", err)
	}
	if s.Latest().Name() != "first.mmdb 2026-11-20" {
		t.Fatalf("%s after an error, want the first", s.Latest().Name())
	}
	if err := use(s, Files{Database: first}); err != nil || s.Latest().Version() != 1 {
		t.Fatalf("version %d after the same files again, error %v", s.Latest().Version(), err)
	}
	if err := use(s, Files{Database: second}); err != nil {
		t.Fatal(err)
	}
	awaitCountry(t, s, "DE", 2)
	log.await(t)

	rename(t, write(t, folder, "new", only(t, "IT")), second) // the new folder is watched
	awaitCountry(t, s, "IT", 3)
	log.await(t)
}

func TestMapOfFilesThatAreNoLongerUsedIsDropped(t *testing.T) {
	folder := t.TempDir()
	first := Files{Database: write(t, folder, "first.mmdb", only(t, "FR"))}
	s, err := NewSource(first, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	late, err := s.read(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := use(s, Files{Database: write(t, folder, "second.mmdb", only(t, "DE"))}); err != nil {
		t.Fatal(err)
	}
	s.publish(late, false)
	awaitCountry(t, s, "DE", 2)
}

func TestNewSourceNeedsAMap(t *testing.T) {
	s, err := NewSource(Files{Database: filepath.Join(t.TempDir(), "none")}, slog.New(slog.DiscardHandler))
	if s != nil || err == nil {
		t.Fatalf("got %v, %v; want an error", s, err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// use turns a source to other files.
func use(s *Source, f Files) error {
	use, err := s.Prepare(f)
	if err == nil {
		use()
	}
	return err
}
