package main

import (
	"encoding/json"
	"runtime/debug"
	"time"

	"gslb/config/state"
	"gslb/dns/steer"
	"gslb/health"
)

// windows gives what an earlier process saved. What cannot be read is begun anew.
func (k *keeper) windows() []health.Saved {
	all, err := k.store.All(windowsBucket)
	if err != nil {
		k.log.Error("windows lost", "cause", err)
	}
	var windows []health.Saved
	for key, value := range all {
		var s health.Saved
		if err := json.Unmarshal(value, &s); err != nil {
			k.log.Error("window lost", "endpoint", key, "cause", err)
			continue
		}
		windows = append(windows, s)
	}
	return windows
}

// tenures gives what an earlier process remembered of the places that come and go.
func (k *keeper) tenures() *steer.Tenures {
	all, err := k.store.All(tenuresBucket)
	if err != nil {
		k.log.Error("tenures lost", "cause", err)
	}
	tenures := make(map[string]steer.Tenure, len(all))
	for name, value := range all {
		var t steer.Tenure
		if err := json.Unmarshal(value, &t); err != nil {
			k.log.Error("tenure lost", "member", name, "cause", err)
			continue
		}
		tenures[name] = t
	}
	return steer.NewTenures(tenures)
}

// routes gives what an earlier process saved of the partners' routes.
func (k *keeper) routes() map[string][]byte {
	all, err := k.store.All(routesBucket)
	if err != nil {
		k.log.Error("routes lost", "cause", err)
	}
	return all
}

// number gives the number of a configuration at the start: that of last time if it is the same,
// else the next.
func (k *keeper) number(hash string) uint64 {
	value, err := k.store.Get(metaBucket, configKey)
	if err == nil && value != nil {
		err = json.Unmarshal(value, &k.saved)
	}
	if err != nil {
		k.log.Error("config number lost", "cause", err)
	}
	if k.saved.Hash == hash {
		return k.saved.Number
	}
	return k.saved.Number + 1
}

// The parts of what is saved write themselves and give what is to be done when they are on the disk.

func (k *keeper) saveWindows(w *state.Writer) (func(), error) {
	windows := map[string][]byte{}
	for _, s := range k.board.Save() {
		value, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		windows[s.Address.String()+" "+s.Name] = value
	}
	return func() {}, w.PutAll(windowsBucket, windows)
}

// saveTenures writes the tenures when there are others.
func (k *keeper) saveTenures(w *state.Writer) (func(), error) {
	t := k.steer()
	if t == k.remembered {
		return func() {}, nil
	}
	tenures := map[string][]byte{}
	for name, is := range t.All() {
		value, err := json.Marshal(is)
		if err != nil {
			return nil, err
		}
		tenures[name] = value
	}
	return func() { k.remembered = t }, w.PutAll(tenuresBucket, tenures)
}

// saveRoutes writes what differs of the routes from last time, or, since they are confirmed with every
// moment that their sessions stand, that alone, when the last time is a while ago. Only the first time it
// writes them all: the file may hold those of an earlier process, in other pieces.
// They have a transaction of their own: there may be very many.
func (k *keeper) saveRoutes(now time.Time) error {
	t := k.rib.Latest()
	if since := now.Sub(k.routed); since < routesInterval || (t == k.table && since < k.rib.SaveInterval()) {
		return nil
	}
	k.routed = now
	saved, err := k.rib.SaveSince(k.table, now)
	if err != nil {
		return err
	}
	err = k.write(func(w *state.Writer) error {
		if k.table == nil {
			return w.PutAll(routesBucket, saved.Set)
		}
		return w.Change(routesBucket, saved.Set, saved.Gone)
	})
	if err == nil {
		k.table = saved.Table
	}
	if len(saved.Set) >= tidyPieces {
		debug.FreeOSMemory()
	}
	return err
}

func (k *keeper) saveConfig(w *state.Writer, inForce numbered) error {
	if inForce == k.saved {
		return nil
	}
	value, err := json.Marshal(inForce)
	if err != nil {
		return err
	}
	return w.Put(metaBucket, configKey, value)
}
