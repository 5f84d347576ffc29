package spread_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gslb/health/spread"
)

// TestDurationsAreCountedAsTheDefinitionSays compares the buckets with a look at every duration.
func TestDurationsAreCountedAsTheDefinitionSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOf(rapid.Map(rapid.Int64Range(-10, int64(2*time.Minute)), func(n int64) time.Duration { return time.Duration(n) })).Draw(t, "durations")
		edges := rapid.SliceOf(rapid.Map(rapid.IntRange(0, 27), func(n int) time.Duration { return time.Microsecond << n })).Draw(t, "edges")
		durations = append(durations, edges...)
		var s spread.Spread
		var sum spread.Sum
		var total time.Duration
		for _, d := range durations {
			s.Add(d)
			total += max(d, 0)
		}
		sum.Take(&s)
		if sum.Count() != uint64(len(durations)) || sum.Seconds() != total.Seconds() {
			t.Fatalf("%d durations of %v s, want %d of %v", sum.Count(), sum.Seconds(), len(durations), total.Seconds())
		}
		for bound, got := range sum.Below() {
			want := uint64(0)
			for _, d := range durations {
				if d.Seconds() <= bound {
					want++
				}
			}
			if got != want {
				t.Fatalf("at most %v s: got %d, want %d of %v", bound, got, want, durations)
			}
		}
	})
}

func ExampleSpread() {
	var s spread.Spread
	s.Add(3 * time.Microsecond)
	s.Add(time.Millisecond)
	var sum spread.Sum
	sum.Take(&s)
	fmt.Println(sum.Count(), sum.Below()[4e-6])
	// Output: 2 1
}
