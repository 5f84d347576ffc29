package speaker

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/osrg/gobgp/v3/pkg/packet/bgp"

	"gslb/bgp/wire"
)

// TestNoUnrestLeavesANeighbourStuck connects, cuts, changes and removes a neighbour at random and at
// once, so that gobgp's events about it come late and mixed, and then wants a route from it.
func TestNoUnrestLeavesANeighbourStuck(t *testing.T) {
	const seed = 20261129
	random := rand.New(rand.NewPCG(seed, seed))
	s := launch(t)
	n, other := neighbour(1), neighbour(2)
	s.begin(n)
	for range 6 {
		n = s.unrest(n, random)
		s.configure(other)
		for s.next() != (wire.Session{Neighbour: other.ID, State: wire.Ready}) { // all before it is of the unrest
		}
		s.configure(n)
		for learned := false; !learned; {
			switch m := s.next().(type) {
			case wire.Session:
				if m.State == wire.Ready {
					speak(dial(t, n, s.port), n, announce([]uint32{n.ASN}, nil, prefixes(1)...))
				}
			case wire.Routes:
				learned = true
			}
		}
	}
}

func (s *parent) unrest(n wire.Neighbour, random *rand.Rand) wire.Neighbour {
	for range 8 {
		switch random.IntN(5) {
		case 0:
			n.HoldTime += time.Second
			s.configure(n)
		case 1:
			s.configure()
			s.configure(n)
		case 2, 3:
			r := dial(s.t, n, s.port)
			speak(r, n)
			if random.IntN(2) == 0 {
				r.conn.Close()
			} else {
				defer r.conn.Close()
			}
		case 4:
			time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
		}
	}
	return n
}

// speak opens a session with a speaker that may close the connection meanwhile.
func speak(r *router, n wire.Neighbour, messages ...*bgp.BGPMessage) {
	for _, m := range append([]*bgp.BGPMessage{open(n), bgp.NewBGPKeepAliveMessage()}, messages...) {
		if r.try(m) != nil {
			return
		}
	}
}

// BenchmarkHundredThousand has a speaker in a process of its own learn 100 000 prefixes in 2 000
// UPDATEs, and tells the time from the first UPDATE to the End-of-RIB on the pipe, and the child's
// processor time and memory.
func BenchmarkHundredThousand(b *testing.B) {
	const each = 50
	all := prefixes(100_000)
	var took time.Duration
	for b.Loop() {
		s, child := spawn(b)
		n := neighbour(1)
		s.begin(n)
		r, _ := s.establish(n)
		began := time.Now()
		go func() {
			for i := 0; i < len(all); i += each {
				r.send(announce([]uint32{n.ASN, 64499, uint32(i)}, []uint32{1, 2, uint32(i)}, all[i:i+each]...))
			}
			r.send(bgp.NewEndOfRib(bgp.RF_IPv4_UC))
		}()
		got, messages := s.routes(n.ID)
		took += time.Since(began)
		if len(got) != len(all) {
			b.Fatalf("learned %d routes, want %d", len(got), len(all))
		}
		b.ReportMetric(float64(messages), "messages")
		b.ReportMetric(peakMemory(b, child.Process.Pid), "MB-peak")
		s.close()
		s.ended <- <-s.ended
		used := child.ProcessState.UserTime() + child.ProcessState.SystemTime()
		b.ReportMetric(used.Seconds(), "s-CPU")
	}
	b.ReportMetric(took.Seconds()/float64(b.N), "s-table")
}

// peakMemory is the most that the process had resident, in MB.
func peakMemory(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("no /proc here")
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	fields := bytes.Fields(rest)
	kilobytes, err := strconv.ParseFloat(string(fields[0]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return kilobytes / 1024
}
