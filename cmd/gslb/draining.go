package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gslb/config"
	"gslb/dns/admin"
)

// drain writes the file of a drain that was asked for over HTTP, as gslb drain does, and waits until it is in force.
func (d *daemon) drain(ctx context.Context, order config.Drain) (admin.Drained, error) {
	cfg, problems := config.Load(d.file)
	if err := known(cfg, order.Target, order.Service); err != nil {
		return admin.Drained{}, &admin.NotThere{Message: err.Error()}
	}
	if wrong := mistakes(problems); len(wrong) > 0 {
		return admin.Drained{}, fmt.Errorf("the configuration has errors, so that a drain would not be taken up: correct them first (gslb check): %s", texts(wrong)[0])
	}
	if order.Force == "" {
		if refused := cfg.RefusesDrain(order, time.Now()); len(refused) > 0 {
			return admin.Drained{}, &admin.NotSo{Message: "nothing was drained (with force it would be): " + refused[0].Message}
		}
		if bare := d.publisher.Latest().LeftBare(order); len(bare) > 0 {
			return admin.Drained{}, &admin.NotSo{Message: "nothing was drained (with force it would be): " + bareWords(order.Target, bare)}
		}
	}
	path, err := config.WriteDrain(d.file, order)
	if err != nil {
		return admin.Drained{}, err
	}
	return d.drained(ctx, admin.Drained{Place: order.Target, Service: order.Service, Until: order.Until, File: path})
}

// undrain removes the file of a drain, as gslb undrain does, and waits until that is in force.
func (d *daemon) undrain(ctx context.Context, place, service string) (admin.Drained, error) {
	cfg, _ := config.Load(d.file)
	if !drained(cfg, place, service) {
		if err := known(cfg, place, service); err != nil {
			return admin.Drained{}, &admin.NotThere{Message: err.Error()}
		}
		return admin.Drained{}, &admin.NotThere{Message: "there is no " + config.DrainWords(place, service)}
	}
	path, err := config.RemoveDrain(d.file, place, service)
	if err != nil {
		return admin.Drained{}, &admin.NotSo{Message: err.Error()}
	}
	return d.drained(ctx, admin.Drained{Place: place, Service: service, File: path})
}

// drained waits until what was written or removed is in force.
func (d *daemon) drained(ctx context.Context, done admin.Drained) (admin.Drained, error) {
	var err error
	if done.Reload, err = d.Reload(ctx); err != nil {
		return done, err
	}
	if done.Reload.Outcome == admin.Refused {
		return done, fmt.Errorf("not in force: the configuration was refused: %s", strings.Join(done.Reload.Problems, "; "))
	}
	done.Holding = []string{}
	for _, other := range d.latest.Load().config.Drains {
		same := other.Service == done.Service && done.File != "" && other.Pos.File == done.File
		if other.Target == done.Place && !same && !other.Over(time.Now()) {
			done.Holding = append(done.Holding, other.Pos.String())
		}
	}
	return done, nil
}
