package health

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestErrnoCauses covers what loopback does not produce.
func TestErrnoCauses(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.ECONNREFUSED:  "connect refused",
		syscall.EHOSTUNREACH:  "no route to host",
		syscall.ENETUNREACH:   "network unreachable",
		syscall.ECONNRESET:    "connection reset",
		syscall.EPIPE:         "connection reset",
		syscall.ETIMEDOUT:     "connection timed out",
		syscall.EMFILE:        "too many open files",
		syscall.EADDRNOTAVAIL: "no local address",
		syscall.EACCES:        "permission denied",
	} {
		err := fmt.Errorf("asking: %w", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", errno)})
		if got := cause(err, Check{}); got != want {
			t.Errorf("%v: cause %q, want %q", errno, got, want)
		}
	}
}

func TestLongTextIsCutInItsCause(t *testing.T) {
	err := Text{Plain: strings.Repeat("ж", 50) + "\n"}.search(strings.NewReader(""), "body", true)
	if got, want := cause(err, Check{}), `body lacks "`+strings.Repeat("ж", 40)+`…"`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got := cause(Text{Plain: "a\n"}.search(strings.NewReader(""), "body", true), Check{}); got != `body lacks "a\n"` {
		t.Errorf("got %s", got)
	}
}

func TestTimeoutIsWrittenBriefly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		3 * time.Second: "3s", 500 * time.Millisecond: "500ms", 1500 * time.Millisecond: "1.5s", time.Minute: "1m",
		90 * time.Second: "1m30s", time.Hour: "1h", 61 * time.Minute: "1h1m", 10 * time.Minute: "10m", 0: "0s",
		time.Hour + time.Second: "1h0m1s",
	} {
		if got := brief(d); got != want {
			t.Errorf("brief(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestErrorsOfUnknownKindHaveAStableCause(t *testing.T) {
	if got := cause(errors.New("0x1f at 12:00"), Check{}); got != "probe failed" {
		t.Errorf("got %q", got)
	}
}
