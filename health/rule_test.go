package health

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var usual = Rule{Window: 20, Fall: 10, Rise: 20}

// results reads "S" and "F" with repetitions, as in "S F*9 S", into results, true for a failure.
func results(t testing.TB, story string) []bool {
	t.Helper()
	var all []bool
	for word := range strings.FieldsSeq(story) {
		letter, times := word, 1
		if i := strings.IndexByte(word, '*'); i >= 0 {
			letter = word[:i]
			if _, err := fmt.Sscan(word[i+1:], &times); err != nil {
				t.Fatalf("story %q: %v", story, err)
			}
		}
		if letter != "S" && letter != "F" {
			t.Fatalf("story %q: %q is neither S nor F", story, letter)
		}
		for range times {
			all = append(all, letter == "F")
		}
	}
	return all
}

// judge plays a story against the rule, from an endpoint that is new, up or withdrawn with an empty
// window, and tells each change of verdict with the number of the result that made it.
func judge(t testing.TB, rule Rule, from Verdict, story string) []string {
	t.Helper()
	var changes []string
	v, w := from, Window{}
	for i, failed := range results(t, story) {
		w = w.Add(failed, rule.Window)
		if next := rule.Judge(v, w); next != v {
			v = next
			changes = append(changes, fmt.Sprintf("%d:%s", i+1, v))
		}
	}
	return changes
}

func TestVerdictsFollowTheRule(t *testing.T) {
	early := Rule{Window: 20, Fall: 10, Rise: 5}
	short := Rule{Window: 2, Fall: 2, Rise: 2}
	single := Rule{Window: 1, Fall: 1, Rise: 1}
	widest := Rule{Window: 64, Fall: 64, Rise: 64}
	for _, c := range []struct {
		name  string
		rule  Rule
		from  Verdict
		story string
		want  string
	}{
		{"first success makes a new endpoint up", usual, Unknown, "S", "1:up"},
		{"two failures of a new endpoint are not enough", usual, Unknown, "F F", ""},
		{"third failure in a row withdraws a new endpoint", usual, Unknown, "F F F F", "3:withdrawn"},
		{"success after two failures makes it up", usual, Unknown, "F F S F", "3:up"},
		{"once up, early failures count in the window", usual, Unknown, "F F S F*7 F", "3:up 11:withdrawn"},
		{"nine of twenty do not withdraw", usual, Up, "S*11 F*9 S*20", ""},
		{"tenth of twenty withdraws", usual, Up, "S*10 F*10", "20:withdrawn"},
		{"tenth failure withdraws in a window not yet full", usual, Up, "F*10", "10:withdrawn"},
		{"failures need not be in a row", usual, Up, "F S F S F S F S F S F S F S F S F S F", "19:withdrawn"},
		{"a failure older than the window does not count", usual, Up, "F S*19 F*9 S*20 F", ""},
		{"nineteen successes do not restore", usual, Withdrawn, "F*10 S*19 F", ""},
		{"twentieth success restores", usual, Withdrawn, "F*10 S*20 S", "30:up"},
		{"one failure begins the twenty anew", usual, Withdrawn, "S*19 F S*19 S", "40:up"},
		{"down and up and down", usual, Up, "F*10 S*20 F*9 F", "10:withdrawn 30:up 40:withdrawn"},
		{"rise below the window takes what the window has", early, Withdrawn, "F*3 S F S F S F S F S", "12:up"},
		{"only a failure withdraws", early, Withdrawn, "F*10 S*5 S*3 F", "15:up 19:withdrawn"},
		{"fall below three withdraws a new endpoint sooner", short, Unknown, "F F", "2:withdrawn"},
		{"a window of one follows every result", single, Unknown, "F S F S", "1:withdrawn 2:up 3:withdrawn 4:up"},
		{"the widest window withdraws at its last", widest, Up, "S F*63 F", "65:withdrawn"},
		{"the widest window restores at its last", widest, Withdrawn, "F S*63 S", "65:up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(judge(t, c.rule, c.from, c.story), " ")
			if got != c.want {
				t.Errorf("%v, from %v, results %q:\n got %q\nwant %q", c.rule, c.from, c.story, got, c.want)
			}
		})
	}
}

// twin is the rule as one would say it, over all results that ever were.
type twin struct {
	rule    Rule
	verdict Verdict
	all     []bool
}

func (w *twin) add(failed bool) {
	w.all = append(w.all, failed)
	last := w.window()
	failures := 0
	for _, f := range last {
		if f {
			failures++
		}
	}
	switch w.verdict {
	case Unknown:
		needed := 3
		if w.rule.Fall < 3 {
			needed = w.rule.Fall
		}
		if !failed {
			w.verdict = Up
		} else if w.run(true) >= needed {
			w.verdict = Withdrawn
		}
	case Up:
		if failed && failures >= w.rule.Fall {
			w.verdict = Withdrawn
		}
	case Withdrawn:
		if !failed && len(last)-failures >= w.rule.Rise {
			w.verdict = Up
		}
	}
}

func (w *twin) window() []bool { return w.all[max(0, len(w.all)-w.rule.Window):] }

// run is how many of the window's newest results in a row are like this.
func (w *twin) run(failed bool) int {
	last := w.window()
	n := 0
	for n < len(last) && last[len(last)-1-n] == failed {
		n++
	}
	return n
}

func TestRuleAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, windowMax).Draw(t, "window")
		check := Check{
			Window: size,
			Fall:   rapid.IntRange(1, size).Draw(t, "fall"),
			Rise:   rapid.IntRange(1, size).Draw(t, "rise"),
		}
		slow := &twin{rule: check.Rule()}
		var e Endpoint
		// Runs of equal results, or long windows would never be filled with one kind.
		for range rapid.IntRange(1, 12).Draw(t, "runs") {
			failed := rapid.Bool().Draw(t, "failed")
			for range rapid.IntRange(1, size+2).Draw(t, "length") {
				slow.add(failed)
				e = e.after(check, Result{OK: !failed, Cause: "broken"}, time.Time{})
				failures := 0
				for _, f := range slow.window() {
					if f {
						failures++
					}
				}
				want := Endpoint{
					Verdict: slow.verdict, Window: size, Results: len(slow.window()), Failed: failures,
					Failing: slow.run(true), Succeeding: slow.run(false), Bits: packed(slow.window()),
				}
				if failures > 0 || slow.verdict == Withdrawn {
					want.Cause = "broken"
				}
				if diff := cmp.Diff(want, e); diff != "" {
					t.Fatalf("after %d results (-want +got):\n%s", len(slow.all), diff)
				}
			}
		}
	})
}

// packed writes results, oldest first, as the bits of a window.
func packed(all []bool) (bits uint64) {
	for _, failed := range all {
		bits <<= 1
		if failed {
			bits |= 1
		}
	}
	return bits
}

func TestRuleIsBroughtIntoRange(t *testing.T) {
	for _, c := range []struct {
		name  string
		check Check
		want  Rule
	}{
		{"nothing given", Check{}, Rule{1, 1, 1}},
		{"too wide", Check{Window: 100, Fall: 90, Rise: 70}, Rule{64, 64, 64}},
		{"thresholds above the window", Check{Window: 5, Fall: 10, Rise: 20}, Rule{5, 5, 5}},
		{"negative", Check{Window: -1, Fall: -1, Rise: -1}, Rule{1, 1, 1}},
		{"the usual", Check{Window: 20, Fall: 10, Rise: 20}, usual},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.check.Rule(); got != c.want {
				t.Errorf("Rule() = %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestNextIsTheEarliestChangeOfTheVerdict(t *testing.T) {
	check := Check{Interval: 10 * time.Second, Window: 20, Fall: 10, Rise: 20}
	for _, c := range []struct {
		name  string
		from  Verdict
		story string
		want  time.Duration
	}{
		{"unknown, nothing known", Unknown, "", 0},
		{"unknown, one failure", Unknown, "F", 20 * time.Second},
		{"unknown, two failures", Unknown, "F F", 10 * time.Second},
		{"up and clean", Up, "S*20", 0},
		{"up, one failure", Up, "S*19 F", 90 * time.Second},
		{"up, one failure long ago", Up, "F S*19", 90 * time.Second},
		{"up, nine failures", Up, "F*9", 10 * time.Second},
		{"withdrawn, no success", Withdrawn, "F*20", 0},
		{"withdrawn, last failed", Withdrawn, "F*10 S*5 F", 0},
		{"withdrawn, one success", Withdrawn, "F*10 S", 190 * time.Second},
		{"withdrawn, nineteen successes", Withdrawn, "F S*19", 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Endpoint{Verdict: c.from}
			for _, failed := range results(t, c.story) {
				e = e.after(check, Result{OK: !failed}, time.Time{})
			}
			if e.Verdict != c.from {
				t.Fatalf("the story makes the endpoint %v, this test wants it to stay %v", e.Verdict, c.from)
			}
			if got := check.Next(e); got != c.want {
				t.Errorf("Next = %v, want %v", got, c.want)
			}
		})
	}
}

// With a rule whose rise is its window, results that all point to a change do not make it sooner than
// Next says. A restoration comes exactly then; a withdrawal may come later, when old failures leave
// the window meanwhile.
func TestNextIsNeverTooLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 24).Draw(t, "window")
		check := Check{Interval: time.Second, Window: size, Fall: rapid.IntRange(1, size).Draw(t, "fall"), Rise: size}
		var e Endpoint
		for _, failed := range rapid.SliceOfN(rapid.Bool(), 1, 80).Draw(t, "results") {
			e = e.after(check, Result{OK: !failed}, time.Time{})
		}
		next := check.Next(e)
		if next == 0 {
			return
		}
		worse := e.Verdict != Withdrawn
		sooner := e
		for range int(next/time.Second) - 1 {
			sooner = sooner.after(check, Result{OK: !worse}, time.Time{})
		}
		if sooner.Verdict != e.Verdict {
			t.Fatalf("%+v became %v before %v", e, sooner.Verdict, next)
		}
		if worse {
			return
		}
		if last := sooner.after(check, Result{OK: true}, time.Time{}); last.Verdict != Up {
			t.Fatalf("%+v is still %v after %v", e, last.Verdict, next)
		}
	})
}

func TestCauseIsKeptUntilTheWindowIsClean(t *testing.T) {
	check := Check{Window: 4, Fall: 3, Rise: 4}
	e := Endpoint{Verdict: Up}
	var got []string
	for _, r := range []Result{
		{OK: true}, {Cause: "status 503"}, {OK: true}, {Cause: "connect refused"},
		{OK: true}, {OK: true}, {OK: true}, {OK: true},
	} {
		e = e.after(check, r, time.Time{})
		got = append(got, e.Cause)
	}
	const dead = "connect refused"
	want := []string{"", "status 503", "status 503", dead, dead, dead, dead, ""}
	if !slices.Equal(got, want) {
		t.Errorf("causes %q, want %q", got, want)
	}
}

func TestWithdrawnEndpointTellsItsCauseEvenWithAnEmptyWindow(t *testing.T) {
	old := Check{Window: 4, Fall: 2, Rise: 4}
	e := Endpoint{}.after(old, Result{Cause: "status 500"}, time.Time{}).after(old, Result{Cause: "status 503"}, time.Time{})
	edited := e.under(Check{Window: 8, Fall: 2, Rise: 8})
	want := Endpoint{Verdict: Withdrawn, Window: 8, Cause: "status 503"}
	if diff := cmp.Diff(want, edited); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
