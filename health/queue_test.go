package health

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A queue gives its turns in the order of their times, whenever they came.
func TestQueueGivesTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var twin []time.Time // in order
		for _, step := range rapid.SliceOf(rapid.IntRange(-1, 20)).Draw(t, "steps") {
			if step >= 0 {
				due := epoch.Add(time.Duration(step) * time.Second)
				q.push(turn{due: due})
				twin = append(twin, due)
				slices.SortFunc(twin, time.Time.Compare)
				continue
			}
			if len(twin) == 0 {
				continue
			}
			if got := q.pop().due; !got.Equal(twin[0]) {
				t.Fatalf("the first is %v, want %v", got, twin[0])
			}
			twin = twin[1:]
		}
		if len(q) != len(twin) {
			t.Errorf("%d wait, want %d", len(q), len(twin))
		}
	})
}
