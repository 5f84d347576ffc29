package bgp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/config/state"
	"gslb/health"
	"gslb/test/rig"
)

// killedFrame is the configuration of a server that is killed: of two datacenters one is well, and one is ill.
const killedFrame = `
server: {listen: ["DNS"], state: state.db}
admin: {listen: "ADMIN"}
geo: {database: GLOBE}
bgp: {asn: 64512, router_id: 192.0.2.53, listen: ["BGP"]}
checks: {web: {http: {port: WEB}, interval: 200ms, timeout: 200ms, fall: 20}}
datacenters: {msk: {}, ill: {}}
sites: {nsk: {partners_only: true}}
services:
  video: {check: web, answer: all, ttl: 30, steer: [partners, datacenters], at: {msk: [WELL], ill: [ILL], nsk: [NSK]}}
zones: {ok.test: {ns: [ns.example.], services: {video: video}}}
partners:
PARTNERS
`

// killing is a server that is killed again and again, with what troubles it meanwhile.
type killing struct {
	*server
	well, ill, nsk string
	network        string        // of the partner
	oldest         time.Duration // for which a result had waited for the disk when it was lost
	longest        time.Duration // write to this disk and pause of this machine
	disk           *state.Store  // beside the server's
	slowest        time.Duration // write to this disk since the trouble began, and pause of this machine
	ended          chan struct{}
	crew           sync.WaitGroup

	mu     sync.Mutex
	probed map[netip.Addr][]time.Time // when probes of an address were answered, since the last kill
}

// TestKilledAtRandomMoments: under questions, reloads and sessions that come and go, a server is killed at any moment. What
// it finds afterwards is sound and no older than an interval, and its first answer is by the last standing: who was
// withdrawn is, and the partner's network leads where it led.
func TestKilledAtRandomMoments(t *testing.T) {
	t.Parallel()
	rounds := 12
	if os.Getenv("GSLB_LONG") != "" {
		rounds = 200
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	k := newKilling(t)
	k.boot(false)
	for n := range rounds {
		k.trouble()
		wait := time.Duration(random.Int64N(int64(600 * time.Millisecond)))
		if n == 0 {
			wait = 0 // the first standing was waited for
		}
		time.Sleep(wait)
		killed := time.Now()
		k.kill()
		k.calm()
		k.sound(killed)
		k.boot(true)
	}
	t.Logf("the oldest result that was lost had waited for %v; a write took %v at most", k.oldest, k.longest)
	if said := k.log.String(); strings.Contains(said, "lost") || strings.Contains(said, "aside") || strings.Contains(said, "panic") {
		t.Errorf("something was lost on the way")
	}
}

func newKilling(t *testing.T) *killing {
	k := &killing{server: newServer(t), probed: map[netip.Addr][]time.Time{}}
	var err error
	if k.disk, _, err = state.Open(filepath.Join(t.TempDir(), "probe.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.disk.Close() })
	k.well, k.ill, k.nsk = k.net.host(20).String(), k.net.host(21).String(), k.net.host(22).String()
	k.network = "203.0.113.0/24"
	port := vacant(t, k.net.host(20)).Port()
	for address, code := range map[string]int{k.well: 200, k.ill: 503, k.nsk: 200} {
		l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", address, port))
		if err != nil {
			t.Fatal(err)
		}
		web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			k.mu.Lock()
			defer k.mu.Unlock()
			at := netip.MustParseAddr(address)
			k.probed[at] = append(k.probed[at], time.Now())
			w.WriteHeader(code)
		})}
		go web.Serve(l)
		t.Cleanup(func() { web.Close() })
	}
	globe, err := filepath.Abs("../../cmd/gslb/testdata/globe.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	partner := partnerText("sibtel", "nsk", fmt.Sprintf("address: %s, asn: 64501, passive: true", k.net.host(5)), "    accept: {within: [203.0.112.0/20]}\n")
	k.write(strings.NewReplacer("DNS", k.dns.String(), "ADMIN", k.door.String(), "BGP", k.bgp.String(), "GLOBE", globe, "PARTNERS", partner,
		"WEB", fmt.Sprint(port), "WELL", k.well, "ILL", k.ill, "NSK", k.nsk).Replace(killedFrame))
	return k
}

// boot starts the server and holds its first answers against the last standing. The first time there is none: it is waited
// for, with the partner's network, until it is saved.
func (k *killing) boot(before bool) {
	k.t.Helper()
	k.launch()
	if !before {
		rig.Until(k.t, rig.Soon, k.well, func() string { return k.addresses("192.0.2.200") })
		h := k.established(k.net.host(5), fair(), good(k.network))
		rig.Until(k.t, rig.Soon, k.nsk, func() string { return k.addresses("203.0.113.7") })
		k.saves()
		h.conn.Close()
		return
	}
	begin := time.Now()
	first := ""
	rig.Until(k.t, rig.Soon, "answers", func() string {
		if first = k.addresses("192.0.2.200"); strings.HasPrefix(first, "no answer") {
			return first
		}
		return "answers"
	})
	if partner := k.addresses("203.0.113.7"); first != k.well || partner != k.nsk {
		k.t.Errorf("after %v the first answers are %s and %s, want %s and %s", time.Since(begin), first, partner, k.well, k.nsk)
	}
}

// addresses are those that a client gets.
func (k *killing) addresses(client string) string {
	r, err := k.ask(dns.ClassINET, dns.TypeA, client)
	if err != nil {
		return "no answer: " + err.Error()
	}
	var all []string
	for _, rr := range r.Answer {
		if a, ok := rr.(*dns.A); ok {
			all = append(all, a.A.String())
		}
	}
	return strings.Join(all, " ")
}

// trouble asks, reloads, and opens and closes sessions, until calm.
func (k *killing) trouble() {
	k.ended = make(chan struct{})
	again := func(do func(n int)) {
		ended := k.ended
		k.crew.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				default:
					do(n)
				}
			}
		})
	}
	k.slowest = 0
	again(k.probe)
	again(func(int) { k.flood() })
	again(func(n int) {
		k.rewrite(fmt.Sprintf("ttl: %d", 30+n%2), fmt.Sprintf("ttl: %d", 31-n%2))
		time.Sleep(50 * time.Millisecond)
	})
	again(func(int) {
		if h, err := k.dial(k.net.host(5)); err == nil {
			_ = h.send(fair().message())
			select { // for its OPEN; while it starts it says nothing
			case <-h.in:
			case <-time.After(100 * time.Millisecond):
			}
			_ = h.send(keepalive(), good(k.network), ends())
			time.Sleep(20 * time.Millisecond)
			h.conn.Close()
		}
		time.Sleep(5 * time.Millisecond)
	})
}

// calm ends the trouble.
func (k *killing) calm() {
	close(k.ended)
	k.crew.Wait()
	k.longest = max(k.longest, k.slowest)
}

// probe does what the server does, beside it: it rests, and writes to a state file on the same disk. What takes long
// for it takes long for the server.
func (k *killing) probe(n int) {
	const rest = 20 * time.Millisecond
	begin := time.Now()
	time.Sleep(rest)
	err := k.disk.Write(func(w *state.Writer) error { return w.Put("probe", "n", []byte(fmt.Sprint(n))) })
	if err != nil {
		k.t.Error(err)
	}
	k.slowest = max(k.slowest, time.Since(begin)-rest)
}

// flood sends questions whose answers nobody waits for.
func (k *killing) flood() {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(k.dns))
	if err != nil {
		return
	}
	defer conn.Close()
	packed, err := question(dns.ClassINET, dns.TypeA, "203.0.113.7").Pack()
	if err != nil {
		k.t.Error(err)
		return
	}
	for range 50 {
		_, _ = conn.Write(packed) // it may be dead already
	}
	time.Sleep(time.Millisecond)
}

// sound opens what the server left: whole, with every window, and in them every result but those of the last interval
// and of what this disk and this machine add: the write under way and the next one.
func (k *killing) sound(killed time.Time) {
	k.t.Helper()
	const interval, machine = 200 * time.Millisecond, 100 * time.Millisecond
	allowed := interval + machine + 2*k.slowest
	store, notice, err := state.Open(filepath.Join(k.folder, "state.db"))
	if err != nil || notice != "" {
		k.t.Fatalf("state: %s, %v", notice, err)
	}
	defer store.Close()
	windows, err := store.All("windows")
	if err != nil || len(windows) != 3 {
		k.t.Fatalf("%d windows, want 3: %v", len(windows), err)
	}
	for key, value := range windows {
		var w health.Saved
		if err := json.Unmarshal(value, &w); err != nil {
			k.t.Fatalf("window of %s: %v", key, err)
		}
		if w.Address != netip.MustParseAddr(k.ill) && w.Verdict != health.Up || w.Address == netip.MustParseAddr(k.ill) && w.Verdict != health.Withdrawn {
			k.t.Errorf("%s is %v", key, w.Verdict)
		}
		if waited := k.lost(w, killed); waited > allowed {
			k.t.Errorf("the window of %s lacks a result that came %v before: %v is allowed", key, waited, allowed)
		}
	}
}

// lost tells how long the first result that is not in a window, of those since the last kill, had waited for the disk
// when the server was killed.
func (k *killing) lost(w health.Saved, killed time.Time) (waited time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, at := range k.probed[w.Address] {
		if at.After(w.At) {
			waited = max(waited, killed.Sub(at))
		}
	}
	delete(k.probed, w.Address) // what was lost is lost for good
	k.oldest = max(k.oldest, waited)
	return waited
}
