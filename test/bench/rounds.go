package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// run is one run of the benchmark: servers, and what was measured of them.
type run struct {
	options
	world    *world
	partners routing
	servers  []*running // ours first
	alone    *running   // ours, for what the others are not asked
	report   report
}

// start starts our server and every other that was asked for and is installed.
func (b *run) start() error {
	ours, err := startOurs(*b.world, b.binary, b.cpu, b.port, false)
	if err != nil {
		return err
	}
	b.servers = append(b.servers, ours)
	if b.has("own") || b.has("trouble") {
		if b.alone, err = startOurs(*b.world, b.binary, b.cpu, b.port+10, true); err != nil {
			return err
		}
	}
	for i, p := range peers {
		if !slices.Contains(b.options.servers, p.name) {
			continue
		}
		s, err := p.start(*b.world, b.cpu, b.port+1+i)
		if errors.Is(err, errAbsent) {
			fmt.Fprintf(os.Stderr, "skipped: %s, %v\n", p.name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		b.servers = append(b.servers, s)
	}
	for _, s := range b.servers {
		if err := s.ready(); err != nil {
			return err
		}
	}
	if b.alone != nil {
		return converged(b.alone)
	}
	return nil
}

func (b *run) stop() {
	for _, s := range b.servers {
		s.stop()
	}
	if b.alone != nil {
		b.alone.stop()
	}
}

// compare holds the answers of all servers together.
func (b *run) compare() error {
	var errs []error
	for _, kind := range []string{"static", "geo", "ecs"} {
		var who []*running
		for _, s := range b.servers {
			if slices.Contains(s.mixes, kind) && s.name != "floor" {
				who = append(who, s)
			}
		}
		errs = append(errs, verify(kind, who))
	}
	return errors.Join(errs...)
}

// measure goes round by round through all that was chosen.
func (b *run) measure() error {
	for round := range b.rounds {
		if b.has("peers") {
			for _, kind := range b.mixes {
				for _, rate := range b.rates {
					if err := b.each(round, kind, rate, b.packets); err != nil {
						return err
					}
				}
			}
		}
		if b.has("tcp") {
			for _, mode := range []float64{tcpKept, tcpOnce} {
				if err := b.each(round, "static", mode, b.stream); err != nil {
					return err
				}
			}
		}
		if b.has("own") {
			if err := b.own(round); err != nil {
				return err
			}
		}
		if b.has("trouble") {
			if err := b.trouble(round); err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, b.rounds)
	}
	return nil
}

// each measures every server that knows a mix.
func (b *run) each(round int, kind string, rate float64, measure func(*running, string, float64, time.Duration) (window, error)) error {
	for _, s := range b.servers {
		if !slices.Contains(s.mixes, kind) || s.name == "floor" && rate < 0 {
			continue
		}
		w, err := measure(s, kind, rate, b.duration)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", s.name, kind, err)
		}
		w.round = round
		b.report.windows = append(b.report.windows, w)
	}
	return nil
}

// troubledRate is the queries a second at which the processor is not used up: other work gets its share.
const troubledRate = 20000

// own measures what only our server is asked.
func (b *run) own(round int) error {
	for _, rate := range []float64{0, troubledRate} {
		for _, kind := range append([]string{"static"}, ours...) {
			w, err := b.packets(b.alone, kind, rate, b.duration)
			if err != nil {
				return fmt.Errorf("%s alone: %w", kind, err)
			}
			b.addAlone(w, round)
		}
	}
	return nil
}

// trouble measures our server while something else goes on.
func (b *run) trouble(round int) error {
	for _, t := range troubles {
		w, err := b.troubled(b.alone, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		b.addAlone(w, round)
	}
	return nil
}

func (b *run) addAlone(w window, round int) {
	w.round, w.mode = round, w.mode+", alone"
	b.report.windows = append(b.report.windows, w)
}

// troubled measures our server while something else goes on, without what that costs by itself.
func (b *run) troubled(s *running, t trouble) (w window, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- t.run(ctx, b.world, b.partners) }()
	defer func() {
		cancel()
		err = errors.Join(err, <-ended)
		time.Sleep(time.Second) // what it left is taken back
	}()
	const long = 4 // windows: there is to be more than one reload in it
	time.Sleep(t.settle)
	pids := family(s.command.Process.Pid)
	before, start := processorTime(pids), time.Now()
	time.Sleep(long * b.duration)
	beside := float64(processorTime(pids)-before) / float64(time.Since(start))
	if w, err = b.packets(s, t.mix, troubledRate, long*b.duration); err != nil {
		return w, err
	}
	w.processor -= beside * 1e6 / max(w.rate, 1)
	w.mix = t.mix + " + " + t.name
	return w, nil
}

// packets measures one server over UDP.
func (b *run) packets(s *running, kind string, rate float64, d time.Duration) (window, error) {
	m, err := newMix(kind, uint64(time.Now().UnixNano()))
	if err != nil {
		return window{}, err
	}
	l, err := newLoad(m, s.address, rate)
	if err != nil {
		return window{}, err
	}
	defer l.close()
	l.run(b.warm)
	l.reset()
	mode := "sat"
	if rate > 0 {
		mode = fmt.Sprintf("%gk", rate/1000)
	}
	return observed(s, loadName{kind, mode}, func() (outcome, error) {
		l.run(d)
		return l.outcome, nil
	})
}

// Modes of TCP, which have no rate.
const (
	tcpKept = -1
	tcpOnce = -2
)

// stream measures one server over TCP.
func (b *run) stream(s *running, kind string, mode float64, d time.Duration) (window, error) {
	l, err := newStreamLoad(kind, s.address, mode == tcpOnce)
	if err != nil {
		return window{}, err
	}
	defer l.close()
	if _, err := l.run(b.warm); err != nil {
		return window{}, err
	}
	name := "tcp, 100 kept"
	if l.once {
		name = "tcp, one each"
	}
	return observed(s, loadName{kind, name}, func() (outcome, error) { return l.run(d) })
}

// observed measures what a server uses while it is asked.
func observed(s *running, name loadName, ask func() (outcome, error)) (window, error) {
	pids := family(s.command.Process.Pid)
	before := processorTime(pids)
	o, err := ask()
	used := processorTime(pids) - before
	if err == nil && o.answers() == 0 {
		err = errors.New("no answers came")
	}
	if err != nil {
		return window{}, err
	}
	return window{
		server: s.name, loadName: name, bad: o.bad, memory: memory(pids),
		processor: float64(used.Nanoseconds()) / 1000 / float64(o.answers()),
		rate:      float64(o.answers()) / o.elapsed.Seconds(),
		lost:      100 * float64(o.sent-o.answers()) / float64(o.sent),
		p50:       o.percentile(50), p99: o.percentile(99),
	}, nil
}
