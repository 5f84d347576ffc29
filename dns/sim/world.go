package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns"
	"gslb/dns/publish"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// beginning is when every story begins: a midnight, so that the clock shows the time that has passed.
var beginning = time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC)

// world is the server, and the doubles at its doors.
type world struct {
	files     map[string]string
	globe     *geo.Map
	endpoints endpoints
	now       time.Time
	luck      *rand.Rand
	out       []string // what the step at hand came to

	server server
	number uint64 // of the configuration in force, counted over restarts
	hash   string // of its content

	refused error // what was wrong with the configuration when it was read last
}

// server is what ends with its process.
type server struct {
	began     time.Time
	open      bool // the sockets are
	board     *health.Board
	rib       *bgp.RIB
	publisher *publish.Publisher
	responder *dns.Responder
	policy    *steer.Policy // in force; nil: none yet
	watches   []*watch
	again     time.Time          // when a refused configuration is read again; zero: when a file changes
	counts    map[health.Key]int // probes since the last time they were shown
}

func newWorld(s *script) (*world, error) {
	globe, err := readGlobe(s.geo)
	if err != nil {
		return nil, err
	}
	w := &world{files: maps.Clone(s.files), globe: globe, endpoints: endpoints{}, now: beginning, luck: rand.New(rand.NewPCG(1, 2))}
	return w, nil
}

// say adds a line to what the step came to.
func (w *world) say(format string, args ...any) {
	w.out = append(w.out, fmt.Sprintf(format, args...))
}

// time is the moment of the story.
func (w *world) time() time.Time { return w.now }

// clock is the time as the story shows it.
func (w *world) clock() string {
	if w.now.Sub(beginning) < 24*time.Hour {
		return w.now.Format(time.TimeOnly)
	}
	return w.now.Format(time.RFC3339)
}

// boot starts the server, with what an earlier one saved.
func (w *world) boot(saved []health.Saved, tenures map[string]steer.Tenure) {
	w.server = server{began: w.now, board: health.NewBoard(), rib: bgp.NewRIB(), responder: dns.NewResponder("sim", "sim"), counts: map[health.Key]int{}}
	w.server.board.Restore(saved, w.now)
	sources := publish.Sources{
		Health: w.server.board.Latest,
		Routes: w.server.rib.Latest,
		Geo:    func() *geo.Map { return w.globe },
	}
	w.server.publisher = publish.New(sources, w.tell)
	w.server.publisher.Restore(steer.NewTenures(tenures))
}

// tell shows what the operator is told. That a configuration is in force is not shown here: the
// event names the hash of its content, which would change with every word of the script.
func (w *world) tell(events []steer.Event) {
	for _, e := range events {
		if e.Kind == "config" {
			e.Text = fmt.Sprintf("config %d in force", w.number)
		}
		w.say("%s %s", w.clock(), e.Text)
	}
}

// errRefused means that the configuration has errors, which were shown.
var errRefused = errors.New("the configuration was refused")

// load reads the configuration and puts it in force. One with errors changes nothing.
func (w *world) load() error {
	cfg, problems := config.ParseWith(w.zoneFile, w.sources()...)
	policy, more := steer.Recompile(cfg, w.server.policy)
	problems = append(append(problems, more...), cfg.TooFewPlaces(w.now)...)
	w.server.again = cfg.EnoughFrom(w.now)
	for _, p := range problems.Sorted() {
		w.say("%s", p)
	}
	if w.refused = problems.Err(); w.refused != nil {
		return errRefused
	}
	if policy.Hash() != w.hash {
		w.number, w.hash = w.number+1, policy.Hash()
	}
	w.server.policy = policy
	w.server.publisher.Use(policy, w.number, w.time, func() {
		w.server.board.Arm(policy.Brake(), w.now)
		w.watch(policy.Targets())
		w.server.rib.Apply(policy.Partners(), policy.Peers(), w.now)
	})
	return nil
}

// sources gives the main file and the drop-ins in the order of their names.
func (w *world) sources() []config.Source {
	sources := []config.Source{{File: mainFile, Text: []byte(w.files[mainFile])}}
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		base, ok := strings.CutPrefix(name, dropins)
		if ok && strings.HasSuffix(base, ".yaml") && !strings.HasPrefix(base, ".") && !strings.Contains(base, "/") {
			sources = append(sources, config.Source{File: name, Text: []byte(w.files[name])})
		}
	}
	return sources
}

func (w *world) zoneFile(name string) (string, error) {
	text, ok := w.files[path.Clean(name)]
	if !ok {
		return "", errors.New("the script has no such file")
	}
	return text, nil
}

// memory is what outlives a process.
type memory struct {
	Windows []health.Saved
	Tenures map[string]steer.Tenure
	Routes  map[string][]byte
}

// restart ends the server and starts it again after some time, with the verdicts, tenures and routes that
// it saved. They go through the form in which they are stored.
func (w *world) restart(after time.Duration) error {
	saved := memory{Windows: w.server.board.Save(), Tenures: maps.Collect(w.server.publisher.Tenures().All())}
	var err error
	if saved.Routes, err = w.server.rib.Save(w.now); err != nil {
		return fmt.Errorf("save the routes: %w", err)
	}
	stored, err := json.Marshal(saved)
	if err != nil {
		return fmt.Errorf("save what outlives the process: %w", err)
	}
	var restored memory
	if err := json.Unmarshal(stored, &restored); err != nil {
		return fmt.Errorf("restore what outlives the process: %w", err)
	}
	w.now = w.now.Add(after)
	return w.start(restored)
}

// start starts the server, and lets time pass until its sockets are open.
func (w *world) start(saved memory) error {
	w.boot(saved.Windows, saved.Tenures)
	if err := w.server.rib.Restore(saved.Routes); err != nil {
		return fmt.Errorf("restore the routes: %w", err)
	}
	if err := w.load(); err != nil {
		return err
	}
	w.pass(w.now.Add(w.patience()), func() bool { return w.server.open })
	w.server.open = true
	if waited := w.now.Sub(w.server.began); waited > 0 {
		w.say("serving after %s", config.Duration((waited + time.Second - 1).Truncate(time.Second)))
	} else {
		w.say("serving at once")
	}
	return nil
}

// patience is how long a server that starts waits for the first results: the longest timeout of its checks.
func (w *world) patience() time.Duration {
	var longest time.Duration
	for _, t := range w.server.policy.Targets() {
		longest = max(longest, t.Check.Timeout)
	}
	return longest
}
