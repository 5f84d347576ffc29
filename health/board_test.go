package health

import (
	"maps"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var (
	// epoch is when the tests of passive things begin.
	epoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

	usualCheck = Check{
		Kind: TCP{Port: 80}, Interval: 10 * time.Second, Timeout: 3 * time.Second,
		Window: 20, Fall: 10, Rise: 20,
	}
	asPorts = cmp.Comparer(func(x, y Key) bool { return x == y })
)

// target gives a usual target at 192.0.2.n under the name "web".
func target(n byte) Target {
	return Target{Address: netip.AddrFrom4([4]byte{192, 0, 2, n}), Name: "web", Check: usualCheck}
}

// play records a story (see results) for a key, one result an interval, beginning at the given time,
// and returns the time of the last.
func play(t testing.TB, b *Board, k Key, from time.Time, story string) time.Time {
	t.Helper()
	now := from
	for i, failed := range results(t, story) {
		now = from.Add(time.Duration(i) * k.Check().Interval)
		b.Record(k, Result{OK: !failed, Cause: "status 503"}, now)
	}
	return now
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestVersionCountsChangesOnly(t *testing.T) {
	b := NewBoard()
	k := target(1).Key()
	empty := b.Latest()
	if empty.Version() != 1 || empty.Len() != 0 || closed(b.Changed()) {
		t.Fatalf("an empty board has version %d, %d endpoints, changed %v", empty.Version(), empty.Len(), closed(b.Changed()))
	}
	b.Apply([]Target{target(1)}, epoch)
	if got := b.Latest().Version(); got != 2 || !closed(b.Changed()) {
		t.Fatalf("after Apply: version %d, want 2 and a signal", got)
	}
	play(t, b, k, epoch, "S*20")
	full := b.Latest()
	if full.Version() != 22 {
		t.Errorf("version %d, want 22: each result that fills the window changes the endpoint", full.Version())
	}
	if !closed(b.Changed()) || closed(b.Changed()) {
		t.Error("twenty changes are not one signal")
	}
	play(t, b, k, epoch, "S*5")
	b.Apply([]Target{target(1), target(1)}, epoch)
	if b.Latest() != full || closed(b.Changed()) {
		t.Error("a success in a full and clean window, or the same targets again, made a new report")
	}
}

func TestReportsDoNotChange(t *testing.T) {
	b := NewBoard()
	k := target(1).Key()
	b.Apply([]Target{target(1), target(2)}, epoch)
	old := b.Latest()
	play(t, b, k, epoch, "F")
	if got := old.Endpoint(k).Failed; got != 0 {
		t.Errorf("a report from before the failure says %d failed", got)
	}
	if got := b.Latest().Endpoint(k).Failed; got != 1 {
		t.Errorf("a report from after the failure says %d failed", got)
	}
	b.Apply(nil, epoch)
	if got := maps.Collect(old.All()); len(got) != 2 {
		t.Errorf("the old report has %d endpoints after their removal, want 2", len(got))
	}
	if got := b.Latest().Endpoint(k); got != (Endpoint{}) {
		t.Errorf("the removed endpoint is %+v, want the zero one", got)
	}
}

func TestSinceIsWhenTheVerdictBegan(t *testing.T) {
	b := NewBoard()
	k := target(1).Key()
	at := func(n int) time.Time { return epoch.Add(time.Duration(n) * usualCheck.Interval) }
	b.Apply([]Target{target(1)}, epoch)
	for _, c := range []struct {
		story string
		from  int
		want  Verdict
		since int
	}{
		{"F", 1, Unknown, 0},
		{"S S", 2, Up, 2},
		{"F*8", 4, Up, 2},
		{"F F F", 12, Withdrawn, 12},
		{"S*20", 15, Up, 34},
	} {
		play(t, b, k, at(c.from), c.story)
		got := b.Latest().Endpoint(k)
		if got.Verdict != c.want || !got.Since.Equal(at(c.since)) {
			t.Errorf("after %q from result %d: %v since %v, want %v since %v", c.story, c.from, got.Verdict, got.Since, c.want, at(c.since))
		}
	}
}

func TestIdenticalProbesAreOneEndpoint(t *testing.T) {
	b := NewBoard()
	other := target(1)
	other.Name = "web too"
	added, _ := b.Apply([]Target{target(1), other, target(1)}, epoch)
	if len(added) != 1 || b.Latest().Len() != 1 {
		t.Errorf("%d keys added, %d endpoints, want one of each", len(added), b.Latest().Len())
	}
}

func TestApplyTellsWhatCameAndWent(t *testing.T) {
	b := NewBoard()
	b.Apply([]Target{target(1), target(2)}, epoch)
	added, removed := b.Apply([]Target{target(3), target(2)}, epoch)
	if diff := cmp.Diff([]Key{target(3).Key()}, added, asPorts); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Key{target(1).Key()}, removed, asPorts); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	b.Record(target(1).Key(), Result{OK: true}, epoch)
	if got := b.Latest().Endpoint(target(1).Key()); got != (Endpoint{}) {
		t.Errorf("a result that came late brought the endpoint back: %+v", got)
	}
}

func TestEditedChecks(t *testing.T) {
	edit := func(n byte, name, path string) Target {
		e := target(n)
		e.Name = name
		if path != "" {
			e.Check.Kind = HTTP{Path: path}
		}
		return e
	}
	for _, c := range []struct {
		name          string
		before, after []Target
		story         string // of the first target before
		of            Target // the one to look at after
		want          Endpoint
	}{
		{
			"an unchanged check keeps everything",
			[]Target{target(1)}, []Target{target(2), target(1)}, "S*3 F", target(1),
			Endpoint{Verdict: Up, Window: 20, Results: 4, Failed: 1, Failing: 1, Bits: 1, Cause: "status 503"},
		}, {
			"a renamed check keeps everything",
			[]Target{target(1)}, []Target{edit(1, "new name", "")}, "S*3 F", edit(1, "new name", ""),
			Endpoint{Verdict: Up, Window: 20, Results: 4, Failed: 1, Failing: 1, Bits: 1, Cause: "status 503"},
		}, {
			"an edited check keeps up and starts an empty window",
			[]Target{target(1)}, []Target{edit(1, "web", "/new")}, "S F*5", edit(1, "web", "/new"),
			Endpoint{Verdict: Up, Window: 20},
		}, {
			"an edited check keeps withdrawn and the cause",
			[]Target{target(1)}, []Target{edit(1, "web", "/new")}, "F*3 S*19", edit(1, "web", "/new"),
			Endpoint{Verdict: Withdrawn, Window: 20, Cause: "status 503"},
		}, {
			"an edited check keeps unknown and starts an empty window",
			[]Target{target(1)}, []Target{edit(1, "web", "/new")}, "F F", edit(1, "web", "/new"),
			Endpoint{Window: 20},
		}, {
			"a check of another name and content is new",
			[]Target{target(1)}, []Target{edit(1, "other", "/new")}, "F*3", edit(1, "other", "/new"),
			Endpoint{Window: 20},
		}, {
			"another address is new",
			[]Target{target(1)}, []Target{edit(2, "web", "")}, "F*3", edit(2, "web", ""),
			Endpoint{Window: 20},
		}, {
			"a check edited under one of its names leaves the other alone",
			[]Target{target(1), edit(1, "b", "")}, []Target{edit(1, "b", "/new"), target(1)}, "F*3", edit(1, "b", "/new"),
			Endpoint{Verdict: Withdrawn, Window: 20, Cause: "status 503"},
		}, {
			"the first name with a past counts",
			[]Target{target(1), edit(1, "b", "/b")}, []Target{edit(1, "c", "/new"), edit(1, "web", "/new"), edit(1, "b", "/new")}, "F*3", edit(1, "web", "/new"),
			Endpoint{Verdict: Withdrawn, Window: 20, Cause: "status 503"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBoard()
			b.Apply(c.before, epoch)
			play(t, b, c.before[0].Key(), epoch, c.story)
			b.Apply(c.after, epoch)
			got := b.Latest().Endpoint(c.of.Key())
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(Endpoint{}, "Since")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadEditNeedsFallFailuresAndAWithdrawnOneOwesRise(t *testing.T) {
	b := NewBoard()
	b.Apply([]Target{target(1), target(2)}, epoch)
	play(t, b, target(1).Key(), epoch, "S*20 F*5")
	play(t, b, target(2).Key(), epoch, "F*3 S*19")
	up, down := target(1), target(2)
	up.Check.Kind, down.Check.Kind = TCP{Port: 81}, TCP{Port: 81}
	b.Apply([]Target{up, down}, epoch)

	verdicts := func() [2]Verdict {
		r := b.Latest()
		return [2]Verdict{r.Endpoint(up.Key()).Verdict, r.Endpoint(down.Key()).Verdict}
	}
	play(t, b, up.Key(), epoch, "F*9")
	play(t, b, down.Key(), epoch, "S*19")
	if got, want := verdicts(), [2]Verdict{Up, Withdrawn}; got != want {
		t.Errorf("one result before the change: %v, want %v", got, want)
	}
	play(t, b, up.Key(), epoch, "F")
	play(t, b, down.Key(), epoch, "S")
	if got, want := verdicts(), [2]Verdict{Withdrawn, Up}; got != want {
		t.Errorf("with the result that changes: %v, want %v", got, want)
	}
}

func TestSettled(t *testing.T) {
	one, two, three := target(1), target(2), target(3)
	ok := Result{OK: true}
	for _, c := range []struct {
		name string
		do   func(b *Board)
		want bool
	}{
		{"not before the first Apply", func(*Board) {}, false},
		{"at once when there is nothing to probe", func(b *Board) { b.Apply(nil, epoch) }, true},
		{"not while one result is missing", func(b *Board) {
			b.Apply([]Target{one, two}, epoch)
			b.Record(one.Key(), ok, epoch)
			b.Record(one.Key(), ok, epoch)
		}, false},
		{"with the last first result, good or bad", func(b *Board) {
			b.Apply([]Target{one, two, one}, epoch)
			b.Record(one.Key(), ok, epoch)
			b.Record(two.Key(), Result{Cause: "connect refused"}, epoch)
		}, true},
		{"not held up by a target that was removed", func(b *Board) {
			b.Apply([]Target{one, two}, epoch)
			b.Record(one.Key(), ok, epoch)
			b.Apply([]Target{one}, epoch)
		}, true},
		{"not held up by a target of the second Apply", func(b *Board) {
			b.Apply([]Target{one}, epoch)
			b.Apply([]Target{one, three}, epoch)
			b.Record(one.Key(), ok, epoch)
		}, true},
		{"by restored verdicts", func(b *Board) {
			b.Restore([]Saved{{Address: one.Address, Name: one.Name, Verdict: Withdrawn}}, epoch)
			b.Apply([]Target{one}, epoch)
		}, true},
		{"not by one that was restored as unknown", func(b *Board) {
			b.Restore([]Saved{{Address: one.Address, Name: one.Name, Verdict: Unknown}}, epoch)
			b.Apply([]Target{one}, epoch)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBoard()
			c.do(b)
			if got := closed(b.Settled()); got != c.want {
				t.Errorf("settled: %v, want %v", got, c.want)
			}
		})
	}
}

// TestReportAgreesWithItsTwin compares the paged report with a plain map, over random changes on
// boards of several pages.
func TestReportAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, slow := NewBoard(), map[Key]Endpoint{}
		var targets []Target
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(targets) == 0 || rapid.IntRange(0, 9).Draw(t, "apply") == 0 {
				targets = nil
				next := map[Key]Endpoint{}
				for range rapid.IntRange(0, 3*pageSize).Draw(t, "targets") {
					one := target(rapid.Byte().Draw(t, "address"))
					targets = append(targets, one)
					e, ok := slow[one.Key()]
					if !ok {
						e = Endpoint{Window: 20, Since: epoch}
					}
					next[one.Key()] = e
				}
				b.Apply(targets, epoch)
				slow = next
				continue
			}
			k := rapid.SampledFrom(targets).Draw(t, "target").Key()
			r := Result{OK: rapid.Bool().Draw(t, "ok"), Cause: "broken"}
			b.Record(k, r, epoch)
			slow[k] = slow[k].after(k.Check(), r, epoch)
			if rapid.Bool().Draw(t, "look") {
				b.Latest()
			}
		}
		if got := maps.Collect(b.Latest().All()); !maps.Equal(got, slow) {
			t.Fatalf("report and twin differ:\n%s", cmp.Diff(slow, got, asPorts))
		}
	})
}

func TestRecordOnACleanEndpointAllocatesNothing(t *testing.T) {
	b := NewBoard()
	k := target(1).Key()
	b.Apply([]Target{target(1)}, epoch)
	play(t, b, k, epoch, "S*20")
	b.Latest()
	r := Result{OK: true, Took: time.Millisecond}
	if got := testing.AllocsPerRun(100, func() { b.Record(k, r, epoch) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}
