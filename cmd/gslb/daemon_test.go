package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/bgp"
	"gslb/config"
	"gslb/config/state"
	"gslb/dns/admin"
	"gslb/health"
)

// running is a daemon of a test, with its configuration file.
type running struct {
	*daemon
	t    *testing.T
	file string
	dns  string
}

// start runs a daemon until the test ends. In the text, LISTEN stands for the DNS address and GLOBE for the
// geo database.
func start(t *testing.T, text string) *running {
	t.Helper()
	globe, err := filepath.Abs("testdata/globe.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, file: filepath.Join(t.TempDir(), "gslb.yaml"), dns: freeAddress(t)}
	r.write(strings.NewReplacer("LISTEN", r.dns, "GLOBE", globe).Replace(text))
	d, problems, err := newDaemon(r.file, slog.New(slog.DiscardHandler))
	if err = errors.Join(err, problems.Err()); err != nil {
		t.Fatal(err)
	}
	r.daemon = d
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil { // also an end that takes too long is one
			t.Error(err)
		}
	})
	awaitOpen(t, d, ended)
	return r
}

// awaitOpen waits until a daemon that runs has its DNS sockets.
func awaitOpen(t *testing.T, d *daemon, ended chan error) {
	t.Helper()
	for !d.latest.Load().open {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the daemon ended at its start: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
}

// write puts another text in the place of the configuration, at once.
func (r *running) write(text string) {
	r.t.Helper()
	beside := r.file + ".new"
	if err := errors.Join(os.WriteFile(beside, []byte(text), 0o644), os.Rename(beside, r.file)); err != nil {
		r.t.Fatal(err)
	}
}

// ask sends one question and waits for its answer.
func ask(server, network, name string, rrtype, class uint16) (*dns.Msg, error) {
	m := new(dns.Msg)
	m.SetQuestion(name, rrtype)
	m.Question[0].Qclass = class
	m.SetEdns0(1232, false)
	c := &dns.Client{Net: network, Timeout: 30 * time.Second}
	reply, _, err := c.Exchange(m, server)
	if err != nil {
		return nil, err
	}
	if reply.Rcode != dns.RcodeSuccess {
		return nil, fmt.Errorf("%s: %s", name, dns.RcodeToString[reply.Rcode])
	}
	return reply, nil
}

// edition is one of two configurations that differ in everything an answer shows.
type edition struct {
	network string // of all addresses
	ttl     uint32
}

const editionAddresses = 12

func (v edition) text(listen, globe string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "server: {listen: [\"%s\"], state: state.db}\nadmin: {listen: \"off\"}\ngeo: {database: %s}\n", listen, globe)
	fmt.Fprintf(&b, "datacenters: {a: {location: [%d, 0]}, b: {}, c: {}}\nservices:\n  www:\n    ttl: %d\n    answer: all\n    steer: [datacenters]\n    at:\n", v.ttl%50, v.ttl)
	for i, place := range []string{"a", "b", "c"} {
		fmt.Fprintf(&b, "      %s: [%s.%d, %s.%d, %s.%d, %s.%d]\n", place, v.network, 4*i, v.network, 4*i+1, v.network, 4*i+2, v.network, 4*i+3)
	}
	fmt.Fprintf(&b, "zones:\n  ok.test: {ns: [ns1], records: ns1 A %s.53, services: {www: www}}\n", v.network)
	return b.String()
}

// wholly tells whether an answer is of this version in all its parts.
func (v edition) wholly(m *dns.Msg) bool {
	if len(m.Answer) != editionAddresses {
		return false
	}
	for _, rr := range m.Answer {
		a, ok := rr.(*dns.A)
		if !ok || !strings.HasPrefix(a.A.String(), v.network+".") || a.Hdr.Ttl != v.ttl {
			return false
		}
	}
	return true
}

// explained tells whether reasons are of this version in all their lines.
func (v edition) explained(m *dns.Msg, hash string) bool {
	var lines []string
	for _, rr := range m.Answer {
		lines = append(lines, strings.Join(rr.(*dns.TXT).Txt, ""))
	}
	text := strings.Join(lines, "\n")
	return strings.Count(text, v.network+".") == editionAddresses &&
		strings.Contains(text, fmt.Sprintf(" ttl=%d ", v.ttl)) && strings.Contains(text, ":"+hash+" ")
}

func TestThousandReloadsLoseNoQueryAndMixNoVersions(t *testing.T) {
	versions := [2]edition{{"192.0.2", 60}, {"198.51.100", 90}}
	r := start(t, versions[0].text("LISTEN", "GLOBE"))
	globe := r.latest.Load().config.Geo.Database
	texts := [2]string{versions[0].text(r.dns, globe), versions[1].text(r.dns, globe)}
	var hashes [2]string
	for i, text := range texts {
		cfg, problems := config.Parse(config.Source{File: r.file, Text: []byte(text)})
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		hashes[i] = cfg.Hash()
	}

	var done atomic.Bool
	var asked [2]atomic.Int64 // by the version of the answer
	var clients sync.WaitGroup
	client := func(network string) {
		for n := 0; !done.Load(); n++ {
			rrtype, class := dns.TypeA, uint16(dns.ClassINET)
			if n%8 == 7 {
				rrtype, class = dns.TypeTXT, dns.ClassCHAOS
			}
			m, err := ask(r.dns, network, "www.ok.test.", rrtype, class)
			if err != nil {
				t.Errorf("a query was lost: %v", err)
				return
			}
			whole := -1
			for i, v := range versions {
				if (class == dns.ClassINET && v.wholly(m)) || (class == dns.ClassCHAOS && v.explained(m, hashes[i])) {
					whole = i
				}
			}
			if whole < 0 {
				t.Errorf("an answer is of no version wholly:\n%v", m)
				return
			}
			asked[whole].Add(1)
		}
	}
	for _, network := range []string{"udp", "udp", "tcp"} {
		clients.Go(func() { client(network) })
	}
	defer clients.Wait()
	defer done.Store(true)

	const reloads = 1000
	for i := range reloads {
		r.write(texts[(i+1)%2])
		outcome, err := r.Reload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// The watcher may have been first.
		if outcome.Outcome == admin.Refused || outcome.Hash != hashes[(i+1)%2] || outcome.Number != uint64(i+2) {
			t.Fatalf("reload %d: %+v", i, outcome)
		}
		if m, err := ask(r.dns, "udp", "www.ok.test.", dns.TypeA, dns.ClassINET); err != nil || !versions[(i+1)%2].wholly(m) {
			t.Fatalf("reload %d has returned and is not in force: %v %v", i, m, err)
		}
		if t.Failed() {
			return
		}
	}
	for i := range versions {
		if asked[i].Load() < reloads/20 {
			t.Errorf("only %d answers of version %d: the load was too light to prove anything", asked[i].Load(), i)
		}
	}
	t.Logf("%d and %d answers", asked[0].Load(), asked[1].Load())
}

const twoPlaces = `
server: {listen: ["LISTEN"], state: state.db}
admin: {listen: "off"}
geo: {database: GLOBE}
datacenters: {msk: {location: [55.75, 37.62]}, nsk: {location: [55.03, 82.92]}}
services:
  www: {answer: all, at: {msk: [192.0.2.1], nsk: [192.0.2.2]}}
zones:
  ok.test: {ns: [ns1], records: ns1 A 192.0.2.53, services: {www: www}}
`

// until waits for the answer to have a number of addresses, and gives the time that it took.
func (r *running) until(addresses int) time.Duration {
	r.t.Helper()
	begin := time.Now()
	for time.Since(begin) < time.Minute {
		m, err := ask(r.dns, "udp", "www.ok.test.", dns.TypeA, dns.ClassINET)
		if err != nil {
			r.t.Fatal(err)
		}
		if len(m.Answer) == addresses {
			return time.Since(begin)
		}
	}
	r.t.Fatalf("never %d addresses", addresses)
	return 0
}

// The machine of a test may be busy: of a few drains the quickest counts.
func TestDrainIsEffectiveInUnderASecond(t *testing.T) {
	r := start(t, twoPlaces)
	best := [2]time.Duration{time.Hour, time.Hour}
	for range 5 {
		if _, err := config.WriteDrain(r.file, config.Drain{Target: "msk"}); err != nil {
			t.Fatal(err)
		}
		best[0] = min(best[0], r.until(1))
		if _, err := config.RemoveDrain(r.file, "msk", ""); err != nil {
			t.Fatal(err)
		}
		best[1] = min(best[1], r.until(2))
		if max(best[0], best[1]) < time.Second {
			return
		}
	}
	t.Errorf("drained after %s, undrained after %s", best[0], best[1])
}

func TestRefusedReloadChangesNothing(t *testing.T) {
	r := start(t, twoPlaces)
	squatter, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer squatter.Close()
	good, err := os.ReadFile(r.file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(good), "192.0.2.2", "192.0.2.7")
	otherGlobe := filepath.Join(t.TempDir(), "other.mmdb")
	globe, err := os.ReadFile("testdata/globe.mmdb")
	if err = errors.Join(err, os.WriteFile(otherGlobe, globe, 0o644)); err != nil {
		t.Fatal(err)
	}
	before := r.publisher.Latest().Version()
	world := r.world.Latest()
	for name, bad := range map[string]struct{ text, problem string }{
		"an unknown place":     {strings.ReplaceAll(text, "nsk: [", "nks: ["), "services.www.at.nks"},
		"a taken address":      {strings.ReplaceAll(text, r.dns, squatter.Addr().String()), "address already in use"},
		"no such geo database": {strings.ReplaceAll(text, "globe.mmdb", "nowhere.mmdb"), "nowhere.mmdb"},
		"a taken address beside another geo database": {
			strings.ReplaceAll(regexp.MustCompile("geo: .*").ReplaceAllString(text, "geo: {database: "+otherGlobe+"}"), r.dns, squatter.Addr().String()), "address already in use",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r.write(bad.text)
			outcome, err := r.Reload(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if problems := strings.Join(outcome.Problems, "\n"); outcome.Outcome != admin.Refused || !strings.Contains(problems, bad.problem) {
				t.Errorf("got %+v, want a refusal that tells of %q", outcome, bad.problem)
			}
			after := r.publisher.Latest().Version()
			if after.Config != before.Config || after.Hash != before.Hash || r.world.Latest().Name() != world.Name() {
				t.Errorf("in force is %v, was %v", after, before)
			}
			if refused := r.view().Config.Refused; refused == nil || !slices.Equal(refused.Problems, outcome.Problems) {
				t.Errorf("the view shows %v", refused)
			}
			m, err := ask(r.dns, "udp", "www.ok.test.", dns.TypeA, dns.ClassINET)
			if err != nil || !strings.Contains(m.String(), "192.0.2.2") {
				t.Errorf("the answer has changed: %v %v", m, err)
			}
		})
	}
	r.write(string(good))
	if outcome, err := r.Reload(t.Context()); err != nil || outcome.Outcome != admin.Unchanged || r.view().Config.Refused != nil {
		t.Errorf("got %+v %v, want unchanged and no refusal", outcome, err)
	}
}

// Whoever asks for a reload while the server still reads what it starts with does not end it, and gets one.
func TestHangupDuringTheStartIsAReload(t *testing.T) {
	mine := make(chan os.Signal, 1)
	signal.Notify(mine, syscall.SIGHUP) // it must not end the test
	defer signal.Stop(mine)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	type made struct {
		*daemon
		err error
	}
	start := make(chan made)
	go func() {
		d, problems, err := newDaemon(fmt.Sprintf("/dev/fd/%d", read.Fd()), slog.New(slog.DiscardHandler))
		start <- made{d, errors.Join(err, problems.Err())}
	}()
	long := "# " + strings.Repeat("x", 1<<20) + "\n" // more than a pipe holds: when it is written, it is being read
	_, err = fmt.Fprint(write, long)
	err = errors.Join(err, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	<-mine
	_, writing := fmt.Fprintf(write, "server: {listen: [\"%s\"], state: %s}\nadmin: {listen: \"off\"}\n", freeAddress(t), filepath.Join(t.TempDir(), "state.db"))
	err = errors.Join(err, writing, write.Close())
	d := <-start
	if err = errors.Join(err, d.err); err != nil {
		t.Fatal(err)
	}
	select {
	case <-d.hangups:
	case <-time.After(30 * time.Second):
		t.Error("nobody has heard of it")
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// A configuration that never comes, as from a disk that hangs, holds up neither answers nor the end.
func TestEndDoesNotWaitForWhatIsNotThereToBeRead(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	address := freeAddress(t)
	_, err = fmt.Fprintf(write, "server: {listen: [\"%s\"], state: %s}\nadmin: {listen: \"off\"}\nzones: {ok.test: {ns: [ns1], records: ns1 A 192.0.2.53}}\n",
		address, filepath.Join(t.TempDir(), "state.db"))
	if err = errors.Join(err, write.Close()); err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("/dev/fd/%d", read.Fd())
	d, problems, err := newDaemon(file, slog.New(slog.DiscardHandler))
	if err = errors.Join(err, problems.Err()); err != nil {
		t.Fatal(err)
	}
	d.lastReload = 0
	d.watcher = newWatcher(nil, time.Now(), d.log) // only we have it read
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	awaitOpen(t, d, ended)
	silent, err := os.OpenFile(file, os.O_WRONLY, 0) // from now on nobody who reads gets to the end
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	d.asked <- make(chan admin.Reload, 1)
	if _, err := ask(address, "udp", "ns1.ok.test.", dns.TypeA, dns.ClassINET); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "left behind") {
		t.Errorf("ended with %v, want it to tell of the reload", err)
	}
}

// A drop-in that would drain too much waits for the end of the drain that is in its way, and is in force then by itself.
func TestRefusedDrainIsTriedAgainWhenTheOtherEnds(t *testing.T) {
	r := start(t, twoPlaces)
	text, err := os.ReadFile(r.file)
	if err != nil {
		t.Fatal(err)
	}
	r.write(strings.ReplaceAll(string(text), "{answer:", "{min_places: 1, answer:"))
	var until time.Time
	for span := 2 * time.Second; ; span *= 2 {
		until = time.Now().Add(span)
		for place, end := range map[string]string{"msk": ", until: " + until.UTC().Format(time.RFC3339Nano), "nsk": ""} {
			file := filepath.Join(r.file+".d", "drain-"+place+".yaml")
			err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("drains: [{target: "+place+end+"}]\n"), 0o644))
			if err != nil {
				t.Fatal(err)
			}
		}
		outcome, err := r.Reload(t.Context())
		if err == nil && outcome.Outcome == admin.Refused && strings.Contains(strings.Join(outcome.Problems, ""), "min_places") {
			break
		}
		if time.Now().Before(until) || span > time.Minute { // else the machine was so busy that the drain was over
			t.Fatalf("got %+v %v, want a refusal by min_places", outcome, err)
		}
	}
	for deadline := until.Add(time.Minute); r.view().Config.Refused != nil; {
		if time.Now().After(deadline) {
			t.Fatal("still refused")
		}
		<-time.After(10 * time.Millisecond)
	}
	if time.Now().Before(until) {
		t.Error("in force before the other drain has ended")
	}
}

func TestConfigNumberIsKeptOverARestartAndGrowsWithAnEdit(t *testing.T) {
	folder := t.TempDir()
	open := func() (*state.Store, *keeper) {
		store, _, err := state.Open(filepath.Join(folder, "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		return store, newKeeper(store, health.NewBoard(), bgp.NewRIB(), slog.New(slog.DiscardHandler))
	}
	for i, run := range []struct {
		hash string
		want uint64
	}{{"aaaaaaaa", 1}, {"aaaaaaaa", 1}, {"bbbbbbbb", 2}, {"bbbbbbbb", 2}, {"aaaaaaaa", 3}} {
		store, k := open()
		got := k.number(run.hash)
		if got != run.want {
			t.Errorf("start %d: number %d, want %d", i, got, run.want)
		}
		k.follow(got, run.hash, time.Second, config.Journal{})
		k.flush()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
