package bgp

import "time"

// A peer may connect so often: a burst at once, and then once in a while. We cannot space the attempts of
// a peer that we wait for, as a backoff does ours. One that flaps would fill the log and the journal, and
// change answers, as often as it likes.
const (
	dampBurst  = 100
	dampPeriod = 5 * time.Second
	dampTold   = time.Minute // between two words on connections that were refused so
)

// damper counts the connections of one peer against what it may.
type damper struct {
	whole   time.Time // when the whole burst may come again
	refused int       // since the last word on it
	told    time.Time
}

// admits tells whether one more connection may come now.
func (d *damper) admits(now time.Time) bool {
	if d.whole.Before(now) {
		d.whole = now
	}
	if d.whole.Sub(now) > (dampBurst-1)*dampPeriod {
		d.refused++
		return false
	}
	d.whole = d.whole.Add(dampPeriod)
	return true
}

// tells gives how many connections were refused, when it is time to say so.
func (d *damper) tells(now time.Time) (refused int, due bool) {
	if d.refused == 0 || now.Sub(d.told) < dampTold {
		return 0, false
	}
	refused, d.refused, d.told = d.refused, 0, now
	return refused, true
}
