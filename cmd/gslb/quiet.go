package main

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

const (
	// quietNice is the nice value of the thread that does it: low, and not the lowest. Where queries take all processors a
	// reload still has a tenth of what one of their threads has, for it may be the drain that ends the flood.
	quietNice = 10
	// quietSpare is how many more goroutines may run while something is done quietly: its own, which counts while the kernel
	// lets it wait; and one that nothing runs, without which nobody would look for packets before another pauses.
	quietSpare = 2
)

// quietly does something that takes long and that nobody waits for, and returns when it is done: in a thread to which the
// kernel gives little while other threads want a processor, so that answers hardly wait for it. It must not hold what others
// wait for, and it is done by one at a time. The thread ends with it, since a priority that was lowered cannot be raised again.
func quietly(do func()) {
	usual := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(usual + quietSpare)
	defer func() {
		if os.Getenv("GOMAXPROCS") == "" {
			runtime.SetDefaultGOMAXPROCS() // as the machine allows, also later
		} else {
			runtime.GOMAXPROCS(usual)
		}
	}()
	await(func() { lower(do) })
}

// lower does something at a low priority, in a goroutine that ends with it. Not in the first thread, whose priority is
// shown as that of the process: while that one is held another is taken.
func lower(do func()) {
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		await(func() { lower(do) })
		runtime.UnlockOSThread()
		return
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), quietNice) // lowering it is always permitted
	do()
}

// await does something in another goroutine, and waits for it.
func await(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	<-done
}
