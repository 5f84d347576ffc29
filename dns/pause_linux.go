//go:build linux && (amd64 || arm64)

package dns

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pace is how fast packets come to one worker, by which it judges whether a pause is worth its while.
type pace struct {
	since time.Time
	count int
	rate  float64 // packets a second, of the last whole span
}

// paceSpan is how long packets are counted for a rate: long enough for some to come, and short enough to follow.
const paceSpan = 10 * time.Millisecond

// note takes in what came by now.
func (p *pace) note(packets int, now time.Time) {
	p.count += packets
	if span := now.Sub(p.since); span >= paceSpan {
		p.rate = float64(p.count) / span.Seconds()
		p.since, p.count = now, 0
	}
}

// gathers tells whether a pause would gather anything: at less than one packet a pause it costs more than it saves.
func (p *pace) gathers(pause time.Duration) bool {
	return pause > 0 && p.rate*pause.Seconds() >= 1
}

// rest waits, and nobody else runs on this processor meanwhile: it is for much less than a millisecond, which is what
// the runtime's own timers round to when nothing else is to be done. The kernel would add 50 µs of its own if it
// were not told that this thread needs no such slack.
func rest(pause time.Duration) {
	const slack = 1000 // ns
	t := unix.NsecToTimespec(int64(pause))
	_, _, _ = unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_TIMERSLACK, slack, 0)
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}
