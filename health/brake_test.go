package health

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// fleet gives so many usual targets, the domain of each being one of so many places.
func fleet(endpoints, places int) []Target {
	targets := make([]Target, endpoints)
	for i := range targets {
		targets[i] = target(byte(i + 1))
		targets[i].Domain = fmt.Sprintf("place-%d", i%places)
	}
	return targets
}

// armed gives a board of the targets that is well: each had a clean window before the time that is given.
func armed(percent int, targets []Target) (b *Board, now time.Time) {
	b = NewBoard()
	b.Arm(percent, epoch)
	b.Apply(targets, epoch)
	return b, goOn(b, targets, epoch, 20, func(int, int) bool { return true })
}

// goOn lets all targets be probed so many rounds, each an interval long, one after the other.
func goOn(b *Board, targets []Target, now time.Time, rounds int, well func(target, round int) bool) time.Time {
	for round := range rounds {
		for i, t := range targets {
			now = now.Add(t.Check.Interval / time.Duration(len(targets)))
			b.Record(t.Key(), Result{OK: well(i, round), Cause: "timeout after 3s"}, now)
		}
	}
	return now
}

func withdrawn(b *Board) int {
	return count(b.Latest(), func(e Endpoint) bool { return e.Verdict == Withdrawn })
}

func nobodyWell(int, int) bool    { return false }
func everybodyWell(int, int) bool { return true }

func TestBrakeHoldsWhenEverythingFailsAtOnce(t *testing.T) {
	for _, c := range []struct {
		name      string
		percent   int
		targets   []Target
		well      func(target, round int) bool
		withdrawn int
	}{
		{"all of six fail", 100, fleet(6, 3), nobodyWell, 0},
		{"the brake is off", 0, fleet(6, 3), nobodyWell, 6},
		{"one answers", 100, fleet(6, 3), func(i, _ int) bool { return i == 3 }, 5},
		{"one answers, and five of six are enough", 80, fleet(6, 3), func(i, _ int) bool { return i == 3 }, 0},
		{"two answer, and five of six would be enough", 80, fleet(6, 3), func(i, _ int) bool { return i > 3 }, 4},
		{"three endpoints are too few", 100, fleet(3, 3), nobodyWell, 3},
		{"one place is too few", 100, fleet(6, 1), nobodyWell, 6},
		{"most probes are lost on the way", 80, fleet(10, 2), func(i, round int) bool { return (3*i+round)%5 < 2 }, 0},
		{"a reference answers", 100, reference(fleet(6, 3), 5), func(i, _ int) bool { return i == 5 }, 5},
		{"the reference does not answer either", 100, reference(fleet(6, 3), 5), nobodyWell, 1}, // itself
	} {
		t.Run(c.name, func(t *testing.T) {
			b, now := armed(c.percent, c.targets)
			goOn(b, c.targets, now, 30, c.well)
			if got := withdrawn(b); got != c.withdrawn {
				t.Errorf("%d are withdrawn, want %d; the brake: %+v", got, c.withdrawn, b.Latest().Brake())
			}
			if got := b.Latest().Brake(); got.On != (c.withdrawn < 2) {
				t.Errorf("the brake: %+v", got)
			}
		})
	}
}

func reference(targets []Target, i int) []Target {
	targets[i].Reference, targets[i].Domain = true, ""
	return targets
}

// An endpoint that was well before, and has not been asked since, answers for nobody.
func TestWhoHasNotBeenAskedSinceDoesNotKeepTheBrakeOff(t *testing.T) {
	targets := fleet(7, 3)
	b, now := armed(100, targets)
	goOn(b, targets[:6], now, 20, nobodyWell)
	if n := withdrawn(b); n != 0 {
		t.Errorf("%d are withdrawn, for the word of one from before", n)
	}
}

func TestBrakeTellsWhatItHolds(t *testing.T) {
	targets := fleet(6, 3)
	b, now := armed(100, targets)
	now = goOn(b, targets, now, 9, nobodyWell)
	if b.Latest().Brake() != (Brake{}) {
		t.Fatalf("nobody can be withdrawn yet: %+v", b.Latest().Brake())
	}
	version := b.Latest().Version()
	goOn(b, targets, now, 1, nobodyWell)
	r := b.Latest()
	if got, want := r.Brake(), (Brake{On: true, Since: now.Add(10 * time.Second / 6), Failing: 6, Of: 6}); got != want {
		t.Errorf("the brake is %+v, want %+v", got, want)
	}
	if held := count(r, func(e Endpoint) bool { return e.Held && e.Verdict == Up && e.Failed == 10 }); held != 6 {
		t.Errorf("%d are held, want 6", held)
	}
	if r.Version() == version {
		t.Error("the version of the report is the same")
	}
}

// Nobody is withdrawn for what was ours: after it everybody has the whole patience of the rule.
func TestNothingIsOwedWhenTheWorldComesBack(t *testing.T) {
	targets := fleet(6, 3)
	b, now := armed(100, targets)
	now = goOn(b, targets, now, 40, nobodyWell)
	now = goOn(b, targets, now, 3, everybodyWell)
	if b.Latest().Brake().On {
		t.Fatalf("the brake is on: %+v", b.Latest().Brake())
	}
	if all := count(b.Latest(), func(e Endpoint) bool { return e.Verdict == Up && e.Failed == 0 && !e.Held }); all != 6 {
		t.Errorf("%d of 6 are up with a clean window: %v", all, b.Latest())
	}
	now = goOn(b, targets, now, 9, func(i, _ int) bool { return i != 2 })
	if withdrawn(b) != 0 {
		t.Error("nine failures were enough")
	}
	goOn(b, targets, now, 1, func(i, _ int) bool { return i != 2 })
	if withdrawn(b) != 1 {
		t.Error("ten failures were not enough")
	}
}

func TestEndpointThatWasDeadBeforeStaysDeadAndCountsForNobody(t *testing.T) {
	targets := fleet(6, 3)
	b, now := armed(100, targets)
	now = goOn(b, targets, now, 40, func(i, _ int) bool { return i != 0 })
	now = goOn(b, targets, now, 20, nobodyWell)
	if got := withdrawn(b); got != 1 || !b.Latest().Brake().On {
		t.Fatalf("%d are withdrawn, and the brake is %+v", got, b.Latest().Brake())
	}
	goOn(b, targets, now, 5, func(i, _ int) bool { return i != 0 })
	if got := withdrawn(b); got != 1 || b.Latest().Brake().On {
		t.Errorf("%d are withdrawn, and the brake is %+v", got, b.Latest().Brake())
	}
}

func TestBrakeHoldsNewEndpointsToo(t *testing.T) {
	targets := fleet(4, 2)
	b := NewBoard()
	b.Arm(100, epoch)
	b.Apply(targets, epoch)
	now := goOn(b, targets, epoch, 5, nobodyWell)
	if n := count(b.Latest(), func(e Endpoint) bool { return e.Verdict == Unknown && e.Held }); n != 4 {
		t.Errorf("%d of 4 are unknown and held", n)
	}
	goOn(b, targets, now, 3, everybodyWell)
	if n := count(b.Latest(), func(e Endpoint) bool { return e.Verdict == Up }); n != 4 {
		t.Errorf("%d of 4 are up", n)
	}
}

func TestEditThatTakesTheReasonAwayTakesTheBrakeOff(t *testing.T) {
	for name, edit := range map[string]func(b *Board, targets []Target, now time.Time){
		"too few endpoints are left": func(b *Board, targets []Target, now time.Time) { b.Apply(targets[:3], now) },
		"the brake is disarmed":      func(b *Board, _ []Target, now time.Time) { b.Arm(0, now) },
		"they are all of one place": func(b *Board, targets []Target, now time.Time) {
			for i := range targets {
				targets[i].Domain = "one"
			}
			b.Apply(targets, now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			targets := fleet(6, 3)
			b, now := armed(100, targets)
			now = goOn(b, targets, now, 15, nobodyWell)
			if !b.Latest().Brake().On {
				t.Fatal("the brake is off")
			}
			edit(b, targets, now)
			if b.Latest().Brake().On {
				t.Error("the brake is on")
			}
		})
	}
}

func TestRestartUnderTheBrakeHoldsNothingAgainstAnybody(t *testing.T) {
	targets := fleet(6, 3)
	b, now := armed(100, targets)
	now = goOn(b, targets, now, 15, nobodyWell)
	next := NewBoard()
	next.Restore(b.Save(), now)
	next.Arm(100, now)
	next.Apply(targets, now)
	now = goOn(next, targets, now, 2, everybodyWell)
	goOn(next, targets, now, 1, func(i, _ int) bool { return i != 0 })
	if n := count(next.Latest(), func(e Endpoint) bool { return e.Verdict == Up && e.Failed <= 1 }); n != 6 {
		t.Errorf("%d of 6 are up", n)
	}
}

// history draws when whom a probe finds well: rounds of all targets in a new order each.
func history(r *rapid.T, targets int) (order [][]int, well [][]bool) {
	rounds := rapid.IntRange(1, 80).Draw(r, "rounds")
	fates := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 2, 3}), targets, targets)
	var fate []int
	for round := range rounds {
		if round%10 == 0 {
			fate = fates.Draw(r, "fates")
		}
		order = append(order, rapid.Permutation(numbers(targets)).Draw(r, "order"))
		now := make([]bool, targets)
		for i := range now {
			now[i] = fate[i] == 0 || fate[i] > 1 && rapid.IntRange(0, 3).Draw(r, "luck") < fate[i]
		}
		well = append(well, now)
	}
	return order, well
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// While a single endpoint answers every probe, a brake of 100 % changes nothing, in whatever order results come.
func TestBrakeChangesNothingWhileSomebodyAnswers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		targets := fleet(rapid.IntRange(1, 8).Draw(r, "endpoints"), rapid.IntRange(1, 3).Draw(r, "places"))
		b, now := armed(100, targets)
		plain, _ := armed(0, targets)
		order, well := history(r, len(targets))
		for round := range order {
			now = now.Add(10 * time.Second)
			for _, i := range order[round] {
				result := Result{OK: well[round][i] || i == 0, Cause: "status 503"}
				b.Record(targets[i].Key(), result, now)
				plain.Record(targets[i].Key(), result, now)
			}
			for k, e := range b.Latest().All() {
				if twin := plain.Latest().Endpoint(k); e != twin {
					r.Fatalf("round %d: %+v, without a brake %+v", round, e, twin)
				}
			}
		}
	})
}

// Whatever happened before: once nobody answers, nobody who served is withdrawn who would not have been by the time
// that this shows; the brake turns at most once in the time that a withdrawal takes; and when it comes off everybody
// has a new window.
func TestNobodyIsWithdrawnWhileNobodyAnswers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		targets := fleet(rapid.IntRange(4, 8).Draw(r, "endpoints"), rapid.IntRange(2, 3).Draw(r, "places"))
		b, now := armed(100, targets)
		turned, was := now.Add(-time.Hour), false
		record := func(i int, ok bool) {
			b.Record(targets[i].Key(), Result{OK: ok, Cause: "status 503"}, now)
			is := b.Latest().Brake().On
			if is && !was && now.Sub(turned) < 90*time.Second {
				r.Fatalf("the brake came on again after %v", now.Sub(turned))
			}
			if !is && was {
				turned = now
				for k, e := range b.Latest().All() {
					if e.Serving() && e.Results > 1 || e.Held {
						r.Fatalf("%v after the brake: %+v", k.Address, e)
					}
				}
			}
			was = is
		}
		order := rapid.Permutation(numbers(len(targets))).Draw(r, "order")
		for range rapid.IntRange(1, 3).Draw(r, "outages") {
			for range rapid.IntRange(20, 40).Draw(r, "good rounds") {
				now = now.Add(10 * time.Second)
				for _, i := range order {
					record(i, rapid.IntRange(0, 9).Draw(r, "luck") > 0)
				}
			}
			before := b.Latest()
			for range rapid.IntRange(1, 60).Draw(r, "dark rounds") {
				now = now.Add(10 * time.Second)
				for _, i := range order {
					record(i, false)
				}
			}
			places := map[string]bool{}
			for i, t := range targets {
				if before.At(i).Serving() {
					places[t.Domain] = true
				}
			}
			for k, e := range b.Latest().All() {
				was := before.Endpoint(k)
				if e.Verdict == Withdrawn && was.Serving() && was.Failed <= 7 && len(places) >= 2 && count(before, Endpoint.Serving) >= 4 {
					r.Fatalf("%v was withdrawn: %+v; the brake is %+v", k.Address, e, b.Latest().Brake())
				}
			}
		}
	})
}

// The answers of a mass failure do not depend on the order in which results of one moment come.
func TestOrderOfResultsDoesNotMatterInTheDark(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		targets := fleet(6, 3)
		one, now := armed(100, targets)
		two, _ := armed(100, targets)
		dark := rapid.IntRange(1, 30).Draw(r, "dark rounds")
		for round := range dark + 4 {
			now = now.Add(10 * time.Second)
			for _, i := range rapid.Permutation(numbers(6)).Draw(r, "order") {
				one.Record(targets[i].Key(), Result{OK: round >= dark, Cause: "status 503"}, now)
			}
			for _, i := range rapid.Permutation(numbers(6)).Draw(r, "other order") {
				two.Record(targets[i].Key(), Result{OK: round >= dark, Cause: "status 503"}, now)
			}
			if round >= dark {
				continue // the first who is surely well takes the brake off, and is one result ahead of others
			}
			for k, e := range one.Latest().All() {
				if other := two.Latest().Endpoint(k); e != other {
					r.Fatalf("round %d: %+v or %+v", round, e, other)
				}
			}
		}
		for _, b := range []*Board{one, two} {
			if n := count(b.Latest(), func(e Endpoint) bool { return e.Verdict == Up }); n != 6 || b.Latest().Brake().On {
				r.Fatalf("%d of 6 are up; the brake is %+v", n, b.Latest().Brake())
			}
		}
	})
}

func TestWindowThatIsOlderThanItselfBeginsAnew(t *testing.T) {
	b := NewBoard()
	b.Apply([]Target{target(1)}, epoch)
	k := target(1).Key()
	now := play(t, b, k, epoch, "S*11 F*9")
	b.Record(k, Result{Cause: "status 503"}, now.Add(201*time.Second))
	if e := b.Latest().Endpoint(k); e.Verdict != Up || e.Failed != 1 || e.Results != 1 {
		t.Errorf("after a pause of more than a window: %+v", e)
	}
}

// BenchmarkRecordUnderTheBrake is a failing result while all of 20,000 endpoints fail.
func BenchmarkRecordUnderTheBrake(b *testing.B) {
	board, keys := full(b)
	board.Arm(100, epoch)
	var targets []Target
	for i, k := range keys {
		targets = append(targets, Target{Address: k.Address, Name: "web", Check: k.Check(), Domain: fmt.Sprint(i % 3)})
	}
	board.Apply(targets, epoch)
	now := epoch
	for range 12 {
		now = now.Add(10 * time.Second)
		for _, k := range keys {
			board.Record(k, Result{Cause: "timeout after 3s"}, now)
		}
	}
	if !board.Latest().Brake().On {
		b.Fatal("the brake is off")
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		board.Record(keys[n%len(keys)], Result{Cause: "timeout after 3s"}, now)
	}
}
