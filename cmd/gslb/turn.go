package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"gslb/config"
	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/geo"
)

// cause is why the configuration is read again.
type cause uint8

const (
	asked   cause = iota // by an operator, who wants to hear of it
	noticed              // a file changed
)

// reload reads the configuration again and puts it in force when it has no problems; else nothing
// changes. Only the goroutine of Run calls it.
func (d *daemon) reload(why cause) admin.Reload {
	d.herald.reloading()
	defer d.reloaded()
	outcome := d.reread(why)
	if outcome.Outcome == admin.Applied && held() > littleMemory {
		debug.FreeOSMemory() // what was in force is garbage, and what was only needed on the way
	}
	return outcome
}

// littleMemory, in bytes, may be held after a reload: to give garbage back takes a collection, beside which answers wait,
// and so little the next reload uses again.
const littleMemory = 128 << 20

// held is the memory that Go has from the system, in bytes.
func held() uint64 {
	all := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(all)
	return all[0].Value.Uint64() - all[1].Value.Uint64()
}

func (d *daemon) reread(why cause) admin.Reload {
	begin := time.Now()
	var cfg *config.Config
	var policy *steer.Policy
	var problems config.Problems
	quietly(func() { cfg, policy, problems = loadAfter(d.file, d.publisher.Latest().Policy()) })
	d.watcher.Follow(cfg.Files, begin)
	if why == noticed && d.disturbed() {
		return d.stay()
	}
	before := d.again
	d.again = cfg.EnoughFrom(begin)
	if lines := texts(mistakes(problems)); len(lines) > 0 {
		outcome := d.refuse(lines, why)
		if !d.again.IsZero() && !d.again.Equal(before) {
			d.log.Warn("config will be read again when a drain ends", "at", d.again)
		}
		return outcome
	}
	now := d.latest.Load().config
	if alike(cfg, now) {
		return d.keep(why)
	}
	if lines := emptied(cfg, now); len(lines) > 0 {
		return d.refuse(lines, why)
	}
	if err := d.turn(cfg, policy); err != nil {
		return d.refuse(strings.Split(err.Error(), "\n"), why)
	}
	warnings := append(texts(append(problems.Warnings(), fitNobody(cfg, d.world.Latest())...)), d.restartsNeeded(cfg)...)
	for _, w := range warnings {
		d.log.Warn("config warning", "problem", w)
	}
	number := d.latest.Load().number
	return admin.Reload{Outcome: admin.Applied, Number: number, Hash: cfg.Hash(), Warnings: warnings}
}

// reloaded tells the service manager the end of a reload, unless we have yet to become ready.
func (d *daemon) reloaded() {
	if now := d.latest.Load(); now.open {
		d.herald.ready(len(now.config.Zones))
	}
}

// clockCheck bounds how long a timer is trusted: the wall clock may be set meanwhile.
const clockCheck = 30 * time.Second

// untilAgain gives a channel that receives when a refused configuration is to be read again, or the clock looked at.
func (d *daemon) untilAgain() (<-chan time.Time, func()) {
	if d.again.IsZero() {
		return nil, func() {}
	}
	t := time.NewTimer(min(time.Until(d.again), clockCheck))
	return t.C, func() { t.Stop() }
}

// alike tells whether two configurations say the same. By reflection: a key that the server gets later
// counts by itself.
func alike(a, b *config.Config) bool {
	return a.Hash() == b.Hash() && reflect.DeepEqual(a.Server, b.Server) && reflect.DeepEqual(a.Admin, b.Admin)
}

// mostDisturbed is how often in a row files that change while they are read make nothing of that. Who writes all the
// time is then believed all the same.
const mostDisturbed = 5

// disturbed tells whether files have changed while they were read: what was read may be half of what somebody is
// writing. The watcher tells of them again when they are quiet.
func (d *daemon) disturbed() bool {
	if d.disturbances < mostDisturbed && d.watcher.stirs() {
		d.disturbances++
		return true
	}
	d.disturbances = 0
	return false
}

// emptied says that a configuration has lost all its zones, or a zone's file its content. A file that is just being
// written, or that a full disk cut off, looks like that: nothing is asked for and nothing is wrong.
func emptied(cfg, now *config.Config) (lines []string) {
	if len(cfg.Zones) == 0 && len(now.Zones) > 0 {
		pos := cfg.At("zones")
		if pos == (config.Pos{}) {
			pos.File = cfg.File
		}
		return []string{config.Problem{
			Pos: pos, Path: "zones",
			Message: "none are left, so that no question would be answered any more: if that is meant, restart the server",
		}.String()}
	}
	had := map[string]bool{} // files of zones that said something
	for _, z := range now.Zones {
		had[z.File] = had[z.File] || z.FileText != ""
	}
	for _, z := range cfg.Zones {
		if z.FileText != "" || z.File == "" || !had[z.File] {
			continue
		}
		path := z.Path + ".file"
		lines = append(lines, config.Problem{
			Pos: cfg.At(path), Path: path,
			Message: fmt.Sprintf("%s has become empty: if that is meant, leave a comment in it", z.File),
		}.String())
	}
	return lines
}

// turn puts another configuration in force, or changes nothing.
func (d *daemon) turn(cfg *config.Config, policy *steer.Policy) error {
	if err := errors.Join(ready(cfg, policy)...); err != nil {
		return err
	}
	now := *d.latest.Load()
	signed, err := d.signer.Prepare(policy.Signed(), time.Now())
	if err != nil {
		return err
	}
	var useWorld func()
	quietly(func() { useWorld, err = d.world.Prepare(geo.Files(cfg.Geo)) })
	if err != nil {
		return located(cfg, "geo", err)
	}
	if now.open {
		doors, err := d.doors(cfg)
		if err != nil {
			return err
		}
		if err := d.server.Listen(doors); err != nil {
			return unheard(cfg, err)
		}
	}
	useWorld()
	if cfg.Hash() != now.config.Hash() {
		now.number++ // the publisher tells of it
	} else {
		d.log.Info("server and admin keys changed", "file", cfg.File)
	}
	d.use(cfg, policy, signed, now.number)
	now.config, now.loaded, now.refused = cfg, time.Now(), nil
	now.turns++
	d.latest.Store(&now)
	return nil
}

// located tells an error with the place in the files that asks for what cannot be had.
func located(cfg *config.Config, path string, err error) error {
	return &misplaced{config.Problem{Pos: cfg.At(path), Path: path, Message: err.Error()}, err}
}

// misplaced is an error with the place in the files that asks for what cannot be had.
type misplaced struct {
	problem config.Problem
	cause   error
}

func (e *misplaced) Error() string { return e.problem.String() }

func (e *misplaced) Unwrap() error { return e.cause }

// keep stays with what is in force, since the files hold the same. That also ends an earlier refusal.
func (d *daemon) keep(why cause) admin.Reload {
	now := *d.latest.Load()
	if why == asked || now.refused != nil {
		d.log.Info("config unchanged", "number", now.number, "hash", now.config.Hash())
	}
	now.refused = nil
	d.latest.Store(&now)
	return d.stay()
}

// stay is the outcome where nothing changes.
func (d *daemon) stay() admin.Reload {
	now := d.latest.Load()
	return admin.Reload{Outcome: admin.Unchanged, Number: now.number, Hash: now.config.Hash()}
}

// refuse stays with what is in force, and says why. A file that changes without getting better is
// not told of again.
func (d *daemon) refuse(lines []string, why cause) admin.Reload {
	now := *d.latest.Load()
	if why == asked || now.refused == nil || !slices.Equal(now.refused.Problems, lines) {
		for _, line := range lines {
			d.log.Error("config refused", "problem", line)
		}
		d.record("config", fmt.Sprintf("config refused, %d:%s stays in force: %s", now.number, now.config.Hash(), lines[0]))
	}
	now.refused = &admin.Refusal{Time: time.Now(), Problems: lines}
	now.fails++
	d.latest.Store(&now)
	return admin.Reload{Outcome: admin.Refused, Number: now.number, Hash: now.config.Hash(), Problems: lines}
}

// restartsNeeded tells which keys differ from what the process started with, and are not followed
// while it runs.
func (d *daemon) restartsNeeded(cfg *config.Config) []string {
	var warnings []string
	tell := func(path string) {
		warnings = append(warnings, config.Problem{
			Pos: cfg.At(path), Path: path, Warning: true, Message: "needs a restart to take effect",
		}.String())
	}
	now := fixedOf(cfg)
	if now.state != d.fixed.state {
		tell("server.state")
	}
	if now.log != d.fixed.log {
		tell("server.log")
	}
	if now.admin != d.fixed.admin {
		tell("admin.listen")
	}
	if now.tls != d.fixed.tls {
		tell("admin.tls")
	}
	return warnings
}

// Reload has the goroutine of Run read the configuration again, and waits for the outcome.
func (d *daemon) Reload(ctx context.Context) (admin.Reload, error) {
	reply := make(chan admin.Reload, 1)
	select {
	case d.asked <- reply:
	case <-ctx.Done():
		return admin.Reload{}, ctx.Err()
	}
	select {
	case outcome := <-reply:
		return outcome, nil
	case <-ctx.Done():
		return admin.Reload{}, ctx.Err()
	}
}
