package health_test

import (
	"fmt"
	"net/netip"
	"time"

	"gslb/health"
)

// The board needs no network and no clock of its own, so a story can be told to it.
func Example() {
	status, err := health.ParseStatus("200-299")
	if err != nil {
		fmt.Println(err)
		return
	}
	web := health.Target{
		Address: netip.MustParseAddr("192.0.2.11"),
		Name:    "web",
		Check: health.Check{
			Kind:     health.HTTP{Port: 80, Path: "/ping", Status: status},
			Interval: 10 * time.Second, Timeout: 3 * time.Second, Window: 20, Fall: 10, Rise: 20,
		},
	}
	now := time.Date(2026, 12, 24, 6, 0, 0, 0, time.UTC)
	board := health.NewBoard()
	board.Apply([]health.Target{web}, now)

	tell := func(n int, r health.Result) {
		for range n {
			now = now.Add(web.Check.Interval)
			board.Record(web.Key(), r, now)
		}
		e := board.Latest().Endpoint(web.Key())
		fmt.Printf("%s: %d of %d failed, last: %q, next change in %v\n", e.Verdict, e.Failed, e.Results, e.Cause, web.Check.Next(e))
	}
	tell(20, health.Result{OK: true})
	tell(9, health.Result{Cause: "status 503"})
	tell(1, health.Result{Cause: "status 503"})
	tell(19, health.Result{OK: true})
	tell(1, health.Result{OK: true})
	// Output:
	// up: 0 of 20 failed, last: "", next change in 0s
	// up: 9 of 20 failed, last: "status 503", next change in 10s
	// withdrawn: 10 of 20 failed, last: "status 503", next change in 0s
	// withdrawn: 1 of 20 failed, last: "status 503", next change in 10s
	// up: 0 of 20 failed, last: "", next change in 0s
}
