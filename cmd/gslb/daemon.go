package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gslb/config"
	"gslb/config/state"
	"gslb/dns"
	"gslb/dns/admin"
	"gslb/dns/publish"
	"gslb/dns/sign"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

// daemon is a server that answers DNS questions. It is made whole from its configuration by newDaemon,
// and runs once. Everything that changes the configuration in force happens in the goroutine of Run.
type daemon struct {
	file    string
	log     *slog.Logger
	herald  herald
	started time.Time
	fixed   fixed
	workers int // UDP sockets an address where the configuration says nothing; 0: one for each goroutine that Go may run

	store     *state.Store
	keeper    *keeper
	world     *geo.Source
	board     *health.Board
	outside   *health.Outside
	runner    *health.Runner
	peering   *peering
	signer    *sign.Signer
	publisher *publish.Publisher
	responder *dns.Responder
	tracing   *tracing
	server    *dns.Server
	notifier  *dns.Notifier
	watcher   *watcher
	door      net.Listener // of the admin handler; nil: off

	doorCertificate *dns.Certificate // nil: the door speaks no TLS

	hangups chan os.Signal
	asked   chan chan admin.Reload  // reloads that somebody waits for
	latest  atomic.Pointer[current] // written by the goroutine of Run only
	again   time.Time               // when a refused configuration is read again by itself; zero: never. Owned by the goroutine of Run

	disturbances int // in a row; owned by the goroutine of Run

	lastReload time.Duration // how long the end waits for a reload that is under way
}

// current is what the daemon works by at one moment. It is immutable.
type current struct {
	config  *config.Config
	number  uint64
	loaded  time.Time
	open    bool // the DNS sockets are open
	refused *admin.Refusal
	fails   uint64
	turns   uint64 // reloads that put another configuration in force
}

// fixed is what a daemon keeps for as long as it runs.
type fixed struct {
	state string
	admin netip.AddrPort
	tls   config.AdminTLS // of the admin door
	log   config.Log
}

func fixedOf(cfg *config.Config) fixed {
	f := fixed{state: cfg.Server.State, admin: cfg.Admin.Listen, log: cfg.Server.Log}
	if cfg.Admin.TLS != nil {
		f.tls = *cfg.Admin.TLS
	}
	return f
}

// shutdownTime bounds how long the end of a daemon takes, behind lastReload, which is as much of that as a reload gets
// that is under way. The disks may hang. Together they are less than the service unit allows (TimeoutStopSec).
const (
	shutdownTime = 5 * time.Second
	lastReload   = 3 * time.Second
)

// newDaemon makes a daemon that has everything but its DNS sockets. Problems of the configuration,
// also warnings, are given back in any case; the error is any other reason why there is no daemon.
func newDaemon(file string, log *slog.Logger) (d *daemon, problems config.Problems, err error) {
	begin := time.Now()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // from here on it does not end the process: to read alone may take seconds
	defer func() {
		if d == nil {
			signal.Stop(hangups)
		}
	}()
	cfg, policy, problems := load(file)
	for _, p := range problems.Warnings() {
		log.Warn("config warning", "problem", p.String())
	}
	if len(mistakes(problems)) > 0 {
		return nil, problems, nil
	}
	if err := errors.Join(ready(cfg, policy)...); err != nil {
		return nil, problems, err
	}
	d = &daemon{
		file: file, log: log, started: begin, watcher: newWatcher(cfg.Files, begin, log), hangups: hangups, asked: make(chan chan admin.Reload),
		fixed: fixedOf(cfg), lastReload: lastReload,
	}
	if err := d.open(cfg); err != nil {
		return nil, problems, errors.Join(err, d.close())
	}
	d.assemble()
	signed, err := d.signer.Prepare(policy.Signed(), time.Now())
	if err != nil {
		return nil, problems, errors.Join(err, d.close())
	}
	d.begin(cfg, policy, signed)
	return d, problems, nil
}

// open takes what the daemon needs from the machine: the state file, the geo database, the admin port.
func (d *daemon) open(cfg *config.Config) (err error) {
	store, notice, err := state.Open(cfg.Server.State)
	if err != nil {
		return located(cfg, "server.state", err)
	}
	d.store = store
	if notice != "" {
		d.log.Error("state lost", "cause", notice)
	}
	if d.world, err = geo.NewSource(geo.Files(cfg.Geo), d.log); err != nil {
		return located(cfg, "geo", err)
	}
	return d.openDoor(cfg)
}

// assemble puts the parts together.
func (d *daemon) assemble() {
	d.board = health.NewBoard()
	d.peering = newPeering(d.log, d.record)
	d.keeper = newKeeper(d.store, d.board, d.peering.rib, d.log)
	d.peering.restore(d.keeper.routes())
	d.board.Restore(d.keeper.windows(), d.started)
	d.outside = health.NewOutside()
	d.runner = health.NewRunner(d.board, d.outside.Probe, d.log)
	d.signer = sign.NewSigner(d.log)
	d.publisher = publish.New(publish.Sources{
		Health:     d.board.Latest,
		Routes:     d.peering.rib.Latest,
		Changed:    []<-chan struct{}{d.board.Changed(), d.peering.rib.Changed()},
		Geo:        d.world.Latest,
		GeoChanged: d.world.Changed(),
		Signed:     d.signer.Latest,
		Aside:      quietly,
	}, d.tell)
	d.publisher.Restore(d.keeper.tenures())
	d.publisher.RestoreBegun(d.keeper.drains())
	d.keeper.steer, d.keeper.begun = d.publisher.Tenures, d.publisher.Begun
	host, err := os.Hostname()
	if err != nil {
		d.log.Warn("host name not known", "cause", err)
	}
	d.responder = dns.NewResponder(host, version)
	d.tracing = newTracing(d.responder, d.log)
	d.server = dns.NewServer(d.responder, d.publisher.Latest, d.log)
	d.notifier = dns.NewNotifier(d.responder, d.publisher.Latest, d.server.Addresses, d.log)
}

// begin puts the first configuration in force.
func (d *daemon) begin(cfg *config.Config, policy *steer.Policy, signed *sign.Signed) {
	number := d.keeper.number(cfg.Hash())
	d.log.Info("started", "version", version, "file", cfg.File, "number", number, "hash", cfg.Hash())
	for _, p := range fitNobody(cfg, d.world.Latest()) {
		d.log.Warn("config warning", "problem", p.String())
	}
	d.record("server", fmt.Sprintf("gslb %s started with config %d:%s", version, number, cfg.Hash()))
	d.use(cfg, policy, signed, number)
	debug.FreeOSMemory() // what was only needed on the way is as much again, for a large configuration
	d.latest.Store(&current{config: cfg, number: number, loaded: d.started})
}

// use makes answers come from a policy and its signed zones. It returns when they do.
func (d *daemon) use(cfg *config.Config, policy *steer.Policy, signed *sign.Signed, number uint64) {
	d.tracing.Apply(cfg.Server)
	d.keeper.follow(number, cfg.Hash(), saveInterval(cfg), cfg.Server.Journal)
	d.responder.Counts.Expect(policy, number)
	d.publisher.Use(policy, number, time.Now, func() {
		d.board.Arm(policy.Brake(), time.Now())
		targets := policy.Targets()
		d.runner.Apply(targets)
		d.outside.Retain(targets)
		d.peering.use(policy, time.Now())
		d.signer.Use(signed)
	})
	if now := d.latest.Load(); now != nil && now.open { // else nobody could fetch anything
		d.notifier.Changed()
	}
}

// Run serves until ctx ends, or something that it cannot do without fails.
func (d *daemon) Run(ctx context.Context) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var crew sync.WaitGroup
	for _, run := range d.parts() {
		crew.Go(func() {
			if err := run(inner); err != nil {
				d.log.Error("part of the server ended", "cause", err)
			}
		})
	}
	err := d.governed(inner)
	ended := make(chan error, 1)
	go func() {
		closing := d.server.Close()
		stop()
		crew.Wait()
		d.record("server", "gslb stopped")
		d.keeper.finish()
		ended <- errors.Join(closing, d.close())
	}()
	select {
	case closing := <-ended:
		d.log.Info("stopped")
		return errors.Join(err, closing)
	case <-time.After(shutdownTime):
		return errors.Join(err, errors.New("stopped in haste: the newest windows may not be saved"))
	}
}

// parts are what runs beside each other until the daemon ends.
func (d *daemon) parts() []func(context.Context) error {
	return []func(context.Context) error{
		d.runner.Run, d.peering.age, d.peering.sessions.Run, d.peering.vrps.Run, d.peering.validate, d.peering.tidy,
		d.publisher.Run, d.signer.Run, publish.NewAhead(d.publisher).Run, hushed(d.world.Run), d.watcher.Run, d.keeper.Run, d.attend, d.attest, d.tracing.Run, d.notifier.Run,
	}
}

// close gives back what open took.
func (d *daemon) close() error {
	signal.Stop(d.hangups)
	var errs []error
	if d.door != nil {
		if err := d.door.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	return errors.Join(errs...)
}

// governed governs until ctx ends. A reload that reads from a disk that hangs, or from a pipe, may never end: it is left
// behind then, for the process ends.
func (d *daemon) governed(ctx context.Context) error {
	defer d.herald.stopping()
	ended := make(chan error, 1)
	go func() { ended <- d.govern(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(d.lastReload):
		return errors.New("a reload was left behind: what it reads does not come")
	}
}

// govern opens the DNS sockets when it is time, and reloads the configuration, until ctx ends.
func (d *daemon) govern(ctx context.Context) error {
	d.herald.starting(d.patience())
	settled, patience := d.board.Settled(), time.NewTimer(d.patience())
	defer patience.Stop()
	d.log.Debug("waiting for the first results of the checks", "longest", d.patience())
	for {
		again, leave := d.untilAgain()
		var err error
		select {
		case <-ctx.Done():
			leave()
			return nil
		case <-settled:
			settled, err = nil, d.listen()
		case <-patience.C:
			settled, err = nil, d.listen()
		case <-d.hangups:
			d.reload(asked)
		case <-d.watcher.Changed():
			d.reload(noticed)
		case reply := <-d.asked:
			reply <- d.reload(asked)
		case <-again:
			if !time.Now().Before(d.again) { // else only the clock was looked at
				d.reload(noticed)
			}
		}
		leave()
		if err != nil {
			return err
		}
	}
}

// patience is how long the sockets wait for the first results: until the slowest probe must have ended.
func (d *daemon) patience() time.Duration {
	const spread = 1200 * time.Millisecond // within which all first probes leave, and some
	var longest time.Duration
	for _, t := range d.publisher.Latest().Policy().Targets() {
		longest = max(longest, t.Check.Timeout)
	}
	return spread + longest
}

// listen opens the DNS sockets, unless they are open.
func (d *daemon) listen() error {
	now := *d.latest.Load()
	if now.open {
		return nil
	}
	doors, err := d.doors(now.config)
	if err != nil {
		return err
	}
	if err := d.server.Listen(doors); err != nil {
		return unheard(now.config, err)
	}
	now.open = true
	d.latest.Store(&now)
	d.notifier.Changed()
	d.herald.ready(len(now.config.Zones))
	d.log.Info("serving", "addresses", d.server.Addresses(), "zones", len(now.config.Zones), "after", time.Since(d.started).Round(time.Millisecond))
	debug.FreeOSMemory() // the first probes left all within a second, and need much at once
	return nil
}

// tell brings events to the log and the journal.
func (d *daemon) tell(events []steer.Event) {
	if slices.ContainsFunc(events, func(e steer.Event) bool { return e.Kind == "drain" }) && d.responder != nil {
		d.responder.Counts.Settle(d.publisher.Latest())
	}
	for _, e := range events {
		level := slog.LevelInfo
		if e.Grave {
			level = slog.LevelWarn
		}
		d.log.LogAttrs(context.Background(), level, e.Text, e.Attrs...)
		fields := make(map[string]string, len(e.Attrs))
		for _, a := range e.Attrs {
			fields[a.Key] = a.Value.String()
		}
		d.keeper.add(state.Event{Time: time.Now(), Kind: e.Kind, Text: e.Text, Fields: fields})
	}
}

func (d *daemon) record(kind, text string) {
	d.keeper.add(state.Event{Time: time.Now(), Kind: kind, Text: text})
}

// saveInterval is how often windows are saved: so often that, with the time that it takes, it is at
// least once in the shortest interval of a check. Routes are saved along with them, without checks too.
func saveInterval(cfg *config.Config) time.Duration {
	shortest := 2 * routesInterval
	for _, c := range cfg.Checks {
		shortest = min(shortest, c.Interval)
	}
	return max(shortest/2, keeperRest)
}
