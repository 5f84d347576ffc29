package health

import (
	"errors"
	"log/slog"
	"sync"
	"syscall"
)

// hindrance is an error of ours, already in words: for want of something on this machine a probe could not be made.
// It tells nothing of the endpoint.
type hindrance string

func (h hindrance) Error() string { return string(h) }

// hinders tells whether an error is one of this machine. The kernel gives these before anything has left for the
// endpoint; no answer of an endpoint or of the network becomes one of them.
func hinders(err error) bool {
	var (
		ours  hindrance
		known fault
		errno syscall.Errno
	)
	switch {
	case errors.As(err, &ours):
		return true
	case errors.As(err, &known), !errors.As(err, &errno):
		return false
	}
	switch errno {
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL, syscall.EAGAIN,
		syscall.EPERM, syscall.EACCES, syscall.EAFNOSUPPORT, syscall.EPROTONOSUPPORT:
		return true
	}
	return false
}

// hindrances are the endpoints whose probes cannot be made at present.
type hindrances struct {
	mu        sync.Mutex
	causes    map[Key]string // of the newest probe of each
	held      map[string]int // how many of them each cause holds up
	discarded uint64
}

// note takes in a result, and gives the cause that begins with it, and that which has ended with it; "": none.
func (h *hindrances) note(k Key, r Result) (begun, ended string) {
	cause := ""
	if r.Ours {
		cause = r.Cause
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Ours {
		h.discarded++
	}
	before := h.causes[k]
	if before == cause {
		return "", ""
	}
	if h.causes == nil {
		h.causes, h.held = map[Key]string{}, map[string]int{}
	}
	if cause == "" {
		delete(h.causes, k)
	} else {
		h.causes[k] = cause
		if h.held[cause]++; h.held[cause] == 1 {
			begun = cause
		}
	}
	if before != "" {
		if h.held[before]--; h.held[before] == 0 {
			delete(h.held, before)
			ended = before
		}
	}
	return begun, ended
}

// tell says aloud what note gave.
func (h *hindrances) tell(log *slog.Logger, k Key, begun, ended string) {
	if begun != "" {
		log.Error("checks cannot be made: until they can, verdicts stay as they are", "cause", begun, "endpoint", k.Address)
	}
	if ended != "" {
		log.Info("checks can be made again", "cause", ended)
	}
}
