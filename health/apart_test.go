package health

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Work that hangs in the kernel costs one goroutine, and its probes are on time.
func TestWorkThatHangsIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, release := NewOutside(), make(chan bool)
		var begun atomic.Int64
		hang := func() error { begun.Add(1); <-release; return nil }
		probe := func(want string) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			err := o.apart(ctx, errand{File{Path: "a"}, loopback}, hang)
			got := ""
			if err != nil {
				got = cause(err, Check{Timeout: time.Second})
			}
			if took := time.Since(start); got != want || took > time.Second+grace {
				t.Errorf("cause %q after %v, want %q", got, took, want)
			}
		}
		probe("timeout after 1s")
		probe("the probe before still hangs")
		probe("the probe before still hangs")
		if begun.Load() != 1 {
			t.Errorf("%d goroutines hang, want 1", begun.Load())
		}
		if err := o.apart(t.Context(), errand{File{Path: "b"}, loopback}, func() error { return nil }); err != nil {
			t.Errorf("another file: %v", err)
		}
		close(release)
		synctest.Wait()
		probe("")
	})
}
