package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Drain keeps a place out of the answers by the operator's will.
type Drain struct {
	Target  string // a place
	Service string // empty: every service
	Until   time.Time
	Reason  string
	By      string
	Hard    bool
	Force   string // why it may leave fewer places than min_places; empty: it may not
	Pos     Pos
}

// Over tells whether the drain has run out at the given time.
func (d Drain) Over(now time.Time) bool { return !d.Until.IsZero() && !now.Before(d.Until) }

// DrainText is the text of a drop-in that holds one drain: what [WriteDrain] writes, and what belongs
// into config management where many servers are to drain.
func DrainText(d Drain) []byte {
	var b strings.Builder
	b.WriteString("# Written by gslb drain; gslb undrain takes it away.\ndrains:\n")
	fmt.Fprintf(&b, "  - target: %s\n", strconv.Quote(d.Target))
	if d.Service != "" {
		fmt.Fprintf(&b, "    service: %s\n", strconv.Quote(d.Service))
	}
	if !d.Until.IsZero() {
		fmt.Fprintf(&b, "    until: %s\n", d.Until.UTC().Format(time.RFC3339))
	}
	if d.Reason != "" {
		fmt.Fprintf(&b, "    reason: %s\n", strconv.Quote(d.Reason))
	}
	if d.By != "" {
		fmt.Fprintf(&b, "    by: %s\n", strconv.Quote(d.By))
	}
	if d.Hard {
		b.WriteString("    hard: true\n")
	}
	if d.Force != "" {
		fmt.Fprintf(&b, "    force: %s\n", strconv.Quote(d.Force))
	}
	return []byte(b.String())
}

// WriteDrain writes a drain into the drop-in folder of a config file, in the place of an earlier one of
// the same place and service, and gives the path of the drop-in. A watcher sees all of the file or none.
func WriteDrain(file string, d Drain) (path string, err error) {
	text, err := DrainFile(d)
	if err != nil {
		return "", err
	}
	folder := dropinFolder(file)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("drain %s: make the drop-in folder: %w", d.Target, err)
	}
	path, err = drainFile(folder, d.Target, d.Service)
	if err != nil {
		return "", fmt.Errorf("drain %s: %w", d.Target, err)
	}
	if err := replaceFile(path, text); err != nil {
		return "", fmt.Errorf("drain %s: %w", d.Target, err)
	}
	return path, nil
}

// DrainFile is [DrainText] of a drain that can be read again; of another one the error says what is wrong with it.
func DrainFile(d Drain) ([]byte, error) {
	text := DrainText(d)
	if err := wouldLoad(text); err != nil {
		return nil, fmt.Errorf("drain %s: %w", cut(d.Target), err)
	}
	return text, nil
}

// wouldLoad reads the text of one drain as a drop-in, without asking whether the names in it are known.
// What is wrong is told by its key alone: the text stands in no file.
func wouldLoad(text []byte) error {
	root, problems := parseText(Source{Text: text})
	r := &reader{problems: problems, spoilt: map[string]bool{}}
	table().apply(r, root, &Config{})
	for i, p := range r.problems {
		r.problems[i] = Problem{Path: strings.TrimPrefix(p.Path, "drains[0]."), Message: p.Message}
	}
	return r.problems.Err()
}

// drainFile finds the name for a drain's drop-in. Names may hold dashes, so the drain of a-b and the
// drain of service b in place a want the same file; whoever comes second gets the name with two dashes.
func drainFile(folder, place, service string) (string, error) {
	for _, path := range drainFiles(folder, place, service) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || holdsOnly(path, place, service) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s holds something else: write the drain by hand", drainFiles(folder, place, service)[0])
}

// drainFiles are the names that a drain's drop-in may have.
func drainFiles(folder, place, service string) []string {
	paths := []string{filepath.Join(folder, "drain-"+place+".yaml"), filepath.Join(folder, "drain--"+place+".yaml")}
	if service != "" {
		paths[0] = filepath.Join(folder, "drain-"+place+"-"+service+".yaml")
		paths[1] = filepath.Join(folder, "drain-"+place+"--"+service+".yaml")
	}
	return paths
}

// holdsOnly tells whether a drop-in holds the drain of this place and service and nothing else, as those
// that WriteDrain wrote do.
func holdsOnly(path, place, service string) bool {
	text, err := readText(path)
	if err != nil {
		return false
	}
	root, _ := parseText(Source{path, text})
	if len(root.children) != 1 || root.children[0].name != "drains" || len(root.children[0].children) != 1 {
		return false
	}
	c, _ := read(root)
	d := c.Drains[0]
	return d.Target == place && d.Service == service
}

// replaceFile writes a file beside its place, makes it durable, and moves it in.
func replaceFile(path string, text []byte) (err error) {
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, ".drain-*") // drop-ins that begin with a dot are not read
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}

// syncFolder makes the names in a folder durable.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// DrainWords names a drain.
func DrainWords(place, service string) string {
	words := "drain of " + place
	if service != "" {
		words += " for " + service
	}
	return words
}

// RemoveDrain removes the drop-in by which [WriteDrain] drained a place, as a whole or for one service,
// and gives its path. A drain that stands in a file of the operator's own is not touched: the error names
// where it stands, also when a drop-in was removed beside it.
func RemoveDrain(file, place, service string) (path string, err error) {
	what := DrainWords(place, service)
	for _, candidate := range drainFiles(dropinFolder(file), place, service) {
		if !holdsOnly(candidate, place, service) {
			continue
		}
		if err := errors.Join(os.Remove(candidate), syncFolder(filepath.Dir(candidate))); err != nil {
			return "", fmt.Errorf("remove the %s: %w", what, err)
		}
		path = candidate
	}
	c, _ := Load(file)
	for _, d := range c.Drains {
		if d.Target == place && d.Service == service {
			return path, fmt.Errorf("the %s stands in %s, which gslb did not write: remove it there", what, d.Pos)
		}
	}
	if path == "" {
		return "", fmt.Errorf("there is no %s", what)
	}
	return path, nil
}
