package main

import (
	"encoding/json"
	"maps"
	"time"

	"gslb/config/state"
	"gslb/dns/steer"
)

// savedDrain is a drain as the state file holds it.
type savedDrain struct {
	steer.DrainKey
	Since time.Time `json:"since"`
}

// drains gives since when the drains hold that an earlier process knew.
func (k *keeper) drains() map[steer.DrainKey]time.Time {
	all, err := k.store.All(drainsBucket)
	if err != nil {
		k.log.Error("beginnings of drains lost", "cause", err)
	}
	since := map[steer.DrainKey]time.Time{}
	for name, value := range all {
		var d savedDrain
		if err := json.Unmarshal(value, &d); err != nil {
			k.log.Error("beginning of a drain lost", "drain", name, "cause", err)
			continue
		}
		since[d.DrainKey] = d.Since
	}
	k.drained = since
	return since
}

// saveDrains writes since when the drains hold, when that is another than last time.
func (k *keeper) saveDrains(w *state.Writer) (func(), error) {
	since := k.begun()
	if maps.Equal(since, k.drained) {
		return func() {}, nil
	}
	all := map[string][]byte{}
	for key, t := range since {
		value, err := json.Marshal(savedDrain{key, t})
		if err != nil {
			return nil, err
		}
		all[key.Place+" "+key.Service] = value
	}
	return func() { k.drained = since }, w.PutAll(drainsBucket, all)
}
