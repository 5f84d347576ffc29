package config

import (
	"cmp"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gslb/config/regular"
)

// Source is the text of one config file.
type Source struct {
	File string // as the operator named it; relative paths in the text start from its folder
	Text []byte
}

// Load reads the main file, the drop-ins FILE.d/*.yaml in the order of their names, and the files of
// zones and networks that they name. The Config is never nil: it holds what could be read, for whoever looks for more
// problems.
func Load(file string) (*Config, Problems) { return load(file, AllProcessors()) }

// Reload is [Load] beside a server that answers: all is done by the caller's thread, with the priority that it has.
func Reload(file string) (*Config, Problems) { return load(file, 1) }

func load(file string, by Processors) (*Config, Problems) {
	sources, problems := gather(file)
	c, more := by.parse(readNamedFile, sources)
	c.File = file
	c.Files = slices.Insert(c.Files, len(sources), dropinFolder(file))
	return c, inOrder(append(problems, more...), c.Files)
}

// dropinFolder is where the drop-ins of a config file stand.
func dropinFolder(file string) string { return file + ".d" }

// gather reads the main file and the drop-ins. The main file is always the first source.
func gather(file string) ([]Source, Problems) {
	var problems Problems
	text, err := readText(file)
	if err != nil {
		problems = append(problems, Problem{Pos: Pos{File: file}, Message: "cannot be read: " + cause(err)})
	}
	sources := []Source{{file, text}}
	folder := dropinFolder(file)
	entries, err := os.ReadDir(folder)
	if err != nil && !absent(folder) {
		problems = append(problems, Problem{Pos: Pos{File: folder}, Message: "cannot be read: " + cause(err)})
	}
	for _, e := range entries {
		dropin := filepath.Join(folder, e.Name())
		switch ext := filepath.Ext(e.Name()); {
		case strings.HasPrefix(e.Name(), "."):
		case ext == ".yml":
			problems = append(problems, Problem{Pos: Pos{File: dropin}, Warning: true, Message: "is not read: the name of a drop-in ends in .yaml"})
		case ext == ".yaml":
			text, err := readText(dropin)
			if err != nil {
				problems = append(problems, Problem{Pos: Pos{File: dropin}, Message: "cannot be read: " + cause(err)})
			}
			sources = append(sources, Source{dropin, text})
		}
	}
	return sources, problems
}

// absent tells whether there is nothing by that name. A symbolic link that leads nowhere is something: what it led to may have
// held drains.
func absent(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// readText reads a config file, and no more of it than it takes to see that it is too large. Only below
// /dev may it be a pipe, which is how a shell hands over what another command prints: elsewhere whoever
// opens one would wait for ever.
func readText(file string) ([]byte, error) {
	about, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !about.Mode().IsRegular() && !about.IsDir() && !strings.HasPrefix(file, "/dev/") {
		return nil, regular.ErrOther
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText+1))
}

// cause is an error of the file system without the path, which the message names already.
func cause(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// Parse reads texts as [Load] reads files: the first as the main file, the rest as drop-ins in order.
// Files of zones and of networks are read from disk.
func Parse(sources ...Source) (*Config, Problems) { return ParseWith(readNamedFile, sources...) }

// ParseWith is [Parse] with files that come from elsewhere: file gives the text of the one at a path.
func ParseWith(file func(path string) (string, error), sources ...Source) (*Config, Problems) {
	return AllProcessors().parse(file, sources)
}

// parse reads texts, and the files that they name through file.
func (by Processors) parse(file func(path string) (string, error), sources []Source) (*Config, Problems) {
	root := &node{shape: isNothing, file: new(string)}
	var problems Problems
	var files []string
	for i, s := range sources {
		tree, faults := by.parseText(s)
		problems = append(problems, faults...)
		if i == 0 {
			root = tree
		} else {
			problems = append(problems, merge(root, tree)...)
		}
		files = append(files, s.File)
	}
	var sum hash.Hash
	summed := by.beside(func() { sum = sumTree(root) }) // what follows only reads the tree, too
	c, more := by.read(root)
	c.Files = files
	problems = slices.Concat(problems, more, c.readZoneFiles(file), c.readNetworksFiles(file), c.readCookieSecrets(), c.readTSIGKeys(), c.transferKeys(), c.writtenFiles())
	summed()
	c.hash = fingerprint(sum, c)
	return c, inOrder(problems, c.Files)
}

// read turns the merged tree into a Config and judges it.
func read(root *node) (*Config, Problems) { return Processors(1).read(root) }

func (by Processors) read(root *node) (*Config, Problems) {
	c := &Config{File: *root.file}
	noted := by.beside(func() { c.positions = newPositions(root) }) // likewise
	r := &reader{main: c.File, processors: by, spoilt: map[string]bool{}}
	table().apply(r, root, c)
	noted()
	finish(c)
	newChecker(r, c).all()
	return c, r.problems
}

// maxNamedFile bounds the text of one file that a config names, in bytes: some six million records.
const maxNamedFile = 256 << 20

// readZoneFiles brings in the text of every zone file.
func (c *Config) readZoneFiles(read func(path string) (string, error)) Problems {
	var problems Problems
	for i := range c.Zones {
		z := &c.Zones[i]
		if z.File == "" {
			continue
		}
		c.Files = append(c.Files, z.File)
		text, err := read(z.File)
		if err != nil {
			path := z.Path + ".file"
			problems = append(problems, Problem{Pos: c.At(path), Path: path, Message: fmt.Sprintf("%s cannot be read: %s", z.File, cause(err))})
		}
		z.FileText = text
	}
	return problems
}

func readNamedFile(file string) (string, error) { return readFile(file, maxNamedFile) }

// readFile reads a regular file of at most so many bytes.
func readFile(file string, most int64) (string, error) {
	f, err := regular.Open(file, most)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var text strings.Builder // gives its bytes without a copy
	if about, err := f.Stat(); err == nil {
		text.Grow(int(about.Size()))
	}
	if _, err := io.Copy(&text, io.LimitReader(f, most+1)); err != nil {
		return "", err
	}
	if int64(text.Len()) > most { // it grew, or did not tell its size
		return "", fmt.Errorf("it is larger than %d KiB", most>>10)
	}
	return text.String(), nil
}

// inOrder sorts problems by file, as files are listed, line and column.
func inOrder(problems Problems, files []string) Problems {
	order := make(map[string]int, len(files))
	for i, f := range files {
		if _, ok := order[f]; !ok {
			order[f] = i
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(order[a.Pos.File], order[b.Pos.File]), comparePlace(a.Pos, b.Pos))
	})
	return problems
}
