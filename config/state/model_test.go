package state

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// model is the store as plain maps and slices.
type model struct {
	buckets map[string]map[string]string
	events  []Event // by time, then in the order in which they came
}

func (m *model) append(events []Event) {
	m.events = append(m.events, events...)
	slices.SortStableFunc(m.events, func(a, b Event) int { return a.Time.Compare(b.Time) })
}

func (m *model) since(t time.Time, limit int) []Event {
	found := slices.DeleteFunc(slices.Clone(m.events), func(e Event) bool { return e.Time.Before(t) })
	if limit > 0 && len(found) > limit {
		found = found[len(found)-limit:]
	}
	return found
}

func TestIsAMapAndAList(t *testing.T) {
	folder := t.TempDir()
	var (
		names  = rapid.SampledFrom([]string{"windows", "prefixes", "x"})
		keys   = rapid.SampledFrom([]string{"a", "b", "c", "d", "192.0.2.1/web"})
		values = rapid.Custom(func(t *rapid.T) string {
			return string(make([]byte, rapid.SampledFrom([]int{0, 1, 100, 5000}).Draw(t, "size")))
		})
		times  = rapid.Custom(func(t *rapid.T) time.Time { return start.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "ns"))) })
		limits = rapid.IntRange(0, 6)
		event  = rapid.Custom(func(t *rapid.T) Event {
			return Event{Time: times.Draw(t, "time"), Text: rapid.String().Draw(t, "text")}
		})
	)
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		file := filepath.Join(folder, time.Duration(round).String())
		s := openForModel(t, file)
		defer func() { s.Close() }()
		m := model{buckets: map[string]map[string]string{}}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				name, key, value := names.Draw(t, "bucket"), keys.Draw(t, "key"), values.Draw(t, "value")
				mustModel(t, s.put(name, key, []byte(value)))
				if m.buckets[name] == nil {
					m.buckets[name] = map[string]string{}
				}
				m.buckets[name][key] = value
			},
			"put all": func(t *rapid.T) {
				name, all := names.Draw(t, "bucket"), rapid.MapOf(keys, values).Draw(t, "all")
				given := map[string][]byte{}
				for k, v := range all {
					given[k] = []byte(v)
				}
				mustModel(t, s.putAll(name, given))
				m.buckets[name] = all
			},
			"change": func(t *rapid.T) {
				name, set := names.Draw(t, "bucket"), rapid.MapOf(keys, values).Draw(t, "set")
				gone := slices.DeleteFunc(rapid.SliceOf(keys).Draw(t, "gone"), func(k string) bool { _, stays := set[k]; return stays })
				given := map[string][]byte{}
				for k, v := range set {
					given[k] = []byte(v)
				}
				mustModel(t, s.change(name, given, gone))
				if m.buckets[name] == nil {
					m.buckets[name] = map[string]string{}
				}
				for _, k := range gone {
					delete(m.buckets[name], k)
				}
				maps.Copy(m.buckets[name], set)
			},
			"append": func(t *rapid.T) {
				events := rapid.SliceOfN(event, 0, 4).Draw(t, "events")
				for i, e := range events { // JSON keeps valid text only
					events[i].Text = string([]rune(e.Text))
				}
				mustModel(t, s.append(events...))
				m.append(events)
			},
			"trim": func(t *rapid.T) {
				before, limit := times.Draw(t, "before"), limits.Draw(t, "limit")
				mustModel(t, s.trim(before, limit))
				m.events = m.since(before, limit)
			},
			"reopen": func(t *rapid.T) {
				mustModel(t, s.Close())
				s = openForModel(t, file)
			},
			"": func(t *rapid.T) {
				since, limit := times.Draw(t, "since"), limits.Draw(t, "limit")
				agree(t, s, m, since, limit)
			},
		})
	})
}

// agree compares the store with the model.
func agree(t *rapid.T, s *Store, m model, since time.Time, limit int) {
	for _, name := range []string{"windows", "prefixes", "x"} {
		all, err := s.All(name)
		mustModel(t, err)
		if len(all) != len(m.buckets[name]) {
			t.Fatalf("bucket %s holds %d keys, want %d", name, len(all), len(m.buckets[name]))
		}
		for key, want := range m.buckets[name] {
			got, err := s.Get(name, key)
			if err != nil || got == nil || string(got) != want || string(all[key]) != want {
				t.Fatalf("bucket %s key %s: Get %d bytes, All %d bytes, error %v; want %d bytes", name, key, len(got), len(all[key]), err, len(want))
			}
		}
	}
	got, err := s.Events(since, limit)
	mustModel(t, err)
	if diff := gocmp.Diff(m.since(since, limit), got, equalEmpty, cmpopts.IgnoreFields(Event{}, "ID")); diff != "" {
		t.Fatalf("events since %v, at most %d (-want +got):\n%s", since, limit, diff)
	}
	// From the ID of each the journal goes on with the next.
	for i, e := range got {
		rest, err := s.After(e.ID, len(got))
		mustModel(t, err)
		if diff := gocmp.Diff(got[i+1:], rest, equalEmpty); diff != "" {
			t.Fatalf("after %s (-want +got):\n%s", e.ID, diff)
		}
	}
	if newest, err := s.Newest(); err != nil || len(got) > 0 && newest != got[len(got)-1].ID {
		t.Fatalf("the newest is %s (%v), not the last of %d", newest, err, len(got))
	}
}

var equalEmpty = gocmp.FilterValues(
	func(a, b []Event) bool { return cmp.Or(len(a), len(b)) == 0 },
	gocmp.Comparer(func(a, b []Event) bool { return true }),
)

func openForModel(t *rapid.T, file string) *Store {
	s, notice, err := Open(file)
	if err != nil || notice != "" {
		t.Fatalf("notice %q, error %v", notice, err)
	}
	s.db.NoSync = true // what is tested is not the disk
	return s
}

func mustModel(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}
