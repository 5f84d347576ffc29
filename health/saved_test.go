package health

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// restart saves a board as JSON and gives a new one that was restored from it at the given time.
func restart(t *testing.T, b *Board, now time.Time) *Board {
	t.Helper()
	text, err := json.Marshal(b.Save())
	if err != nil {
		t.Fatal(err)
	}
	var saved []Saved
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatal(err)
	}
	again := NewBoard()
	again.Restore(saved, now)
	return again
}

func TestRestartKeepsEverything(t *testing.T) {
	targets := []Target{target(1), target(2), target(3), target(4)}
	b := NewBoard()
	b.Apply(targets, epoch)
	play(t, b, targets[0].Key(), epoch, "S*20")
	play(t, b, targets[1].Key(), epoch, "S F*12 S*5")
	play(t, b, targets[2].Key(), epoch, "F F")
	now := epoch.Add(200 * time.Second)

	again := restart(t, b, now)
	again.Apply(targets, now)
	want, got := maps.Collect(b.Latest().All()), maps.Collect(again.Latest().All())
	want[targets[3].Key()] = Endpoint{Window: 20, Since: epoch} // never probed: as it was
	if diff := cmp.Diff(want, got, asPorts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(b.Save(), again.Save(), cmpopts.EquateComparable(Saved{}.Address)); diff != "" {
		t.Errorf("saved twice (-first +second):\n%s", diff)
	}
}

func TestWithdrawnEndpointOwesItsRiseAcrossARestart(t *testing.T) {
	for _, c := range []struct {
		name string
		away time.Duration // from the last result to the restart
		owes int           // successes until it is restored
	}{
		{"a short one keeps the successes", time.Minute, 5},
		{"one as long as the window keeps them", 200 * time.Second, 5},
		{"a longer one owes all of them", 201 * time.Second, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBoard()
			b.Apply([]Target{target(1)}, epoch)
			now := play(t, b, target(1).Key(), epoch, "F*3 S*15").Add(c.away)

			b = restart(t, b, now)
			b.Apply([]Target{target(1)}, now)
			for n := 1; ; n++ {
				if v := b.Latest().Endpoint(target(1).Key()).Verdict; v != Withdrawn {
					t.Fatalf("%v before success %d, want restored by success %d", v, n, c.owes)
				}
				b.Record(target(1).Key(), Result{OK: true}, now)
				if b.Latest().Endpoint(target(1).Key()).Serving() {
					if n != c.owes {
						t.Errorf("restored by success %d, want %d", n, c.owes)
					}
					return
				}
			}
		})
	}
}

func TestEditedCheckAcrossARestart(t *testing.T) {
	b := NewBoard()
	b.Apply([]Target{target(1), target(2)}, epoch)
	now := play(t, b, target(1).Key(), epoch, "F*3 S*15")
	play(t, b, target(2).Key(), epoch, "S F*5")

	edited, renamed := target(1), target(2)
	edited.Check.Kind, renamed.Name = TCP{Port: 81}, "new name"
	b = restart(t, b, now)
	b.Apply([]Target{edited, renamed}, now)
	ignore := cmpopts.IgnoreFields(Endpoint{}, "Since")
	want := Endpoint{Verdict: Withdrawn, Window: 20, Cause: "status 503"}
	if diff := cmp.Diff(want, b.Latest().Endpoint(edited.Key()), ignore); diff != "" {
		t.Errorf("edited (-want +got):\n%s", diff)
	}
	want = Endpoint{Verdict: Up, Window: 20, Results: 6, Failed: 5, Failing: 5, Bits: 0b11111, Cause: "status 503"}
	if diff := cmp.Diff(want, b.Latest().Endpoint(renamed.Key()), ignore); diff != "" {
		t.Errorf("renamed (-want +got):\n%s", diff)
	}
	if !closed(b.Settled()) {
		t.Error("not settled, though both verdicts were restored")
	}
}

func TestSharedEndpointIsSavedUnderAllItsNames(t *testing.T) {
	other := target(1)
	other.Name = "also"
	b := NewBoard()
	b.Apply([]Target{target(1), other}, epoch)
	now := play(t, b, target(1).Key(), epoch, "F*3")
	b = restart(t, b, now)
	other.Check.Kind = TCP{Port: 81}
	b.Apply([]Target{other}, now)
	if got := b.Latest().Endpoint(other.Key()).Verdict; got != Withdrawn {
		t.Errorf("the check that was edited during the restart is %v, want withdrawn", got)
	}
}

func TestSaveBeforeTheFirstApplyLosesNothing(t *testing.T) {
	b := NewBoard()
	b.Apply([]Target{target(2), target(1)}, epoch)
	play(t, b, target(1).Key(), epoch, "F*3")
	again := restart(t, b, epoch.Add(time.Minute))
	if diff := cmp.Diff(b.Save(), again.Save(), cmpopts.EquateComparable(Saved{}.Address)); diff != "" {
		t.Errorf("(-saved +saved again):\n%s", diff)
	}
}

func TestRestoreSurvivesNonsense(t *testing.T) {
	one := target(1)
	print := one.Check.fingerprint()
	future := epoch.Add(time.Hour)
	for _, c := range []struct {
		name  string
		saved Saved
		want  Endpoint
	}{
		{"too many results", Saved{Check: print, Verdict: Up, At: epoch, Bits: 1 << 63, Results: 900}, Endpoint{Verdict: Up, Results: 20, Succeeding: 20}},
		{"bits of no result", Saved{Check: print, Verdict: Up, At: epoch, Bits: 0b1111, Results: 2}, Endpoint{Verdict: Up, Results: 2, Failed: 2, Failing: 2, Bits: 3}},
		{"negative", Saved{Check: print, Verdict: Up, At: epoch, Bits: 0b1111, Results: -3}, Endpoint{Verdict: Up}},
		{"a verdict from the future", Saved{Check: print, Verdict: Withdrawn, Since: future, At: future}, Endpoint{Verdict: Withdrawn, Since: epoch}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.saved.Address, c.saved.Name, c.want.Window = one.Address, one.Name, 20
			b := NewBoard()
			b.Restore([]Saved{c.saved}, epoch)
			b.Apply([]Target{one}, epoch)
			if diff := cmp.Diff(c.want, b.Latest().Endpoint(one.Key())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	var s Saved
	if err := json.Unmarshal([]byte(`{"verdict": "fine"}`), &s); err == nil {
		t.Error("an unknown verdict was read")
	}
}

func TestSavedFormIsStable(t *testing.T) {
	one := target(1)
	one.Check.Kind = HTTP{Port: 80, Path: "/ping", Status: mustStatus(t, "200-299")}
	b := NewBoard()
	b.Apply([]Target{one}, epoch)
	play(t, b, one.Key(), epoch, "S F")
	got, err := json.Marshal(b.Save())
	if err != nil {
		t.Fatal(err)
	}
	// An operator's windows live in this form: a change here empties them at the next upgrade.
	const want = `[{"address":"192.0.2.1","name":"web","check":"00b27552fc8817b8","verdict":"up",` +
		`"since":"2026-11-29T12:00:00Z","bits":1,"results":2,"at":"2026-11-29T12:00:10Z","cause":"status 503"}]`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
