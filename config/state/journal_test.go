package state

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// texts are the events' words, in order.
func texts(events []Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, e.Text)
	}
	return all
}

// at is an event some seconds after the start.
func at(seconds int, text string) Event {
	return Event{Time: start.Add(time.Duration(seconds) * time.Second), Text: text}
}

func TestEventsKeepEverything(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	s := openGood(t, file)
	moscow := time.FixedZone("MSK", 3*60*60)
	e := Event{
		Time:   start.Add(123456789).In(moscow),
		Kind:   "endpoint",
		Text:   `msk-2/web withdrawn: 10 of 20 failed, last: "status 503"`,
		Fields: map[string]string{"place": "msk-2", "cause": "status 503"},
	}
	must(t, s.append(e))
	must(t, s.Close())
	got, err := openGood(t, file).Events(time.Time{}, 0)
	must(t, err)
	e.Time, e.ID = e.Time.UTC(), fmt.Sprintf("%016x00000000", e.Time.UnixNano())
	if diff := cmp.Diff([]Event{e}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEventsAreInOrderOfTimeThenOfComing(t *testing.T) {
	s := openGood(t, filepath.Join(t.TempDir(), "state.db"))
	must(t, s.append(at(2, "c")))
	must(t, s.append(at(1, "a"), at(3, "e"), at(2, "d")))
	must(t, s.append(at(1, "b")))
	must(t, s.append())

	cases := []struct {
		name  string
		since time.Time
		limit int
		want  []string
	}{
		{"all", time.Time{}, 0, []string{"a", "b", "c", "d", "e"}},
		{"the last two", time.Time{}, 2, []string{"d", "e"}},
		{"from a time on, itself included", start.Add(2 * time.Second), 0, []string{"c", "d", "e"}},
		{"just after a time", start.Add(2*time.Second + 1), 0, []string{"e"}},
		{"the last of those from a time on", start.Add(2 * time.Second), 1, []string{"e"}},
		{"more than there are", start, 100, []string{"a", "b", "c", "d", "e"}},
		{"after the last", start.Add(time.Hour), 0, nil},
		{"at the end of time", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), 0, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.Events(c.since, c.limit)
			must(t, err)
			if diff := cmp.Diff(c.want, texts(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTrimBoundsByAgeAndNumber(t *testing.T) {
	cases := []struct {
		name   string
		before time.Time
		limit  int
		want   []string
	}{
		{"no bounds", time.Time{}, 0, []string{"a", "b", "c", "d"}},
		{"age", start.Add(2 * time.Second), 0, []string{"b", "c", "d"}},
		{"number", time.Time{}, 2, []string{"c", "d"}},
		{"number, the stricter", start.Add(2 * time.Second), 1, []string{"d"}},
		{"age, the stricter", start.Add(3 * time.Second), 3, []string{"d"}},
		{"all are too old", start.Add(time.Hour), 3, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := openGood(t, filepath.Join(t.TempDir(), "state.db"))
			must(t, s.append(at(1, "a"), at(2, "b"), at(2, "c"), at(3, "d")))
			must(t, s.trim(c.before, c.limit))
			got, err := s.Events(time.Time{}, 0)
			must(t, err)
			if diff := cmp.Diff(c.want, texts(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			must(t, s.append(at(2, "new")))
		})
	}
}

func TestAppendIsAllOrNone(t *testing.T) {
	s := openGood(t, filepath.Join(t.TempDir(), "state.db"))
	if err := s.append(at(1, "good"), Event{Text: "without a time"}); err == nil {
		t.Error("an event without a time was taken")
	}
	if got, err := s.Events(time.Time{}, 0); err != nil || len(got) != 0 {
		t.Errorf("events %v, %v; want none", got, err)
	}
}
