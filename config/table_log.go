package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Log says how the server tells what it does.
type Log struct {
	Format string // text or json
	Level  string // debug, info, warn or error
}

// QueryLog is a file of some of the questions, a line each.
type QueryLog struct {
	File   string // its path
	Sample int    // of so many questions one is told
}

// Dnstap is a reader that is told of questions and answers in the format of dnstap: one of File and Socket.
type Dnstap struct {
	File   string
	Socket string // path of a Unix socket that the reader listens on
	Sample int    // of so many questions one is told
}

func logForm() form[Log] {
	return object("format, level",
		key("format", "text: for people to read; json: one object on each line.", words("text", "json"), func(l *Log) *string { return &l.Format }).or("text"),
		key("level", "The least severe level that is logged.", words("debug", "info", "warn", "error"), func(l *Log) *string { return &l.Level }).or("info"),
	)
}

// queryLogForm keeps nil where the key is not given.
func queryLogForm() form[*QueryLog] {
	return optional(object("file, sample",
		key("file", "The file; lines are added to it, and it is opened again after it was moved away.", filePath("the path of a file"), func(q *QueryLog) *string { return &q.File }).required(),
		key("sample", "How many of the questions are recorded.", sample(), func(q *QueryLog) *int { return &q.Sample }).or("1/1000"),
	))
}

// dnstapForm keeps nil where the key is not given.
func dnstapForm() form[*Dnstap] {
	return optional(object("file, socket, sample",
		key("file", "A file of Frame Streams; one that is there is moved aside to FILE.1.", filePath("the path of a file"), func(d *Dnstap) *string { return &d.File }),
		key("socket", "A Unix socket that a reader listens on; while nobody listens, it is tried again.", filePath("the path of a socket"), func(d *Dnstap) *string { return &d.Socket }),
		key("sample", "How many of the questions are recorded.", sample(), func(d *Dnstap) *int { return &d.Sample }).or("1/1"),
	))
}

// sample is one of so many.
func sample() form[int] {
	const noun = "one of so many, as 1/1000"
	return parsed(noun, schema{Pattern: "^1/[1-9][0-9]{0,8}$"}, func(s string) (int, error) {
		of, ok := strings.CutPrefix(s, "1/")
		n, err := strconv.Atoi(of)
		if !ok || err != nil || n < 1 || n > 999_999_999 || of != strconv.Itoa(n) {
			return 0, fmt.Errorf("must be %s", noun)
		}
		return n, nil
	})
}
