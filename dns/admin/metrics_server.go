package admin

import (
	"runtime"
	"time"
)

// serverFamilies are of the server as a whole.
type serverFamilies struct {
	build, ready, start, config, loaded, current, failures, reloads Metric
	events, database, streams                                       Metric
	snapshots, built, buildTime, builtAt, version, objects          Metric
	drains, drainUntil                                              Metric
	saved, savedAt, saveTime                                        Metric
	expiry, lifetime                                                Metric
}

func (d definer) server() serverFamilies {
	return serverFamilies{
		build:      d.gauge("build_info", "Version of the program; always 1.", "version", "goversion"),
		ready:      d.gauge("ready", "Whether questions are answered."),
		start:      d.gauge("start_time_seconds", "When the process started, in seconds since 1970."),
		config:     d.gauge("config_info", "Hash of the configuration in force; always 1.", "hash"),
		loaded:     d.gauge("config_loaded_time_seconds", "When the configuration in force was loaded, in seconds since 1970."),
		current:    d.gauge("config_current", "Whether the configuration's files hold what is in force: 0 after a refused reload."),
		failures:   d.counter("reload_failures_total", "Reloads that were refused."),
		reloads:    d.counter("reloads_total", "Reloads that put another configuration in force."),
		events:     d.counter("events_total", "Events: what the log and the journal tell of.", "kind"),
		database:   d.gauge("geo_info", "Geo database in force; always 1.", "database"),
		streams:    d.gauge("event_streams", "Clients that follow the journal."),
		snapshots:  d.counter("snapshot_builds_total", "Snapshots that were made."),
		built:      d.counter("snapshot_build_seconds_total", "Time that making snapshots took, with telling what changed."),
		buildTime:  d.gauge("snapshot_build_last_seconds", "Time that making the newest snapshot took."),
		builtAt:    d.gauge("snapshot_time_seconds", "When the newest snapshot was made, in seconds since 1970."),
		version:    d.gauge("snapshot_version", "Version of an input of the newest snapshot.", "input"),
		objects:    d.gauge("objects", "How many things of a kind there are: zones, services, places, endpoints, prefixes of partners, locations of the geo database.", "kind"),
		expiry:     d.gauge("certificate_expiry_time_seconds", "When a certificate ends that is shown to clients, in seconds since 1970; by door: admin, tls, https or quic.", "door"),
		lifetime:   d.gauge("certificate_lifetime_seconds", "For how long in all a certificate is good that is shown to clients.", "door"),
		drains:     d.gauge("drains", "Drains that hold."),
		drainUntil: d.gauge("drain_until_time_seconds", "When a drain that holds runs out, in seconds since 1970; none without an end.", "place", "service"),
		saved:      d.gauge("state_saved", "Whether what is to survive a restart reaches the disk."),
		savedAt:    d.gauge("state_saved_time_seconds", "When what is on the disk was known, in seconds since 1970; 0: nothing was saved yet."),
		saveTime:   d.gauge("state_save_last_seconds", "Time that the newest write of the state took."),
	}
}

func (c *collector) server(s scrape, f serverFamilies) {
	server, snapshot, built := c.Deps.Server(), c.Snapshot(), c.Built()
	s.tell(f.build, 1, c.Deps.Version, runtime.Version())
	s.tell(f.ready, truth(server.Ready))
	s.tell(f.start, seconds(server.Since))
	s.tell(f.config, 1, server.Config.Hash)
	s.tell(f.loaded, seconds(server.Config.Loaded))
	s.tell(f.current, truth(server.Config.Refused == nil))
	s.tell(f.failures, float64(server.Config.Failures))
	s.tell(f.reloads, float64(server.Config.Reloads))
	s.tell(f.database, 1, snapshot.Geo().Name())
	s.tell(f.streams, float64(c.handler.streams.Load()))
	for kind, n := range c.Happened() {
		s.tell(f.events, float64(n), kind)
	}
	s.tell(f.snapshots, float64(built.Snapshots))
	s.tell(f.built, built.Total.Seconds())
	s.tell(f.buildTime, built.Last.Seconds())
	s.tell(f.builtAt, seconds(built.At))
	v := snapshot.Version()
	for input, n := range map[string]uint64{"config": v.Config, "health": v.Health, "routes": v.Routes, "geo": v.Geo} {
		s.tell(f.version, float64(n), input)
	}
	for door, life := range c.Shown() {
		s.tell(f.expiry, seconds(life.Until), door)
		s.tell(f.lifetime, life.Until.Sub(life.From).Seconds(), door)
	}
	c.objects(s, f)
	c.drained(s, f)
	c.saved(s, f)
}

func (c *collector) saved(s scrape, f serverFamilies) {
	saving := c.Deps.Server().Saving
	at := 0.0
	if !saving.At.IsZero() {
		at = seconds(saving.At)
	}
	s.tell(f.saved, truth(saving.Failing == ""))
	s.tell(f.savedAt, at)
	s.tell(f.saveTime, saving.Took)
}

func (c *collector) objects(s scrape, f serverFamilies) {
	snapshot := c.Snapshot()
	policy, endpoints, places := snapshot.Policy(), 0, 0
	for _, p := range snapshot.Places(time.Now()) {
		places++
		endpoints += p.Endpoints
	}
	services := 0
	for range policy.Services() {
		services++
	}
	for kind, n := range map[string]int{
		"zone": len(policy.Zones()), "service": services, "place": places, "endpoint": endpoints,
		"prefix": c.Routes().Len(), "location": snapshot.Geo().Len(),
	} {
		s.tell(f.objects, float64(n), kind)
	}
}

// drained tells of the drains: of several of one place and service the end of the last.
func (c *collector) drained(s scrape, f serverFamilies) {
	drains, until := c.Snapshot().Drains(), map[[2]string]time.Time{}
	s.tell(f.drains, float64(len(drains)))
	endless := map[[2]string]bool{}
	for _, d := range drains {
		key := [2]string{d.Place, d.Service}
		if d.Until.IsZero() {
			endless[key] = true
		}
		if d.Until.After(until[key]) {
			until[key] = d.Until
		}
	}
	for key, t := range until {
		if !endless[key] {
			s.tell(f.drainUntil, seconds(t), key[0], key[1])
		}
	}
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
