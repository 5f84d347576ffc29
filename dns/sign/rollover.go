package sign

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Role is what a key of a zone is for.
type Role uint8

const (
	// CSK signs all there is, and the parent points to it.
	CSK Role = iota
	// KSK signs the keys, and the parent points to it.
	KSK
	// ZSK signs what the zone holds.
	ZSK
)

// String gives the role's usual name.
func (r Role) String() string { return [...]string{"CSK", "KSK", "ZSK"}[r] }

// RoleOf tells what a key is for at a moment, among all keys of its zone.
func RoleOf(k *Key, all []*Key, now time.Time) Role {
	switch {
	case !k.EntryPoint():
		return ZSK
	case slices.ContainsFunc(all, func(o *Key) bool {
		return !o.EntryPoint() && o.Algorithm() == k.Algorithm() && !reached(o.Times.Delete, now)
	}):
		return KSK
	}
	return CSK
}

// signDelay is how long it takes until everything is signed by a key that begins to sign, and some more.
const signDelay = 10 * time.Minute

// publishInterval is how long a new key is shown before anybody may rely on it (RFC 7583 section 3.2.1, Ipub).
func (s Source) publishInterval() time.Duration {
	return s.Propagation + time.Duration(s.Rules.KeyTTL)*time.Second
}

// retireInterval is how long a key is still shown when it signs the zone no more (RFC 7583 section 3.2.1, Iret).
func (s Source) retireInterval() time.Duration { return signDelay + s.Propagation + s.Longest }

// The reasons why keys are not rolled over now.
var (
	errUnderWay = errors.New("a rollover is under way")
	errNoKey    = errors.New("the zone has no such key in use")
	errNotRoll  = errors.New("no rollover waits for the parent")
)

// Roll begins the rollover of the zone's key of a role: it makes the key that follows, and writes into the files of both
// when what happens, so that a server that only follows the files never skips a TTL. A ZSK is shown beforehand
// (RFC 6781 section 4.1.1.1); a KSK or CSK signs the keys beside the old one until the parent's DS record has changed
// and the old one has expired everywhere (section 4.1.2, double signature; of a CSK section 4.1.3). That it has
// changed is told by [Source.ParentChanged].
func (s Source) Roll(role Role, now time.Time) (next *Key, err error) {
	keys, err := ReadFolder(s.Folder, s.Zone.Origin())
	if err != nil {
		return nil, err
	}
	old, err := s.current(keys, role, now)
	if err != nil {
		return nil, err
	}
	now = now.Truncate(time.Second)
	ready := now.Add(s.publishInterval())
	times := Times{Created: now, Publish: now, Activate: ready}
	if role != ZSK {
		times.SyncPublish = ready
	}
	next, err = Make{Folder: s.Folder, Zone: s.Zone.Origin(), Algorithm: old.Algorithm(), EntryPoint: role != ZSK, Times: times}.Key(keys...)
	if err != nil {
		return nil, err
	}
	end := old.Times
	if role == ZSK {
		end.Inactive, end.Delete = ready, ready.Add(s.retireInterval())
	} else {
		end.SyncDelete = ready
	}
	return next, old.SetTimes(end)
}

// ParentChanged says that the parent's servers have the DS record of the new key, and not that of the old one any more: the
// old one goes when resolvers have forgotten what pointed to it, and what it signed. It gives the key that goes.
func (s Source) ParentChanged(now time.Time) (old *Key, err error) {
	keys, err := ReadFolder(s.Folder, s.Zone.Origin())
	if err != nil {
		return nil, err
	}
	old, next := waiting(keys)
	if old == nil {
		return nil, errNotRoll
	}
	if now.Before(next.Times.SyncPublish) {
		return nil, fmt.Errorf("too early: resolvers may not know key %d before %s, so the parent must not point to it", next.tag, next.Times.SyncPublish.Format(time.RFC3339))
	}
	end := old.Times
	end.Inactive = now.Truncate(time.Second).Add(s.Propagation + s.ParentTTL)
	end.Delete = later(end.Inactive, next.Times.Activate.Add(s.retireInterval()))
	return old, old.SetTimes(end)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// waiting finds the two keys of a rollover that waits for the parent: the old one, whose end is not known yet, and the
// new one.
func waiting(keys []*Key) (old, next *Key) {
	for _, k := range keys {
		switch {
		case !k.EntryPoint() || !k.Times.Inactive.IsZero():
		case !k.Times.SyncDelete.IsZero():
			old = k
		case next == nil || k.Times.SyncPublish.After(next.Times.SyncPublish):
			next = k
		}
	}
	if next == nil {
		return nil, nil
	}
	return old, next
}

// current gives the key of a role that is in use, when it can be rolled over.
func (s Source) current(keys []*Key, role Role, now time.Time) (*Key, error) {
	var current *Key
	for _, k := range keys {
		of := RoleOf(k, keys, now) == role
		switch {
		case !of:
		case !k.Active(now) && !reached(k.Times.Delete, now),
			!k.Times.Inactive.IsZero() && !reached(k.Times.Delete, now),
			!k.Times.SyncDelete.IsZero() && !reached(k.Times.Delete, now):
			return nil, fmt.Errorf("%w: key %d", errUnderWay, k.tag)
		case k.Active(now):
			if current != nil {
				return nil, fmt.Errorf("keys %d and %d are both in use as %s: end one by its Inactive time first", current.tag, k.tag, role)
			}
			current = k
		}
	}
	if current == nil {
		return nil, fmt.Errorf("%w as %s", errNoKey, role)
	}
	if _, ok := current.Algorithm().bits(); !ok {
		return nil, fmt.Errorf("key %d is of %s: make the one that follows by dnssec-keygen -S", current.tag, current.Algorithm())
	}
	return current, nil
}

// Event is something that happens to a key.
type Event struct {
	At   time.Time
	Key  *Key
	Text string // "key 4711 begins to sign the zone"
}

// Events gives what is to happen to keys after a moment, in order.
func Events(keys []*Key, now time.Time) []Event {
	var events []Event
	for _, k := range keys {
		signs := "begins to sign the zone"
		if RoleOf(k, keys, now) == KSK {
			signs = "is relied on"
		}
		for _, e := range []struct {
			at   time.Time
			text string
		}{
			{k.Times.Publish, "is published"}, {k.Times.Activate, signs}, {k.Times.SyncPublish, "appears in CDS and CDNSKEY: the parent may point to it"},
			{k.Times.SyncDelete, "leaves CDS and CDNSKEY"}, {k.Times.Inactive, "signs no more"}, {k.Times.Delete, "is removed from the zone"},
		} {
			if e.at.After(now) {
				events = append(events, Event{e.at, k, fmt.Sprintf("key %d %s", k.tag, e.text)})
			}
		}
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key.tag, b.Key.tag)) })
	return events
}

// WaitsForParent gives the keys of a rollover that goes on when the parent points to the new one; nil: none waits.
func WaitsForParent(keys []*Key) (old, next *Key) { return waiting(keys) }

// State says in a word how far a key's life is at a moment.
func (k *Key) State(now time.Time) string {
	switch {
	case reached(k.Times.Delete, now):
		return "removed"
	case k.Retired(now):
		return "retired"
	case k.Active(now):
		return "active"
	case k.Published(now):
		return "published"
	}
	return "made"
}
