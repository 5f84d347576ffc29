package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in a file that an operator can go to. Lines and columns count from 1.
type Pos struct {
	File         string
	Line, Column int
}

// String gives "file:line:column", leaving out what is not known.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is one thing that is wrong with a config, or, as a warning, likely not meant.
type Problem struct {
	Pos     Pos
	Path    string // dotted path of the key; empty where none fits
	Message string
	Warning bool
}

// String gives "file:line:column: path: message".
func (p Problem) String() string {
	var b strings.Builder
	if at := p.Pos.String(); at != "" {
		b.WriteString(at + ": ")
	}
	if p.Warning {
		b.WriteString("warning: ")
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	return b.String() + p.Message
}

// Problems is everything that was found, errors and warnings.
type Problems []Problem

// Err is nil when there are only warnings; else its text has a line for each error, in the order of the files.
func (ps Problems) Err() error {
	var errs []error
	for _, p := range ps.Sorted() {
		if !p.Warning {
			errs = append(errs, errors.New(p.String()))
		}
	}
	return errors.Join(errs...)
}

// Warnings are the problems that do not stop a config.
func (ps Problems) Warnings() Problems {
	return slices.DeleteFunc(ps.Sorted(), func(p Problem) bool { return !p.Warning })
}

// Sorted gives a copy in the order of files, as first met, lines and columns.
func (ps Problems) Sorted() Problems {
	files := make([]string, len(ps))
	for i, p := range ps {
		files[i] = p.Pos.File
	}
	return inOrder(slices.Clone(ps), files)
}

// comparePlace orders two positions of one file.
func comparePlace(a, b Pos) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
