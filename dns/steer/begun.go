package steer

import (
	"maps"
	"time"
)

// DrainKey tells drains apart: a place that is drained twice for a service is drained once.
type DrainKey struct {
	Place   string `json:"place"`
	Service string `json:"service,omitempty"` // "": every service
}

// Begun gives since when the drains of a snapshot hold, of which these are the earlier ones. It gives the same
// map when nothing has changed; nobody writes to it.
func Begun(earlier map[DrainKey]time.Time, s *Snapshot) map[DrainKey]time.Time {
	now := map[DrainKey]time.Time{}
	for _, d := range s.activeDrains() {
		key := DrainKey{d.Target, d.Service}
		if since, ok := earlier[key]; ok {
			now[key] = since
		} else {
			now[key] = s.in.Now.Round(0) // without the clock of this process: it is saved
		}
	}
	if maps.Equal(now, earlier) {
		return earlier
	}
	return now
}
