// Bench answers one question: what does an answer cost us, beside the name servers that people run?
//
//	./test/bench/run            # all of it: a quarter of an hour
//	./test/bench/run --short    # does it run at all? Half a minute, the figures are worth nothing
//
// Every server that is installed (gdnsd, Knot, NSD, BIND; Debian's packages) is given the same zone, the same geographical
// rules, where it has such, and the same data: first all must give the same answers. Then each is asked in turn, in rounds:
// the servers run on one processor, the queries come from another, all on loopback. The figure to trust on a shared machine
// is the processor time of all threads of a server for an answer; its ratio to another server's is taken inside each
// round, and the median of these is told. At "sat" as many queries come as are answered, and latency means nothing; at
// a fixed rate each query is mostly a waking up of its own.
//
// A second server of ours is asked more, alone: clients steered by the 100,000 networks of partners, by hash, a service that
// nothing serves; and, at a fixed rate, while the configuration is loaded again each second, while 1,000 BGP UPDATEs a second
// come, and while ten thousand endpoints are checked every 10 s. What that work costs without queries is
// measured just before, and taken off.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are what can be chosen.
type options struct {
	binary   string
	cpu      string
	rounds   int
	duration time.Duration
	warm     time.Duration
	rates    []float64
	mixes    []string
	servers  []string
	parts    []string
	port     int
	coalesce time.Duration
	guarded  bool
}

func main() {
	o, err := parseOptions(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = bench(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parseOptions(arguments []string) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	short := f.Bool("short", false, "one round of short windows: does it run at all?")
	f.StringVar(&o.binary, "gslb", "", "our server's `program`")
	f.StringVar(&o.cpu, "cpu", "0", "`number` of the processor that servers run on")
	f.IntVar(&o.rounds, "rounds", 9, "rounds, of which medians are told")
	f.DurationVar(&o.duration, "window", 500*time.Millisecond, "how long each server is measured at a time")
	f.DurationVar(&o.warm, "warm", 150*time.Millisecond, "how long it is asked before that")
	f.IntVar(&o.port, "port", 25300, "first of 20 ports on loopback")
	f.DurationVar(&o.coalesce, "coalesce", 0, "the `pause` in which our server gathers packets, server.coalesce; 0: none")
	f.BoolVar(&o.guarded, "guarded", false, "our server limits rates, so high that nobody is limited, and knows cookies")
	rates := f.String("rates", "0,20000,5000", "queries a second; 0: as many as are answered")
	kinds := f.String("mixes", strings.Join(mixes, ","), "what all servers are asked")
	servers := f.String("servers", "gdnsd,knot,nsd,bind,floor", "who is measured beside gslb")
	parts := f.String("parts", "peers,tcp,own,trouble", "which parts are run")
	if err := f.Parse(arguments); err != nil {
		return o, err
	}
	o.mixes, o.servers, o.parts = strings.Split(*kinds, ","), strings.Split(*servers, ","), strings.Split(*parts, ",")
	for word := range strings.SplitSeq(*rates, ",") {
		rate, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return o, fmt.Errorf("rate %q is no number", word)
		}
		o.rates = append(o.rates, rate)
	}
	if *short {
		o.rounds, o.duration, o.warm, o.rates = 1, 200*time.Millisecond, 50*time.Millisecond, []float64{0, 20000}
	}
	return o, nil
}

// bench starts the servers, measures, prints, and ends what it started.
func bench(o options) error {
	folder, err := os.MkdirTemp("", "gslb-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	w, err := newWorld(folder)
	if err != nil {
		return err
	}
	w.Check, w.BGP, w.Coalesce, w.Guarded = o.port+18, o.port+19, o.coalesce, o.guarded
	closing, err := acceptChecks(w.Check)
	if err != nil {
		return err
	}
	defer closing()
	partners, err := newRouting(w.BGP)
	if err != nil {
		return err
	}
	defer partners.close()
	b := &run{options: o, world: w, partners: partners}
	defer b.stop()
	if err := b.start(); err != nil {
		return err
	}
	if err := b.compare(); err != nil {
		return err
	}
	if err := b.measure(); err != nil {
		return err
	}
	b.report.print(os.Stdout)
	if n := b.report.bad(); n > 0 {
		return fmt.Errorf("%d answers of gslb were wrong", n)
	}
	return nil
}

func (o *options) has(part string) bool { return slices.Contains(o.parts, part) }
