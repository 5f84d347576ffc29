package health

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// fault is an error that already is a cause in words.
type fault string

func (f fault) Error() string { return string(f) }

// errnoCause is the words for what the network or the kernel answered.
func errnoCause(errno syscall.Errno) string {
	switch errno {
	case syscall.ECONNREFUSED:
		return "connect refused"
	case syscall.EHOSTUNREACH, syscall.EHOSTDOWN:
		return "no route to host"
	case syscall.ENETUNREACH, syscall.ENETDOWN:
		return "network unreachable"
	case syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED:
		return "connection reset"
	case syscall.ETIMEDOUT:
		return "connection timed out"
	case syscall.EMFILE, syscall.ENFILE:
		return "too many open files"
	case syscall.EADDRNOTAVAIL:
		return "no local address"
	}
	return errno.Error()
}

// cause puts the error of a probe into words: short, and the same for the same fault, so that a cause
// that changes is a change of the fault.
func cause(err error, c Check) string {
	var (
		known fault
		ours  hindrance
		errno syscall.Errno
		op    *net.OpError
	)
	switch {
	case errors.As(err, &known):
		return string(known)
	case errors.As(err, &ours):
		return string(ours)
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.As(err, &errno):
		return errnoCause(errno)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout after " + brief(c.Timeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	case errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error"):
		return op.Err.Error() // a TLS alert, which may also come after the handshake
	}
	return "probe failed"
}

// brief writes a duration without the zero parts that its String has: 1m, not 1m0s.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// quoted writes a text of the config so that it fits a line of reasons.
func quoted(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return strconv.Quote(string(runes[:most]) + "…")
	}
	return strconv.Quote(text)
}
