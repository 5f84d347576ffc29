package sheet

import (
	"testing"
	"time"
)

// A drain for two hours that began a moment ago ends in two hours, and not in one.
func TestWhatIsLeftIsNotLessThanItIs(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:                      "0s",
		0:                                 "0s",
		time.Nanosecond:                   "1s",
		12*time.Second + 1:                "13s",
		60 * time.Second:                  "1m",
		4*time.Minute + 10*time.Second:    "4m10s",
		time.Hour - time.Millisecond:      "1h",
		time.Hour:                         "1h",
		2*time.Hour - time.Millisecond:    "2h",
		2*time.Hour - time.Minute:         "1h59m",
		48*time.Hour - time.Second:        "2d",
		76*time.Hour - time.Second:        "3d4h",
		14*24*time.Hour - 59*time.Minute:  "14d",
		time.Minute - time.Millisecond:    "1m",
		59*time.Minute + 59*time.Second:   "59m59s",
		47*time.Hour + 59*time.Minute:     "47h59m",
		23*time.Hour + 59*time.Minute + 1: "24h",
		5*24*time.Hour + 30*time.Minute:   "5d1h",
	} {
		if got := Left(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
