package bgp

import (
	"math/rand/v2"
	"time"
)

// backoff spaces attempts that fail: every delay is drawn evenly between the least one and a ceiling
// that doubles from attempt to attempt up to the most ("full jitter"), so that neither many peers that
// were lost together nor two ends that collide stay in step.
type backoff struct {
	least, most time.Duration
	failed      int // attempts since the last reset
}

// next gives the delay before the next attempt.
func (b *backoff) next() time.Duration {
	ceiling := b.least
	for range b.failed + 1 {
		ceiling = min(2*ceiling, b.most)
	}
	b.failed++
	return b.least + rand.N(ceiling-b.least+1)
}

// reset makes the next delay one of the short ones.
func (b *backoff) reset() { b.failed = 0 }
