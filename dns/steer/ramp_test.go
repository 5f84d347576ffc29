package steer_test

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gslb/dns/steer"
)

// returning is a service of which a has come back at noon, within ten minutes.
func returning(t failer, text string) *world {
	w := newWorld(t, strings.Replace(text, "a: {}", "a: {ramp: 10m}", 1))
	w.tenures = steer.NewTenures(map[string]steer.Tenure{"shop a": {Since: noon}})
	return w
}

// given tells whether a client is given a by some draw, at some time after noon.
func given(s *steer.Snapshot, client netip.Addr, after time.Duration, draws int) bool {
	for seed := range draws {
		d := steer.Decide(s, steer.Query{Client: s.Client(client, steer.Subnet{}), Seed: uint64(seed), Now: noon.Add(after)})
		if slices.Contains(d.Addresses(s, 0, nil), mustAddr("192.0.2.1")) {
			return true
		}
	}
	return false
}

func TestNetworksJoinAPlaceThatComesBackOneAfterTheOther(t *testing.T) {
	for _, pick := range []string{"weighted", "hash"} {
		t.Run(pick, func(t *testing.T) {
			s := returning(t, shop(pick, "all", 100, 100)).snapshot()
			const networks = 20_000
			in := make([]bool, networks)
			for minute := range 11 {
				count := 0
				for i := range in {
					client := netip.AddrFrom4([4]byte{100, byte(i >> 8), byte(i), byte(minute * i)})
					is := given(s, client, time.Duration(minute)*time.Minute, 1)
					if in[i] && !is {
						t.Fatalf("minute %d: %s has left again", minute, client)
					}
					if in[i] = is; is {
						count++
					}
				}
				if got, want := float64(count)/networks, float64(minute)/10; math.Abs(got-want) > 0.01 {
					t.Errorf("minute %d: %.3f of the networks have joined, want %.3f", minute, got, want)
				}
			}
		})
	}
}

// A hash picks among those that a network has joined, and the order of joining has nothing to do with it.
func TestHashAndRampAreIndependent(t *testing.T) {
	s := returning(t, shop("hash", "1", 100, 100)).snapshot()
	const networks = 40_000
	count := 0
	for i := range networks {
		if given(s, netip.AddrFrom4([4]byte{100, byte(i >> 8), byte(i), 1}), 5*time.Minute, 1) {
			count++
		}
	}
	if got := float64(count) / networks; math.Abs(got-0.25) > 0.01 {
		t.Errorf("after half of the ramp %.3f of the networks are at one of two equals, want a half of a half", got)
	}
}

// Whatever ramps, whoever asks and whenever: there is an answer, the same on every server, for all of the block
// that the scope tells, and what a network has joined it does not leave. The TTL ends before anything changes.
func TestRampsNeverLeaveAnybodyWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 100}), 4, 4).Draw(t, "weights")
		text := shop("hash", rapid.SampledFrom([]string{"1", "2", "all"}).Draw(t, "answer"), weights...)
		text = strings.Replace(text, "    pick:", "    ttl: 100\n    ttl_min: 1\n    ramp: 10m\n    pick:", 1)
		tenures := map[string]steer.Tenure{}
		for _, place := range []string{"a", "b", "c", "d"} {
			if ago := rapid.IntRange(-1, 11).Draw(t, "minutes since "+place); ago >= 0 {
				tenures["shop "+place] = steer.Tenure{Since: noon.Add(-time.Duration(ago) * time.Minute)}
			}
		}
		var servers [2]*steer.Snapshot
		for i := range servers {
			w := newWorld(t, text)
			w.tenures = steer.NewTenures(tenures)
			servers[i] = w.snapshot()
		}
		client := netip.AddrFrom4([4]byte{100, rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "c"), rapid.Byte().Draw(t, "d")})
		when := noon.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "seconds")) * time.Second)
		d, got := decideAt(servers[0], client, when)
		if _, other := decideAt(servers[1], client, when); got == "[]" || other != got {
			t.Fatalf("one server says %s, another %s", got, other)
		}
		if d.Span != 24 {
			t.Fatalf("scope %d, want 24", d.Span)
		}
		neighbour := netip.PrefixFrom(client, d.Span).Masked().Addr()
		if _, other := decideAt(servers[0], neighbour, when); other != got {
			t.Fatalf("%s gets %s, and %s of its block %s", client, got, neighbour, other)
		}
		if _, later := decideAt(servers[0], client, when.Add(time.Duration(d.TTL)*time.Second)); d.TTL > 1 && later != got {
			t.Fatalf("%s turned into %s within its TTL of %d s", got, later, d.TTL)
		}
	})
}

func decideAt(s *steer.Snapshot, client netip.Addr, when time.Time) (steer.Decision, string) {
	d := steer.Decide(s, steer.Query{Client: s.Client(client, steer.Subnet{}), Now: when})
	return d, fmt.Sprint(d.Addresses(s, 0, nil))
}

func TestDecideWithARampAllocatesNothing(t *testing.T) {
	s := returning(t, shop("weighted", "1", 100, 100)).snapshot()
	q := steer.Query{Client: s.Client(mustAddr("203.0.113.200"), steer.Subnet{}), Seed: 42, Now: noon.Add(time.Minute)}
	if n := testing.AllocsPerRun(100, func() { sink = steer.Decide(s, q) }); n != 0 {
		t.Errorf("Decide allocated %v times", n)
	}
}

func TestSharesKnowWhoHasJoined(t *testing.T) {
	w := returning(t, shop("weighted", "2", 100, 100, 100))
	s := w.snapshot()
	w.now = noon.Add(5 * time.Minute)
	outlook := w.after(s).Outlook(0, steer.IPv4)
	for i := range 50 {
		client := netip.AddrFrom4([4]byte{100, 0, byte(i), 1})
		want := 2
		if given(s, client, 5*time.Minute, 40) {
			want = 3
		}
		got := outlook.Of(client)
		if len(got.Shares) != want {
			t.Errorf("%s: shares %v, want %d", client, got.Shares, want)
		}
		if got.Block.Bits() != 24 {
			t.Errorf("%s: all of %s can expect that, want a /24: the networks join one after the other", client, got.Block)
		}
	}
	w.now = noon.Add(10 * time.Minute)
	if got := w.after(s).Outlook(0, steer.IPv4).Of(mustAddr("100.0.0.1")).Block; got.Bits() != 0 {
		t.Errorf("all of %s can expect the same when the ramp is over, want everybody", got)
	}
}

// server is the snapshots that one process of a server makes of a world, each after the one before.
type server struct {
	*world
	latest *steer.Snapshot
}

// next makes another snapshot at the time of the world, and tells what happened.
func (s *server) next() string {
	prev := s.latest
	s.latest = steer.Follow(s.inputs(), prev, prev)
	s.tenures = s.latest.Tenures()
	return words(steer.Diff(prev, s.latest))
}

// A ramp costs two snapshots, one at each end, and not one for each of its steps.
func TestRampNeedsNoSnapshotOnTheWay(t *testing.T) {
	text := strings.Replace(shop("weighted", "1", 100, 100), "a: {}", "a: {ramp: 10m}", 1)
	s := &server{world: newWorld(t, text+"drains: [{target: a, until: 2026-11-29T13:00:00Z}]\n")}
	s.next()
	for _, step := range []struct {
		after time.Duration
		want  string // "": no snapshot is due
	}{
		{time.Hour - time.Second, ""},
		{time.Hour, "drain: a no longer drained\nplace: a takes its clients back over 10m: shop\n"},
		{time.Hour + time.Minute, ""},
		{time.Hour + 10*time.Minute - time.Second, ""},
		{time.Hour + 10*time.Minute, "place: a has all of its clients back: shop\n"},
		{24 * time.Hour, ""},
	} {
		s.now = noon.Add(step.after)
		got := ""
		if s.latest.Outdated(s.now) {
			got = s.next()
		}
		if got != step.want {
			t.Errorf("after %s: told %q, want %q", step.after, got, step.want)
		}
	}
	if ramp := s.latest.Overview(s.now)[0].Places[0].Ramp; ramp != nil {
		t.Errorf("it ramps on: %v", ramp)
	}
}

// Whoever waited for a clock to come back to where it was would wait for long.
func TestClockThatIsSetBackBeginsARampAnew(t *testing.T) {
	s := &server{world: newWorld(t, strings.Replace(shop("weighted", "1", 100, 100), "a: {}", "a: {ramp: 10m}", 1))}
	s.tenures = steer.NewTenures(map[string]steer.Tenure{"shop a": {Since: noon.Add(24 * time.Hour)}})
	s.next()
	if until := s.latest.Overview(noon)[0].Places[0].Ramp.Until; until.After(noon.Add(10 * time.Minute)) {
		t.Errorf("it ramps until %s, and it is %s", until, noon)
	}
}

// A ramp that begins anew since the clock was set back waits for nobody, if nobody else serves.
func TestClockThatIsSetBackHasNobodyWaitForTheOnlyPlace(t *testing.T) {
	text := strings.Replace(shop("weighted", "1", 100, 100), "a: {}", "a: {ramp: 10m}", 1)
	s := &server{world: newWorld(t, text+"drains: [{target: a}, {target: b}]\n")}
	s.next()
	s.policy = compile(t, text+"drains: [{target: b}]\n")
	for _, now := range []time.Time{noon.Add(time.Hour), noon.Add(30 * time.Minute)} {
		s.now = now
		s.next()
		if ramp := s.latest.View(0, now).Places[0].Ramp; ramp != nil {
			t.Errorf("at %s it ramps until %s", now, ramp.Until)
		}
	}
}

// A clock that is set back while a ramp runs is noticed, though no input has changed: the monotonic clock does not tell.
func TestClockThatIsSetBackDuringARampMakesASnapshotDue(t *testing.T) {
	s := returning(t, shop("weighted", "1", 100, 100)).snapshot()
	made, end := noon, s.Expiry()
	for _, tc := range []struct {
		name string
		now  time.Time
		want bool
	}{
		{"while it runs", made.Add(time.Minute), false},
		{"at its end", end, true},
		{"set forward behind its end", end.Add(time.Hour), true},
		{"set back a little", made.Add(time.Second), false},
		{"set back to before it began", made.Add(-time.Hour), true},
	} {
		if got := s.Outdated(tc.now); got != tc.want {
			t.Errorf("%s: another snapshot is due: %t", tc.name, got)
		}
	}
	if calm := newWorld(t, shop("weighted", "1", 100, 100)).snapshot(); calm.Outdated(made.Add(-time.Hour)) {
		t.Error("one is due where no ramp runs and no drain ends")
	}
}

func TestNobodyWaitsAtADrainedPlace(t *testing.T) {
	s := returning(t, shop("weighted", "1", 100, 100)+"drains: [{target: b}]\n").snapshot()
	for i := range 100 {
		if client := netip.AddrFrom4([4]byte{100, 0, byte(i), 1}); !given(s, client, time.Minute, 1) {
			t.Fatalf("%s is at the drained place until it has joined the other", client)
		}
	}
}
