package sign

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb/dns/zone"
)

// rolling is a zone whose keys are rolled over, and the times that resolvers and the parent keep what they saw.
func rolling(t *testing.T, roles ...Role) (Source, []*Key) {
	t.Helper()
	s := Source{Folder: t.TempDir(), Rules: Rules{KeyTTL: 3600}, Longest: 2 * time.Hour, Propagation: time.Hour, ParentTTL: 4 * time.Hour}
	z, problems := zone.Build(zone.Spec{Origin: "ok.test", TTL: 3600, NS: []string{"ns.example."}})
	if z == nil {
		t.Fatal(problems)
	}
	s.Zone = z
	var keys []*Key
	for _, role := range roles {
		keys = append(keys, newKey(t, s.Folder, Ed25519, role != ZSK, Times{Publish: noon.Add(-240 * time.Hour), Activate: noon.Add(-240 * time.Hour), SyncPublish: noon.Add(-240 * time.Hour)}))
	}
	return s, keys
}

// step is how fine time is looked at.
const step = 10 * time.Minute

// A resolver has the keys of any moment that it can have kept them from, and signatures and DS records alike: at no moment
// of a rollover does one of them lack what another needs.
func TestNoResolverIsLostInARollover(t *testing.T) {
	for _, tc := range []struct {
		role  Role
		roles []Role
	}{{ZSK, []Role{KSK, ZSK}}, {KSK, []Role{KSK, ZSK}}, {CSK, []Role{CSK}}} {
		t.Run(tc.role.String(), func(t *testing.T) {
			s, keys := rolling(t, tc.roles...)
			old := keys[slices.Index(tc.roles, tc.role)]
			next, err := s.Roll(tc.role, noon)
			if err != nil {
				t.Fatal(err)
			}
			changed := next.Times.SyncPublish.Add(3 * time.Hour)
			if tc.role != ZSK {
				if _, err := s.ParentChanged(next.Times.SyncPublish.Add(-time.Second)); err == nil {
					t.Error("the parent could change too early")
				}
				if _, err := s.ParentChanged(changed); err != nil {
					t.Fatal(err)
				}
			}
			if keys, err = ReadFolder(s.Folder, s.Zone.Origin()); err != nil {
				t.Fatal(err)
			}
			end := noon.Add(48 * time.Hour)
			rings := map[time.Time]*ring{}
			for at := noon.Add(-24 * time.Hour); !at.After(end); at = at.Add(step) {
				if rings[at], err = newRing(keys, s.Zone.Origin(), at); err != nil {
					t.Fatal(at, err)
				}
			}
			parent := func(at time.Time) []uint16 {
				switch entry := keyOfRole(keys, old, next, tc.role); {
				case tc.role == ZSK:
					return []uint16{entry.tag}
				case at.Before(changed):
					return []uint16{old.tag}
				}
				return []uint16{next.tag}
			}
			for at := noon; !at.After(end); at = at.Add(step) {
				for seen := at; !seen.Before(at.Add(-s.Propagation - time.Hour)); seen = seen.Add(-step) { // the keys that a resolver has
					shown := rings[seen]
					for kept := at; !kept.Before(at.Add(-s.Longest)); kept = kept.Add(-step) { // what it got signed
						if by := rings[kept].data[0]; !slices.ContainsFunc(shown.shown, func(k *Key) bool { return sameKey(k, by) }) {
							t.Fatalf("%v: signed by %d at %v, keys from %v lack it", at.Sub(noon), by.tag, kept.Sub(noon), seen.Sub(noon))
						}
					}
					for told := at; !told.Before(at.Add(-s.ParentTTL - s.Propagation)); told = told.Add(-step) { // the DS record that it has
						if ds := parent(told); !slices.ContainsFunc(shown.shows, func(k *Key) bool { return slices.Contains(ds, k.tag) }) {
							t.Fatalf("%v: the parent pointed to %d at %v, keys from %v are not signed by it", at.Sub(noon), ds, told.Sub(noon), seen.Sub(noon))
						}
					}
				}
			}
			last := rings[end]
			if slices.ContainsFunc(last.shown, func(k *Key) bool { return sameKey(k, old) }) || !slices.ContainsFunc(last.shown, func(k *Key) bool { return sameKey(k, next) }) {
				t.Error("the old key is not gone in two days")
			}
			if _, err := s.Roll(tc.role, end); err != nil {
				t.Errorf("and once more: %v", err)
			}
		})
	}
}

// keyOfRole is the key that the parent points to while a ZSK is rolled over.
func keyOfRole(keys []*Key, old, next *Key, role Role) *Key {
	if role != ZSK {
		return old
	}
	return keys[slices.IndexFunc(keys, func(k *Key) bool { return k.EntryPoint() })]
}

func TestRolloversDoNotOverlap(t *testing.T) {
	s, _ := rolling(t, KSK, ZSK)
	if _, err := s.Roll(CSK, noon); !errors.Is(err, errNoKey) {
		t.Errorf("a CSK where there is none: %v", err)
	}
	if _, err := s.ParentChanged(noon); !errors.Is(err, errNotRoll) {
		t.Errorf("the parent changed, and nothing was to: %v", err)
	}
	if _, err := s.Roll(ZSK, noon); err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{0, time.Hour, 3 * time.Hour} {
		if _, err := s.Roll(ZSK, noon.Add(later)); !errors.Is(err, errUnderWay) {
			t.Errorf("after %v: %v", later, err)
		}
	}
	if _, err := s.Roll(KSK, noon.Add(time.Hour)); err != nil {
		t.Errorf("the KSK beside: %v", err)
	}
	if _, err := s.Roll(KSK, noon.Add(24*time.Hour)); !errors.Is(err, errUnderWay) {
		t.Errorf("while the parent is waited for: %v", err)
	}
}

func TestTellsWhatHappensNext(t *testing.T) {
	s, keys := rolling(t, KSK, ZSK)
	next, err := s.Roll(ZSK, noon)
	if err != nil {
		t.Fatal(err)
	}
	now, err := ReadFolder(s.Folder, s.Zone.Origin())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range Events(now, noon) {
		got = append(got, fmt.Sprintf("%v %s", e.At.Sub(noon), strings.NewReplacer(fmt.Sprint(keys[1].tag), "old", fmt.Sprint(next.tag), "next").Replace(e.Text)))
	}
	slices.Sort(got)
	want := []string{"2h0m0s key next begins to sign the zone", "2h0m0s key old signs no more", "5h10m0s key old is removed from the zone"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
