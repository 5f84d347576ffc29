package main

import (
	"os"
	"syscall"
	"time"
)

// stamp tells whether a file is another than before. The zero stamp is that of no file.
type stamp struct {
	device, inode uint64
	size          int64
	changed       int64 // content, name or rights, in nanoseconds of Unix time
}

func stampOf(path string) stamp {
	about, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	sys, ok := about.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{size: about.Size(), changed: about.ModTime().UnixNano()}
	}
	return stamp{uint64(sys.Dev), sys.Ino, about.Size(), sys.Ctim.Nano()}
}

// after tells whether the file changed after a time, or so shortly before it that clocks do not tell.
func (s stamp) after(t time.Time) bool {
	const tick = 20 * time.Millisecond // file systems use a clock that goes by ticks of the kernel
	return s.changed > t.Add(-tick).UnixNano()
}
