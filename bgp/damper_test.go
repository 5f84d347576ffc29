package bgp

import (
	"testing"
	"time"
)

func TestPeerThatConnectsAllTheTimeIsLetInNowAndThen(t *testing.T) {
	var d damper
	now := noon
	admitted, words, said := 0, 0, 0
	count := func(n int) {
		for range n {
			now = now.Add(10 * time.Millisecond)
			if d.admits(now) {
				admitted++
			}
			if refused, due := d.tells(now); due {
				words, said = words+1, said+refused
			}
		}
	}
	count(dampBurst)
	if admitted != dampBurst || words != 0 {
		t.Errorf("of a burst %d were admitted, and %d words said", admitted, words)
	}
	const attempts = 60_000 // in ten minutes
	count(attempts)
	if got, want := admitted-dampBurst, int(10*time.Minute/dampPeriod); got < want || got > want+1 {
		t.Errorf("%d were admitted in ten minutes, want %d", got, want)
	}
	if words != 10 || said+d.refused != dampBurst+attempts-admitted {
		t.Errorf("%d words said of %d connections refused, want 10 of %d", words, said, dampBurst+attempts-admitted)
	}
	now = now.Add(dampBurst * dampPeriod)
	admitted = 0
	count(dampBurst)
	if admitted != dampBurst {
		t.Errorf("after a calm time %d of a burst were admitted", admitted)
	}
}
