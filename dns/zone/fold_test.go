package zone

import (
	"math/rand/v2"
	"testing"
)

// TestEightBytesFoldAsEachDoes holds every byte at every place among random others.
func TestEightBytesFoldAsEachDoes(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 2))
	for n := range 20 {
		for c := range 256 {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(luck.Uint32())
			}
			if n > 0 {
				b[c%n] = byte(c)
			}
			got := make([]byte, n)
			fold(got, b)
			for i := range b {
				if got[i] != lower(b[i]) {
					t.Fatalf("%x became %x: byte %d should be %x", b, got, i, lower(b[i]))
				}
			}
		}
	}
}
