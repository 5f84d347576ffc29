package demo

import (
	"context"
	"io"
)

// Attend is the child's part of a demo: it serves by the configuration in a demo's folder for as long
// as the demo keeps its end of the pipe open, or until ctx ends. The system closes the pipe however the
// demo ends, also when it is killed: then the server ends, and the folder is removed.
func Attend(ctx context.Context, path string, pipe io.Reader, serve func(ctx context.Context, config string) error) error {
	f := folder(path)
	if err := f.known(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	alone := make(chan struct{})
	go func() { // ends with the pipe, which may be after this process's work
		_, _ = io.Copy(io.Discard, pipe)
		close(alone)
		stop()
	}()
	err := serve(ctx, f.config())
	select {
	case <-alone:
		f.remove()
	default: // the demo lives: it wants to read the log
	}
	return err
}
