package dns

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"gslb/dns/steer"
)

// A socket that does nothing but fail is tried on, and does not take a processor for it. A busy machine may not come to
// the rests within the time that there is, and is given more then.
func TestASocketThatOnlyFailsIsLeftAlone(t *testing.T) {
	for span := 20 * failureRest; ; span *= 2 {
		begin := time.Now()
		b := failing(t, span)
		most := failuresMinded + 1 + int(time.Since(begin)/failureRest)
		if b.errno != unix.ENOTSOCK || b.failures > most {
			t.Fatalf("it was tried %d times, want %d at most, and gave %v", b.failures, most, b.errno)
		}
		if b.failures > failuresMinded {
			return
		}
	}
}

// failing has a socket served that only fails, for so long.
func failing(t *testing.T, span time.Duration) *batch {
	t.Helper()
	conns, err := bindUDP(t.Context(), netip.MustParseAddrPort("127.0.0.1:0"), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range conns[1:] {
		_ = other.Close()
	}
	in, err := newInbox(conns[0])
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.CreateTemp(t.TempDir(), "") // which is no socket: nothing can be received from it
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := unix.Dup2(int(file.Fd()), in.socket); err != nil {
		t.Fatal(err)
	}
	empty := emptySnapshot()
	s := NewServer(NewResponder("ns1", "test"), func() *steer.Snapshot { return empty }, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	b := &batch{worker: s.responder.Worker(), inbox: in}
	b.prepare(false)
	var worker sync.WaitGroup
	worker.Go(func() { s.serveBatch(ctx, b, false) })
	worker.Wait()
	return b
}

// Whoever takes a zone slowly does not keep it for as long as he likes.
func TestTransfersEndInTime(t *testing.T) {
	messages := slices.Values([][]byte{{1}, {2}, {3}})
	for wait, want := range map[time.Duration]int{transferTime / 4: 3, transferTime: 1} {
		synctest.Test(t, func(t *testing.T) {
			whole, ended := 0, false
			for message := range inTime(messages) {
				if len(message) == 0 {
					ended = true
					continue
				}
				whole++
				time.Sleep(wait + time.Second)
			}
			if whole != want || ended == (want == 3) {
				t.Errorf("with %s a message: %d came, and the end was told: %v", wait, whole, ended)
			}
		})
	}
}
