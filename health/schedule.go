package health

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// offset is where in the interval the probes of a key stand: from 0 up to the interval, spread evenly
// over the keys, and the same in every process.
func (f fingerprints) offset(k Key) time.Duration {
	address := k.Address.As16()
	sum := sha256.Sum256(append(address[:], f.of(k)...))
	share := float64(binary.BigEndian.Uint32(sum[:])) / (1 << 32)
	return time.Duration(share * float64(k.Check().Interval))
}

// firstSpread is the time within which everything is probed for the first time. The server opens its
// sockets after that, so it is short; it is not zero, so that the probes do not leave in one burst.
const firstSpread = time.Second

// Schedule says when one endpoint is probed: at start + offset + n·interval for n = 0, 1, 2…, except
// that the probe for n = 0 is drawn forward into the first second. So the second probe follows the
// first after one interval to two, and no two probes are nearer than an interval.
type Schedule struct {
	start    time.Time
	offset   time.Duration
	interval time.Duration
	n        int64 // the probe that is due next
}

// NewSchedule is the schedule of a key that is probed from the start on.
func NewSchedule(k Key, start time.Time) Schedule { return fingerprints{}.schedule(k, start) }

func (f fingerprints) schedule(k Key, start time.Time) Schedule {
	return Schedule{start: start, offset: f.offset(k), interval: max(k.Check().Interval, time.Millisecond)}
}

// Due is when the next probe leaves.
func (s Schedule) Due() time.Time {
	if s.n > 0 {
		return s.slot(s.n)
	}
	if s.interval <= firstSpread {
		return s.start.Add(s.offset)
	}
	share := float64(s.offset) / float64(s.interval)
	return s.start.Add(time.Duration(share * float64(firstSpread)))
}

func (s Schedule) slot(n int64) time.Time {
	return s.start.Add(s.offset + time.Duration(n)*s.interval)
}

// Done gives the schedule after a probe that ended at now. Slots that have passed by then are
// skipped, not made up for; only one that passed less than a quarter of the interval ago is still
// used, or a probe that takes a whole interval to time out would halve its own rate.
func (s Schedule) Done(now time.Time) Schedule {
	late := now.Sub(s.slot(0)) - s.interval/4
	s.n = max(s.n+1, int64((late+s.interval-1)/s.interval))
	return s
}

// Missed tells whether the probe that is due should not be made any more, since its time passed so long ago that the
// probes of all endpoints would leave in one burst. The first probe is never too late.
func (s Schedule) Missed(now time.Time) bool {
	return s.n > 0 && now.Sub(s.Due()) > max(s.interval/4, time.Second)
}

// Skip gives the schedule with the next probe that is not past.
func (s Schedule) Skip(now time.Time) Schedule {
	s.n = max(s.n, int64((now.Sub(s.slot(0))+s.interval-1)/s.interval))
	return s
}
