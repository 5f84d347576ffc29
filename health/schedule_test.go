package health

import (
	"testing"
	"time"
)

// offsetOf is where in the interval the probes of a key stand.
func offsetOf(k Key) time.Duration { return fingerprints{}.offset(k) }

func TestOffsetsSpreadEvenly(t *testing.T) {
	const tenths = 10
	var count [tenths]int
	for i := range 200 {
		for n := range 100 {
			one := target(byte(n))
			one.Check.Kind = TCP{Port: uint16(i)}
			o := offsetOf(one.Key())
			if o < 0 || o >= one.Check.Interval {
				t.Fatalf("offset %v is outside the interval", o)
			}
			count[o*tenths/one.Check.Interval]++
		}
	}
	for i, n := range count {
		if n < 1800 || n > 2200 {
			t.Errorf("%d of 20000 probes in tenth %d of the interval, want about 2000", n, i)
		}
	}
}

func TestOffsetIsTheSameInEveryProcess(t *testing.T) {
	if got, want := offsetOf(target(1).Key()), 9730373900*time.Nanosecond; got != want {
		t.Errorf("offset %d, want %d", got, want)
	}
}

func TestSchedule(t *testing.T) {
	const offset, interval = 4 * time.Second, 10 * time.Second
	at := func(d time.Duration) time.Time { return epoch.Add(d) }
	for _, c := range []struct {
		name string
		ends []time.Duration // of the probes, from the start
		want time.Duration   // of the next one
	}{
		{"first probe is drawn forward into the first second", nil, 400 * time.Millisecond},
		{"second is on its slot, an interval or more later", []time.Duration{500 * time.Millisecond}, 14 * time.Second},
		{"slots follow", []time.Duration{500 * time.Millisecond, 14 * time.Second, 24 * time.Second}, 34 * time.Second},
		{"a slow probe does not move them", []time.Duration{3 * time.Second, 17 * time.Second}, 24 * time.Second},
		{"a probe that takes its interval keeps its rate", []time.Duration{0, 24*time.Second + time.Millisecond}, 24 * time.Second},
		{"slots missed by more are skipped", []time.Duration{0, 27 * time.Second}, 34 * time.Second},
		{"a long gap is not made up for", []time.Duration{0, 14 * time.Second, 1000 * time.Second}, 1004 * time.Second},
		{"a clock that went back does not stop it", []time.Duration{0, -time.Hour}, 24 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Schedule{start: epoch, offset: offset, interval: interval}
			for _, end := range c.ends {
				s = s.Done(at(end))
			}
			if got := s.Due().Sub(epoch); got != c.want {
				t.Errorf("next probe at %v, want %v", got, c.want)
			}
		})
	}
}
