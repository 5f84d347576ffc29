package test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is the path that our own imports begin with.
const module = "gslb/"

// floor is a set of packages that may import all floors after it in the table.
type floor struct {
	number string
	rooms  []room
}

// room is a package and the question that it answers. A path that ends in "/..." is all packages below it.
type room struct{ path, question string }

// fence keeps a library in the named packages, and in tests of all packages where tests is set.
type fence struct {
	library  string
	packages []string
	tests    bool
	reason   string
}

// source is what the rules need to know of one file.
type source struct {
	file      string // from the top of the project, with slashes
	test      bool
	generated bool
	comment   bool // has a package comment
	lines     int
	imports   []string
}

func (s source) room() string { return path.Dir(s.file) }

// readSources reads all Go files below a folder, but for what the go command leaves out as well.
func readSources(top string) ([]source, error) {
	var sources []source
	err := filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != top && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(base) != ".go" {
			return nil
		}
		s, err := readSource(top, name)
		sources = append(sources, s)
		return err
	})
	return sources, err
}

func readSource(top, name string) (source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return source{}, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return source{}, err
	}
	relative, err := filepath.Rel(top, name)
	if err != nil {
		return source{}, err
	}
	s := source{
		file:      filepath.ToSlash(relative),
		test:      strings.HasSuffix(name, "_test.go"),
		generated: ast.IsGenerated(parsed),
		comment:   parsed.Doc.Text() != "",
		lines:     bytes.Count(text, []byte("\n")),
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, err
		}
		s.imports = append(s.imports, imported)
	}
	return s, nil
}

// topFolders gives the folders at the top, but for dot-folders.
func topFolders(top string) ([]string, error) {
	entries, err := os.ReadDir(top)
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// inspect gives the faults of a house, each with its reason.
func inspect(sources []source) []string {
	var faults []string
	var rooms []string
	for _, s := range sources {
		faults = append(faults, checkImports(s)...)
		if s.lines > longest && !s.test && !s.generated {
			faults = append(faults, fmt.Sprintf("%s: %d lines are over %d: look for two rooms in it", s.file, s.lines, longest))
		}
		if !slices.Contains(rooms, s.room()) {
			rooms = append(rooms, s.room())
		}
	}
	for _, r := range rooms {
		faults = append(faults, checkRoom(r, sources)...)
	}
	return faults
}

// level gives a package's place in the table, counted from the roof. A room that is named counts before one of all
// that lies below a folder.
func level(name string) (int, bool) {
	for _, matches := range []func(path string) bool{
		func(path string) bool { return path == name },
		func(path string) bool {
			below, all := strings.CutSuffix(path, "...")
			return all && strings.HasPrefix(name, below)
		},
	} {
		for i, f := range house {
			if slices.ContainsFunc(f.rooms, func(r room) bool { return matches(r.path) }) {
				return i, true
			}
		}
	}
	return 0, false
}

func checkImports(s source) []string {
	var faults []string
	for _, imported := range s.imports {
		if fault := checkFences(s, imported); fault != "" {
			faults = append(faults, fault)
		}
		if room, ours := strings.CutPrefix(imported, module); ours && room != s.room() {
			if fault := checkFloors(s, room); fault != "" {
				faults = append(faults, fault)
			}
		}
	}
	return faults
}

func checkFloors(s source, imported string) string {
	from, known := level(s.room())
	to, knownToo := level(imported)
	switch {
	case !known: // told once for the package
		return ""
	case !knownToo:
		return fmt.Sprintf("%s: imports %s, which is not in the table of floors", s.file, imported)
	case from < to:
		return ""
	}
	reason := floorReason
	if from == to {
		reason = sisterReason
	}
	return fmt.Sprintf("%s: %s (floor %s) imports %s (floor %s): %s",
		s.file, s.room(), house[from].number, imported, house[to].number, reason)
}

func checkFences(s source, imported string) string {
	for _, f := range fences {
		inside := slices.Contains(f.packages, s.room()) || s.test && f.tests
		if inside || imported != f.library && !strings.HasPrefix(imported, f.library+"/") {
			continue
		}
		allowed := strings.Join(f.packages, ", ")
		if f.tests {
			allowed += " and tests"
		}
		return fmt.Sprintf("%s: imports %s, which is fenced in to %s: %s", s.file, imported, allowed, f.reason)
	}
	return ""
}

// checkRoom checks what a package's files must have together.
func checkRoom(room string, sources []source) []string {
	var faults, comments []string
	code := false
	for _, s := range sources {
		if s.room() != room || s.test {
			continue
		}
		code = true
		if s.comment {
			comments = append(comments, path.Base(s.file))
		}
	}
	if _, known := level(room); !known {
		faults = append(faults, room+": is not in the table of floors: give it a floor and its question in test/arch_test.go, or put its code into a package that has them")
	}
	switch {
	case code && len(comments) == 0:
		faults = append(faults, room+": has no package comment: say first which question it answers, with its nouns, an example and what it refuses")
	case len(comments) > 1:
		faults = append(faults, fmt.Sprintf("%s: has %d package comments (%s): keep one", room, len(comments), strings.Join(comments, ", ")))
	}
	return faults
}
