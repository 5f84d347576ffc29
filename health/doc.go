// Package health answers one question: does this endpoint deserve traffic?
//
// Its nouns: a [Check] says how an endpoint is probed and when it is withdrawn and restored, and its
// [Kind] what it is asked; a [Target] is an address with a check; a [Result] is what one probe found;
// the [Window] holds the last results; the [Rule] turns a window into a [Verdict]; an [Endpoint] is
// everything that is known of one target; the [Board] keeps all endpoints and publishes them as an
// immutable [Report]. The board has no goroutine and no clock: the [Runner] brings it results on time,
// with a [Prober] that asks the world [Outside], and a simulator can bring it results on a clock of
// its own.
//
//	board := health.NewBoard()
//	runner := health.NewRunner(board, health.NewOutside().Probe, log)
//	runner.Apply(targets)            // again whenever the targets change
//	go runner.Run(ctx)
//	<-board.Settled()                // every endpoint has its first result
//	e := board.Latest().Endpoint(targets[0].Key())
//	e.Serving()
//
// The two thresholds of the rule are unequal on purpose. Withdrawing is a heavy operation and is
// done only when sure, by default after 10 failures of the last 20 results; users are sent back only
// when everything is sound, by default after 20 successes of the last 20.
//
// Two things keep our own failures from being blamed on endpoints. When endpoints of several failure domains begin to
// fail at once, the [Brake] of the board holds all verdicts. And a probe that failed while the process stood still is
// not recorded.
//
// The package refuses to know services, places or names: an endpoint is an address and a check.
// It refuses to probe by anything but the address it was given (no look-ups, no proxies, no
// redirects to another host), and it keeps no history beyond the window.
package health
