package health

import (
	"log/slog"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// TestReports plays an application that reports, against the clock of the runner.
func TestReports(t *testing.T) {
	other := netip.MustParseAddr("192.0.2.9")
	target := Target{Address: netip.MustParseAddr("192.0.2.1"), Name: "app", Check: Check{
		Kind: Push{Name: "app"}, Interval: 10 * time.Second, Timeout: 5 * time.Second, Window: 20, Fall: 10, Rise: 20,
	}}
	good, bad := Result{OK: true}, Result{Cause: "queue\nfull"}
	for _, c := range []struct {
		name   string
		report func(*Outside) // from the start on
		want   Endpoint       // after 100 seconds
	}{
		{"every interval", func(o *Outside) {
			for range 10 {
				o.Report("app", target.Address, good)
				time.Sleep(10 * time.Second)
			}
		}, Endpoint{Verdict: Up, Succeeding: 9}},
		{"just before the timeout", func(o *Outside) {
			for range 10 {
				time.Sleep(10 * time.Second)
				o.Report("app", target.Address, good)
			}
		}, Endpoint{Verdict: Up, Succeeding: 8, Cause: "no report"}},
		{"much more often", func(o *Outside) {
			for range 1000 {
				o.Report("app", target.Address, good)
				time.Sleep(100 * time.Millisecond)
			}
		}, Endpoint{Verdict: Up, Succeeding: 9}},
		{"bad among good", func(o *Outside) {
			for range 50 {
				o.Report("app", target.Address, good)
				o.Report("app", target.Address, bad)
				o.Report("app", target.Address, good)
				time.Sleep(2 * time.Second)
			}
		}, Endpoint{Verdict: Withdrawn, Failing: 9, Cause: "reported: queue full"}},
		{"never", func(*Outside) {}, Endpoint{Verdict: Withdrawn, Failing: 9, Cause: "no report"}},
		{"of others", func(o *Outside) {
			for range 10 {
				o.Report("app", other, good)
				o.Report("app2", target.Address, good)
				time.Sleep(10 * time.Second)
			}
		}, Endpoint{Verdict: Withdrawn, Failing: 9, Cause: "no report"}},
		{"no longer", func(o *Outside) {
			o.Report("app", target.Address, good)
		}, Endpoint{Verdict: Up, Failing: 8, Cause: "no report"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, board := NewOutside(), NewBoard()
				runner := NewRunner(board, o.Probe, slog.New(slog.DiscardHandler))
				runner.Apply([]Target{target})
				go runner.Run(t.Context())
				go c.report(o)
				time.Sleep(100 * time.Second)
				synctest.Wait()
				got := board.Latest().Endpoint(target.Key())
				if got.Verdict != c.want.Verdict || got.Failing < c.want.Failing || got.Succeeding < c.want.Succeeding || got.Cause != c.want.Cause {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				if len(o.mail.readers) > 1 {
					t.Errorf("%d readers wait, want 1 at most", len(o.mail.readers))
				}
			})
		})
	}
}

func TestReaderThatLeavesTakesNothingAlong(t *testing.T) {
	var m mail
	b, reader := box{"app", loopback}, make(chan Result, 1)
	m.open(b, reader)
	m.put(b, Result{Cause: "x"}) // between the end of the reader's time and its leaving
	m.leave(b, reader)
	if r, ok := m.open(b, reader); !ok || r.Cause != "x" {
		t.Errorf("the report is gone: %+v, %v", r, ok)
	}
	m.put(b, Result{Cause: "y"}) // nobody waits: the last reader got what it came for
	if r, ok := m.open(b, reader); !ok || r.Cause != "y" {
		t.Errorf("the next report is gone: %+v, %v", r, ok)
	}
	m.open(b, reader)
	m.leave(b, make(chan Result, 1))
	if m.readers[b] != reader {
		t.Error("one reader ended the waiting of another")
	}
}

// What was reported of an endpoint that is no target any more does not count when it comes back.
func TestReportsOfOthersAreForgotten(t *testing.T) {
	o := NewOutside()
	stays, goes := Target{Address: loopback, Check: Check{Kind: Push{"app"}}}, Target{Address: netip.IPv6Loopback(), Check: Check{Kind: Push{"app"}}}
	for _, one := range []Target{stays, goes} {
		o.Report("app", one.Address, Result{Cause: "queue full", Load: 7, Loaded: true})
	}
	o.Retain([]Target{stays})
	for _, c := range []struct {
		target Target
		known  bool
	}{{stays, true}, {goes, false}} {
		if _, ok := o.mail.open(box{"app", c.target.Address}, nil); ok != c.known {
			t.Errorf("%v: there is a report: %v, want %v", c.target.Address, ok, c.known)
		}
		if _, ok := o.Load(c.target); ok != c.known {
			t.Errorf("%v: there is a load: %v, want %v", c.target.Address, ok, c.known)
		}
	}
}
