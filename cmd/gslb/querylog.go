package main

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gslb/dns"
)

// queryLog writes questions to a file, a line each.
type queryLog struct {
	path   string
	asJSON bool
	log    *slog.Logger

	file    *os.File
	looked  time.Time // when it was made sure that the path still leads to the file
	failing bool
}

// fileLook is how often it is made sure that a path leads to the file that is written.
const fileLook = time.Second

func (q *queryLog) run(ctx context.Context, tracer *dns.Tracer) {
	q.tell(q.open()) // now, and not with the first of so many questions
	tracer.Read(ctx, func(trace *dns.Trace) {
		if err := q.write(trace); err != nil {
			tracer.Lose()
			q.tell(err)
			return
		}
		q.tell(nil)
	}, func() {})
	if q.file != nil {
		_ = q.file.Close() // every line was written
	}
}

// tell says once that the file cannot be written, and once that it can again.
func (q *queryLog) tell(err error) {
	if failing := err != nil; failing != q.failing {
		q.failing = failing
		if failing {
			q.log.Error("query log not written: lines are lost until it can be", "file", q.path, "cause", err)
		} else {
			q.log.Info("query log written again", "file", q.path)
		}
	}
}

func (q *queryLog) write(trace *dns.Trace) error {
	if err := q.open(); err != nil {
		return err
	}
	var handler slog.Handler = slog.NewTextHandler(q.file, nil)
	if q.asJSON {
		handler = slog.NewJSONHandler(q.file, nil)
	}
	line := slog.NewRecord(trace.Asked, slog.LevelInfo, "query", 0)
	line.AddAttrs(traceAttrs(trace)...)
	return handler.Handle(context.Background(), line)
}

// open sees to it that the file is there: whoever moves it away gets another.
func (q *queryLog) open() error {
	if q.file != nil && time.Since(q.looked) < fileLook {
		return nil
	}
	q.looked = time.Now()
	if q.file != nil {
		at, err := os.Stat(q.path)
		is, err2 := q.file.Stat()
		if err == nil && err2 == nil && os.SameFile(at, is) {
			return nil
		}
		_ = q.file.Close() // every line was written
		q.file = nil
	}
	f, err := os.OpenFile(q.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, 0o640) // a pipe that nobody reads is waited for by nobody
	if err == nil {
		q.file = f
	}
	return err
}

// traceAttrs are the words of a line.
func traceAttrs(t *dns.Trace) []slog.Attr {
	attrs := []slog.Attr{slog.String("client", t.Source.String()), slog.String("transport", t.Over.String())}
	name, kind, subnet := t.Question()
	for _, w := range [][2]string{{"name", name}, {"type", kind}, {"subnet", subnet}} {
		if w[1] != "" {
			attrs = append(attrs, slog.String(w[0], w[1]))
		}
	}
	if len(t.Reply) == 0 {
		return append(attrs, slog.Bool("answered", false))
	}
	attrs = append(attrs, slog.String("rcode", dns.RcodeWord(t.Rcode)))
	for _, w := range decided(t) {
		attrs = append(attrs, slog.String(w[0], w[1]))
	}
	return attrs
}

// decided is what was decided, in the words of reasons.
func decided(t *dns.Trace) [][2]string {
	var words [][2]string
	if t.Service != "" {
		words = append(words, [2]string{"service", t.Service}, [2]string{"place", strings.Join(t.Places(), ",")},
			[2]string{"placed", t.Placed.String()}, [2]string{"ttl", strconv.Itoa(int(t.TTL))})
	}
	if t.Scope >= 0 {
		words = append(words, [2]string{"scope", strconv.Itoa(t.Scope)})
	}
	if t.Held {
		words = append(words, [2]string{"limited", "yes"})
	}
	return words
}
