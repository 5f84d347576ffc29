package health

import (
	"fmt"
	"math/bits"
)

// Verdict is what the rule says of an endpoint.
type Verdict uint8

const (
	// Unknown: new, no success yet and too few failures to be sure. It counts as serving.
	Unknown Verdict = iota
	// Up: it deserves traffic.
	Up
	// Withdrawn: it is kept out of answers.
	Withdrawn
)

// String is the word for the verdict in logs and reasons.
func (v Verdict) String() string {
	switch v {
	case Unknown:
		return "unknown"
	case Up:
		return "up"
	case Withdrawn:
		return "withdrawn"
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

const (
	windowMax    = 64 // results that fit the bits of a window
	firstFailing = 3  // failures in a row that withdraw a new endpoint
)

// Window holds the last results of an endpoint. The zero value is the empty window.
type Window struct {
	Bits    uint64 // bit 0 is the newest result; 1 is a failure; bits from Results on are 0
	Results int    // how many there are, at most the size of the rule's window
}

// Add gives the window with one more result; of a full one, the oldest is forgotten.
func (w Window) Add(failed bool, size int) Window {
	w.Bits <<= 1
	if failed {
		w.Bits |= 1
	}
	w.Bits &= ^uint64(0) >> (windowMax - size)
	w.Results = min(w.Results+1, size)
	return w
}

// Failed is the number of failures in the window.
func (w Window) Failed() int { return bits.OnesCount64(w.Bits) }

// Succeeded is the number of successes in the window.
func (w Window) Succeeded() int { return w.Results - w.Failed() }

// Failing is the number of failures since the last success, as far back as the window reaches.
func (w Window) Failing() int { return bits.TrailingZeros64(^w.Bits) }

// Succeeding is the number of successes since the last failure, as far back as the window reaches.
func (w Window) Succeeding() int { return min(bits.TrailingZeros64(w.Bits), w.Results) }

// String writes the results, oldest first: 1 for a success, 0 for a failure.
func (w Window) String() string {
	b := make([]byte, w.Results)
	for i := range b {
		b[i] = '1' - byte(w.Bits>>(w.Results-1-i)&1)
	}
	return string(b)
}

// Rule says when a window changes a verdict. All three numbers are at least 1, Window is at most 64,
// Fall and Rise are at most Window. With Fall and Rise that add up to more than Window a verdict is
// firm; with less, one window can satisfy both, and then the newest result decides.
type Rule struct {
	Window int // results that are looked at: the last ones
	Fall   int // failures among them that withdraw
	Rise   int // successes among them that restore
}

// Judge gives the verdict after the newest result of w, of an endpoint that had verdict v before it.
// Only a failure withdraws and only a success restores.
func (r Rule) Judge(v Verdict, w Window) Verdict {
	failed := w.Failing() > 0 // the newest result
	switch {
	case v == Unknown && !failed:
		return Up
	case v == Unknown && w.Failing() >= r.firstFall():
		return Withdrawn
	case v == Up && failed && w.Failed() >= r.Fall:
		return Withdrawn
	case v == Withdrawn && !failed && w.Succeeded() >= r.Rise:
		return Up
	}
	return v
}

// firstFall is the number of failures in a row that withdraw an endpoint which never succeeded:
// nothing speaks for it yet, so it needs fewer than one that has been seen to work.
func (r Rule) firstFall() int { return min(firstFailing, r.Fall) }
