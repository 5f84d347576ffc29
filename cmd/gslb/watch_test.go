package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tree makes files and links in a new folder: a value that begins with -> is a link.
func tree(t *testing.T, content map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		path, text := filepath.Join(top, name), content[name]
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, link := cutLink(text); link {
			err = errors.Join(err, os.Symlink(target, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func cutLink(text string) (string, bool) {
	if len(text) > 2 && text[:2] == "->" {
		return text[2:], true
	}
	return text, false
}

func TestFoldersOnTheWayToAFile(t *testing.T) {
	for name, c := range map[string]struct {
		content map[string]string
		file    string
		want    []string
	}{
		"a plain file":              {map[string]string{"etc/gslb.yaml": ""}, "etc/gslb.yaml", []string{"etc"}},
		"a file that is not there":  {map[string]string{"etc/gslb.yaml": ""}, "etc/other.yaml", []string{"etc"}},
		"a folder that is not":      {map[string]string{"etc/gslb.yaml": ""}, "etc/gslb.yaml.d/x.yaml", []string{"etc"}},
		"a folder":                  {map[string]string{"etc/gslb.yaml.d/a.yaml": ""}, "etc/gslb.yaml.d", []string{"etc", "etc/gslb.yaml.d"}},
		"a link to a file":          {map[string]string{"etc/gslb.yaml": "->../var/one.yaml", "var/one.yaml": ""}, "etc/gslb.yaml", []string{"etc", "var"}},
		"a link to nothing":         {map[string]string{"etc/gslb.yaml": "->../var/one.yaml", "var/two.yaml": ""}, "etc/gslb.yaml", []string{"etc", "var"}},
		"a link in a circle":        {map[string]string{"etc/gslb.yaml": "->gslb.yaml"}, "etc/gslb.yaml", []string{"etc"}},
		"a configuration map":       {map[string]string{"etc/gslb.yaml": "->..data/gslb.yaml", "etc/..data": "->..v1", "etc/..v1/gslb.yaml": ""}, "etc/gslb.yaml", []string{"etc", "etc/..v1"}},
		"a linked folder of a file": {map[string]string{"now": "->v1", "v1/gslb.yaml": ""}, "now/gslb.yaml", []string{"", "v1"}},
	} {
		t.Run(name, func(t *testing.T) {
			top := tree(t, c.content)
			folders := map[string]bool{}
			addFolders(folders, filepath.Join(top, c.file))
			var want []string
			for _, w := range c.want {
				want = append(want, filepath.Join(top, w))
			}
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(folders))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// watching runs a watcher of files that have just been read, and gives the channel of its signals.
func watching(t *testing.T, files ...string) <-chan struct{} {
	t.Helper()
	w := newWatcher(files, time.Now().Add(time.Minute), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { _ = w.Run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return w.Changed()
}

func TestChangeOfAFileIsNoticed(t *testing.T) {
	for name, change := range map[string]func(top string) error{
		"written":       func(top string) error { return os.WriteFile(top+"/etc/gslb.yaml", []byte("new"), 0o644) },
		"replaced":      func(top string) error { return os.Rename(top+"/etc/spare", top+"/etc/gslb.yaml") },
		"removed":       func(top string) error { return os.Remove(top + "/etc/gslb.yaml") },
		"a drop-in":     func(top string) error { return os.WriteFile(top+"/etc/gslb.yaml.d/a.yaml", nil, 0o644) },
		"a first zone":  func(top string) error { return os.WriteFile(top+"/etc/ok.test.zone", nil, 0o644) },
		"behind a link": func(top string) error { return os.WriteFile(top+"/far/file", []byte("new"), 0o644) },
		"a link was turned": func(top string) error {
			return errors.Join(os.Symlink("v2", top+"/next"), os.Rename(top+"/next", top+"/now"))
		},
		"the file's link is": func(top string) error {
			return errors.Join(os.Symlink("/etc/hostname", top+"/x"), os.Rename(top+"/x", top+"/etc/linked"))
		},
		"a configuration map": func(top string) error {
			return errors.Join(os.Symlink("..v2", top+"/cm/..tmp"), os.Rename(top+"/cm/..tmp", top+"/cm/..data"), os.RemoveAll(top+"/cm/..v1"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := tree(t, map[string]string{
				"etc/gslb.yaml": "old", "etc/spare": "new", "etc/gslb.yaml.d/.keep": "", "etc/linked": "->../far/file", "far/file": "old",
				"now": "->v1", "v1/f": "one", "v2/f": "two",
				"cm/f": "->..data/f", "cm/..data": "->..v1", "cm/..v1/f": "one", "cm/..v2/f": "two",
			})
			changed := watching(t, top+"/etc/gslb.yaml", top+"/etc/gslb.yaml.d", top+"/etc/ok.test.zone", top+"/etc/linked", top+"/now/f", top+"/cm/f")
			if err := change(top); err != nil {
				t.Fatal(err)
			}
			select {
			case <-changed:
			case <-time.After(20 * time.Second):
				t.Error("not noticed")
			}
		})
	}
}

func TestOtherFilesInTheFolderDisturbNobody(t *testing.T) {
	top := tree(t, map[string]string{"gslb.yaml": "old"})
	changed := watching(t, top+"/gslb.yaml")
	for i := range 20 {
		if err := os.WriteFile(top+"/state.db", []byte{byte(i)}, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-changed:
		t.Error("a change of state.db was taken for one of gslb.yaml")
	case <-time.After(3 * quiet):
	}
}

func TestChangeBetweenReadingAndFollowingIsNoticed(t *testing.T) {
	top := tree(t, map[string]string{"gslb.yaml": "old", "spare": "new"})
	begin := time.Now()
	if err := os.Rename(top+"/spare", top+"/gslb.yaml"); err != nil {
		t.Fatal(err)
	}
	w := newWatcher([]string{top + "/gslb.yaml"}, begin, slog.New(slog.DiscardHandler))
	if !w.look() {
		t.Error("not noticed")
	}
	if w.look() {
		t.Error("noticed twice")
	}
}

func TestFileThatIsBeingWrittenStirs(t *testing.T) {
	top := tree(t, map[string]string{"gslb.yaml": "old"})
	w := newWatcher([]string{top + "/gslb.yaml"}, time.Now().Add(time.Minute), slog.New(slog.DiscardHandler))
	if w.stirs() {
		t.Error("it stirs though nobody writes")
	}
	if err := os.WriteFile(top+"/gslb.yaml", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if !w.stirs() {
		t.Error("it is still, though it is another than it was")
	}
	if !w.look() {
		t.Error("the next look does not tell of it")
	}
	if w.stirs() {
		t.Error("it stirs though it was looked at since")
	}
}
