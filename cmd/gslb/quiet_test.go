package main

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// What is done quietly has a low priority, nothing else has, and everything is as before when it is done.
func TestQuietlyIsLowForItselfAlone(t *testing.T) {
	usual := runtime.GOMAXPROCS(0)
	before := priority(t, os.Getpid())
	var inside, beside, room int
	quietly(func() {
		inside, room = priority(t, unix.Gettid()), runtime.GOMAXPROCS(0)
		done := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			beside = priority(t, unix.Gettid())
			close(done)
		}()
		<-done
	})
	if inside != quietNice || beside == quietNice || priority(t, os.Getpid()) != before {
		t.Errorf("nice %d inside, %d beside, %d before; want %d inside alone", inside, beside, before, quietNice)
	}
	if room != usual+quietSpare {
		t.Errorf("%d goroutines may run, want %d", room, usual+quietSpare)
	}
	if now := runtime.GOMAXPROCS(0); now != usual {
		t.Errorf("%d goroutines may run after it, and %d before", now, usual)
	}
}

// priority is the nice value of a thread.
func priority(t *testing.T, thread int) int {
	p, err := unix.Getpriority(unix.PRIO_PROCESS, thread)
	if err != nil {
		t.Error(err)
	}
	return 20 - p // as the system call tells it
}
