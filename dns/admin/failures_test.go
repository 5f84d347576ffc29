package admin

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"
)

// Whoever has many addresses gets no more memory of ours.
func TestGuessersAreForgotten(t *testing.T) {
	var f failures
	now := time.Unix(0, 0)
	for n := range 2 * failuresSources {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = fmt.Sprintf("10.0.%d.%d:1", n/256, n%256)
		if got := f.add(r, now); got != 1 {
			t.Fatalf("source %d has failed %d times", n, got)
		}
		if len(f.of) > failuresSources {
			t.Fatalf("%d sources are remembered", len(f.of))
		}
	}
}
