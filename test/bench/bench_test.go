package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// TestRunsAtAll runs the command as it is told in the documentation. It says nothing of the figures.
func TestRunsAtAll(t *testing.T) {
	rig.Installed(t, "gdnsd", "gdnsd")
	port := fmt.Sprint(20000 + os.Getpid()%500*20) // another run may have the usual ones
	words := []string{"--short", "--port", port, "--servers", "gdnsd", "--mixes", "static,geo", "--parts", "peers,tcp"}
	if os.Getenv("GSLB_LONG") != "" {
		words = []string{"--short", "--port", port}
	}
	out, err := exec.Command("./run", words...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"| static sat | ", "| geo 20k | ", "| static tcp, 100 kept | "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no line begins with %q in\n%s", want, out)
		}
	}
}

func TestQueriesAreWellFormed(t *testing.T) {
	for _, kind := range append(append([]string(nil), mixes...), ours...) {
		m, err := newMix(kind, 1)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i := range 100 {
			packet := make([]byte, packetSize)
			packet = packet[:m.next(packet, uint16(i))]
			var q dns.Msg
			if err := q.Unpack(packet); err != nil {
				t.Fatalf("%s: %v: %x", kind, err, packet)
			}
			if q.Id != uint16(i) || len(q.Question) != 1 || !dns.IsSubDomain(zoneName+".", q.Question[0].Name) || q.IsEdns0() == nil {
				t.Fatalf("%s: %v", kind, &q)
			}
			binary.BigEndian.PutUint16(packet, 0)
			seen[string(packet)] = true
		}
		if varies := kind != "geo" && kind != "lb" && kind != "down"; varies != (len(seen) > 50) {
			t.Errorf("%s: %d of 100 queries are different", kind, len(seen))
		}
	}
}

func TestUnknownMix(t *testing.T) {
	if _, err := newMix("stattic", 1); err == nil {
		t.Error("no error")
	}
}

func TestRatiosAreTakenInsideRounds(t *testing.T) {
	var r report
	for round, disturbed := range []float64{1, 10, 2, 7, 1} {
		for server, cost := range map[string]float64{"gslb": 3, "other": 4} {
			r.windows = append(r.windows, window{round: round, server: server, loadName: loadName{"static", "sat"}, processor: cost * disturbed, rate: 1000})
		}
	}
	r.windows = append(r.windows, window{round: 5, server: "gslb", loadName: loadName{"static", "sat"}, processor: 1000}) // the other has none
	var text strings.Builder
	r.table(&text)
	if want := "| static sat | 0.75 | 1.00 |\n"; !strings.Contains(text.String(), want) {
		t.Errorf("got\n%s\nwant a line %s", text.String(), want)
	}
}

func TestPercentiles(t *testing.T) {
	o := outcome{good: 100, elapsed: time.Second, late: make([]uint32, 1000)}
	for us := range 100 {
		o.late[us+1]++
	}
	if p50, p99 := o.percentile(50), o.percentile(99); p50 != 50 || p99 != 99 {
		t.Errorf("p50 %v, p99 %v", p50, p99)
	}
}
