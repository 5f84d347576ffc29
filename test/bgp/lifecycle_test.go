package bgp

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gslb/test/rig"
)

// peerKeys is a BIRD as the peer of the server.
func peerKeys(b *routeServer) string {
	return fmt.Sprintf("address: %s, port: %d, asn: 64501, local: OURS", b.at.Addr(), b.at.Port())
}

func TestChangeOfOnePeerLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	s, first := beside(t)
	second := newRouteServer(t, vacant(t, s.net.host(10)))
	first.configure(routes("four", "203.0.113.0/24"), first.session("gslb", s.bgp, ""))
	second.configure(routes("four", "203.0.114.0/24"), second.session("gslb", s.bgp, ""))
	first.begin()
	second.begin()
	alone := partnerText("sibtel", "nsk", peerKeys(first), "")
	both := func(keys string) string {
		return alone + partnerText("uraltel", "spb", peerKeys(second)+keys, "")
	}
	s.configure(alone)
	s.begin()
	s.sends("203.0.113.1", "nsk")
	since := first.established("gslb")

	s.configure(both(""))
	s.sends("203.0.114.1", "spb")
	joined := second.established("gslb")
	first.untouched("gslb", since)

	s.configure(both(", hold: 30s"))
	rig.Until(t, rig.Soon, "a new session", func() string {
		if state, again := second.state("gslb"); state != "Established" || again.Sub(joined) < 100*time.Millisecond {
			return state + " since " + again.String()
		}
		return "a new session"
	})
	s.sends("203.0.114.1", "spb")
	first.untouched("gslb", since)

	s.configure(alone)
	s.sends("203.0.114.1", "msk")
	if state, _ := second.state("gslb"); state == "Established" {
		t.Error("the removed peer's session is up")
	}
	first.untouched("gslb", since)
	s.keeps("203.0.113.1", "nsk")
	if n := strings.Count(s.log.String(), "session up\" partner=sibtel"); n != 1 {
		t.Errorf("the first session came up %d times, want once", n)
	}
}

// Our identity is in every OPEN, so another one needs new sessions; nobody is removed by it.
func TestAnotherRouterIDIsToldAsAChange(t *testing.T) {
	t.Parallel()
	s, b, _ := steered(t, "", "203.0.113.0/24")
	b.established("gslb")
	s.rewrite("router_id: 192.0.2.53", "router_id: 192.0.2.54")
	rig.Until(t, rig.Soon, "the words", func() string {
		return wordless(b.log.String(), []string{"gslb: Received: Other configuration change"})
	})
	s.confirms("203.0.113.1")
	if strings.Contains(b.log.String(), "de-configured") {
		t.Error("BIRD was told that it was removed")
	}
}

// watch asks for the client's site all the time, until the stop that it gives is called; that tells how
// often it asked, and what else came than the site.
func (s *server) watch(client, site string) (stop func() (asked int, other []string)) {
	var watching sync.WaitGroup
	done := make(chan struct{})
	var asked int
	var other []string
	watching.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
			asked++
			if got := s.site(client); got != site {
				other = append(other, got)
			}
		}
	})
	return func() (int, []string) {
		close(done)
		watching.Wait()
		return asked, other
	}
}

func TestAnswersGoOnWhenTheSpeakerIsKilled(t *testing.T) {
	t.Parallel()
	s, b, _ := steered(t, "    stale: 60s", "203.0.113.0/24")
	stop := s.watch("203.0.113.1", "nsk")
	before := s.speaker()
	if before == 0 {
		t.Fatal("there is no speaker")
	}
	if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.says("203.0.113.1", "placed=partners", " stale=")
	s.confirms("203.0.113.1")
	b.established("gslb")
	asked, other := stop()
	if len(other) > 0 {
		t.Errorf("%d of %d answers were others: %v", len(other), asked, other)
	}
	if asked < 50 {
		t.Errorf("only %d answers", asked)
	}
	if after := s.speaker(); after == 0 || after == before {
		t.Errorf("the speaker was process %d and is %d", before, after)
	}
}

// "killall -HUP gslb" reaches the speaker as well, and means the server.
func TestHangupForAllProcessesIsAReload(t *testing.T) {
	t.Parallel()
	s, b, session := steered(t, "", "203.0.113.0/24")
	since, speaker := b.established("gslb"), s.speaker()
	mark := len(s.log.String())
	for _, process := range []int{speaker, s.cmd.Process.Pid} {
		if err := syscall.Kill(process, syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	s.logs(mark, "config unchanged")
	b.configure(routes("four", "203.0.113.0/24", "203.0.114.0/24"), session)
	s.sends("203.0.114.1", "nsk")
	b.untouched("gslb", since)
	if after := s.speaker(); after != speaker {
		t.Errorf("the speaker was process %d and is %d", speaker, after)
	}
}

// saves waits until what the server knows now is in the state file: routes are written each five seconds.
func (s *server) saves() {
	s.t.Helper()
	known := float64(time.Now().Add(5*time.Second).UnixMilli()) / 1000
	rig.Until(s.t, rig.Soon, "saved", func() string {
		if at, _, err := s.metrics("gslb_state_saved_time_seconds", ""); err != nil || at < known {
			return fmt.Sprintf("saved what was known at %.3f (%v)", at, err)
		}
		return "saved"
	})
}

func TestServerThatWasKilledSteersFromItsFirstAnswer(t *testing.T) {
	t.Parallel()
	s, b, _ := steered(t, "    stale: 15m", "203.0.113.0/24")
	b.established("gslb")
	s.saves()
	s.kill()
	b.kill()
	killed := time.Now()
	time.Sleep(2 * time.Second)
	s.begin()
	s.keeps("203.0.113.1", "nsk")
	line := s.reason("203.0.113.1")
	if got := wordless(line, []string{"placed=partners partner=sibtel prefix=203.0.113.0/24 origin=64502", " stale="}); got != "the words" {
		t.Error(got)
	}
	if age := stale(t, line); age < time.Since(killed).Truncate(time.Second)-time.Second {
		t.Errorf("stale=%v, %v after the server was killed: the clock does not run from the last confirmation", age, time.Since(killed))
	}
	b.begin()
	s.confirms("203.0.113.1")
	s.keeps("203.0.113.1", "nsk")
}

// stale is for how long the reason says that the prefix is stale.
func stale(t *testing.T, line string) time.Duration {
	t.Helper()
	_, rest, _ := strings.Cut(line, " stale=")
	word, _, _ := strings.Cut(rest, " ")
	d, err := time.ParseDuration(word)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return d
}

func TestTimeOfStalePrefixesRunsWhileTheServerIsDown(t *testing.T) {
	t.Parallel()
	s, b, _ := steered(t, "    stale: 2s", "203.0.113.0/24")
	b.established("gslb")
	s.saves()
	s.kill()
	b.kill()
	time.Sleep(2 * time.Second)
	s.begin()
	s.keeps("203.0.113.1", "msk")
}

func TestServerThatEndsParts(t *testing.T) {
	t.Parallel()
	s, b, _ := steered(t, "", "203.0.113.0/24")
	b.established("gslb")
	speaker := s.speaker()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
	s.cmd = nil
	rig.Until(t, rig.Soon, "the words", func() string {
		return wordless(b.log.String(), []string{"gslb: Received: Administrative shutdown"})
	})
	if err := syscall.Kill(speaker, 0); err == nil {
		t.Error("the speaker outlives the server")
	}
}

func TestHundredThousandPrefixesSteer(t *testing.T) {
	const count = 100_000
	s, b := beside(t)
	prefix := func(i int) string { return fmt.Sprintf("%d.%d.%d.0/24", 60+i>>16, i>>8&255, i&255) }
	prefixes := make([]string, count-1)
	for i := range prefixes {
		prefixes[i] = prefix(i)
	}
	session := b.session("gslb", s.bgp, "passive;")
	b.configure(routes("four", prefixes...), session)
	b.begin()
	rig.Until(t, rig.Soon, "loaded", func() string {
		return strings.ReplaceAll(wordless(b.command("show", "route", "count"), []string{fmt.Sprintf("%d of %d routes", count-1, count-1)}), "the words", "loaded")
	})
	s.configure(birdPartner(b, ", local: OURS", "    accept: {within: [60.0.0.0/6]}"))
	s.begin()
	begin := time.Now()
	rig.Until(t, rig.Soon, "Established", func() string { state, _ := b.state("gslb"); return state })
	begun := time.Now()
	for _, i := range []int{count - 2, 0, count / 2} { // in no order: a sync that takes long is taken in parts
		rig.Until(t, 5*time.Minute, "nsk", func() string { return s.site(inside(prefix(i))) })
	}
	t.Logf("%d prefixes steer %v after the session was up, %v after the server answered",
		count-1, time.Since(begun).Round(time.Millisecond), time.Since(begin).Round(time.Millisecond))
	more := time.Now()
	b.configure(routes("four", prefixes...), routes("one", prefix(count-1)), session)
	configured := time.Now()
	s.sends(inside(prefix(count-1)), "nsk")
	t.Logf("one more prefix steers %v after BIRD was told, which took it %v", time.Since(more).Round(time.Millisecond), configured.Sub(more).Round(time.Millisecond))
}
