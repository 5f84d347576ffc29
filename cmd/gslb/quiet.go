package main

import (
	"context"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

const (
	// quietNice is the nice value of the thread that does something quietly: low, and not the lowest. Where queries take all
	// processors a reload still has a tenth of what one of their threads has, for it may be the drain that ends the flood.
	quietNice = 10
	// spareRoom is how many more goroutines Go may run than it would: one that computes for long, and one that nothing runs.
	spareRoom = 2
)

// makeRoom has Go run a few more goroutines at a time than there are processors, from now on, and gives how many it ran
// before. Where the operator has said it by GOMAXPROCS, that is left as it is.
//
// Go looks for packets as soon as it may run a goroutine and has none, and otherwise every 10 ms. So a goroutine that
// computes for long, as one that saves the state of many endpoints, holds answers up for as long where it has the last
// place. With places to spare it is the kernel that shares out the processors, at once and by priority.
func makeRoom() (usual int) {
	usual = runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(usual + spareRoom)
	}
	return usual
}

// hushed is a part of the server that works quietly for as long as it runs.
func hushed(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		quietly(func() { err = run(ctx) })
		return err
	}
}

// quietly does something that takes long and that nobody waits for, and returns when it is done: in a thread to which the
// kernel gives little while other threads want a processor, so that answers hardly wait for it. It must not hold what others
// wait for. The thread ends with it, since a priority that was lowered cannot be raised again.
func quietly(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		lower(do)
	}()
	<-done
}

// lower does something at a low priority, in a goroutine that ends with it. Not in the first thread, whose priority is
// shown as that of the process: while that one is held another is taken.
func lower(do func()) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		quietly(do)
		runtime.UnlockOSThread()
		return
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), quietNice) // lowering it is always permitted
	do()
}
