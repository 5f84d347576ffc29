package main

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// What is done quietly has a low priority, and nothing else has.
func TestQuietlyIsLowForItselfAlone(t *testing.T) {
	before := priority(t, os.Getpid())
	var inside, beside int
	quietly(func() {
		inside = priority(t, unix.Gettid())
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
}

// Go gets room to look for packets while something computes, unless the operator has said how much it has.
func TestRoomToSpare(t *testing.T) {
	usual := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(usual)
	t.Setenv("GOMAXPROCS", "")
	if got := makeRoom(); got != usual || runtime.GOMAXPROCS(0) != usual+spareRoom {
		t.Errorf("%d goroutines of %d, want %d of %d", runtime.GOMAXPROCS(0), got, usual+spareRoom, usual)
	}
	runtime.GOMAXPROCS(usual)
	t.Setenv("GOMAXPROCS", "1")
	if makeRoom(); runtime.GOMAXPROCS(0) != usual {
		t.Errorf("%d goroutines where the operator has said %d", runtime.GOMAXPROCS(0), usual)
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
