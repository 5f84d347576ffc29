package demo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// folder is the path of the demo's own folder: configuration, zone, state, log, and a link to gslb.
type folder string

// folderName is what a demo's folder is called; a second one has a number added.
const folderName = "gslb-demo"

// newFolder makes a folder and all that the name server needs.
func newFolder(program string, s scene) (folder, error) {
	above, err := filepath.Abs(os.TempDir())
	if err != nil {
		return "", fmt.Errorf("the demo's folder: %w", err)
	}
	path := filepath.Join(above, folderName)
	err = os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		path, err = os.MkdirTemp(above, folderName+"-*")
	}
	if err != nil {
		return "", fmt.Errorf("the demo's folder: %w", err)
	}
	f := folder(path)
	if err := f.furnish(program, s); err != nil {
		f.remove()
		return "", err
	}
	return f, nil
}

func (f folder) furnish(program string, s scene) error {
	for _, name := range []string{"gslb.yaml", "demo.test.zone"} {
		var text strings.Builder
		if err := fill(&text, name+".tmpl", &teller{}, s); err != nil {
			return err
		}
		if err := os.WriteFile(f.in(name), []byte(text.String()), 0o600); err != nil {
			return err
		}
	}
	if err := os.Mkdir(f.config()+".d", 0o700); err != nil {
		return err
	}
	return os.Symlink(program, f.in("gslb"))
}

func (f folder) in(name string) string { return filepath.Join(string(f), name) }
func (f folder) config() string        { return f.in("gslb.yaml") }
func (f folder) log() string           { return f.in("gslb.log") }

// remove removes the folder with everything in it. What cannot be removed stays: the system's own
// cleaning of temporary files is there for that.
func (f folder) remove() { _ = os.RemoveAll(string(f)) }

// known tells whether this can be the folder of a demo, which may be removed.
func (f folder) known() error {
	above, err := filepath.Abs(os.TempDir())
	if err != nil {
		return err
	}
	if filepath.Dir(string(f)) != above || !strings.HasPrefix(filepath.Base(string(f)), folderName) {
		return fmt.Errorf("%s is not the folder of a demo", string(f))
	}
	return nil
}

// shown is how to call gslb from another terminal: by its name when that finds this program, else by
// the link in the folder. (The program of "go run" has a path that nobody wants to read.)
func (f folder) shown() string {
	link := f.in("gslb")
	found, err := exec.LookPath("gslb")
	if err == nil && same(found, link) {
		return "gslb"
	}
	return shell(link)
}

func same(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// shell writes a path so that a shell reads it as one word.
func shell(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._+-", r)
	}
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
