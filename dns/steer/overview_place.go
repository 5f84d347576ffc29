package steer

import (
	"cmp"
	"slices"
	"time"
)

// PlaceOverview is how one place stands for all services together.
type PlaceOverview struct {
	Place        string      `json:"place"`
	Kind         string      `json:"kind"`               // datacenter or site
	Location     *[2]float64 `json:"location,omitempty"` // latitude and longitude in degrees
	PartnersOnly bool        `json:"partners_only"`      // geography never picks it
	Weight       int         `json:"weight"`             // where a service gives it no other
	Capacity     float64     `json:"capacity,omitempty"` // what it can carry, in the operator's unit
	Standing     string      `json:"standing"`           // the worst of those of its services; unused: it has none
	Services     PlaceTally  `json:"services"`           // by standing
	Endpoints    int         `json:"endpoints"`
	Up           int         `json:"up"` // of the endpoints, those that serve
	Drains       []DrainOf   `json:"drains"`
	Ramps        int         `json:"ramps"`    // services for which it comes back, and does not have all of its clients yet
	Partners     []string    `json:"partners"` // whose networks lead there
}

// PlaceTally is how many services a place serves, and does not.
type PlaceTally struct {
	Serving   int `json:"serving"`
	Unknown   int `json:"unknown"`
	Withdrawn int `json:"withdrawn"`
	Drained   int `json:"drained"`
}

func (t *PlaceTally) add(standing string) {
	switch standing {
	case "serving":
		t.Serving++
	case "unknown":
		t.Unknown++
	case "withdrawn":
		t.Withdrawn++
	case "drained":
		t.Drained++
	}
}

// worst is the standing that an operator wants to see first.
func (t PlaceTally) worst() string {
	switch {
	case t.Withdrawn > 0:
		return "withdrawn"
	case t.Drained > 0:
		return "drained"
	case t.Unknown > 0:
		return "unknown"
	case t.Serving > 0:
		return "serving"
	}
	return "unused"
}

// DrainOf is one drain that holds.
type DrainOf struct {
	Place   string `json:"place"`
	Service string `json:"service,omitempty"` // empty: every service
	DrainView
	Force string `json:"force,omitempty"` // why it may leave fewer places than min_places
	File  string `json:"file"`            // where it stands, as file:line:column
}

// Drains gives the drains that hold at the moment of the snapshot, by place and service.
func (s *Snapshot) Drains() []DrainOf {
	drains := []DrainOf{}
	for place, active := range s.in.Policy.activeAt(s.in.Now) {
		for _, d := range active {
			drains = append(drains, DrainOf{
				Place: place, Service: d.Service, DrainView: DrainView{d.Reason, d.By, d.Until, d.Hard}, Force: d.Force, File: d.Pos.String(),
			})
		}
	}
	slices.SortStableFunc(drains, func(a, b DrainOf) int {
		return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.Service, b.Service), cmp.Compare(a.File, b.File))
	})
	return drains
}

// Places tells how every place stands at a moment, in the order of the configuration.
func (s *Snapshot) Places(now time.Time) []PlaceOverview {
	p := s.in.Policy
	views := make([]PlaceOverview, len(p.places))
	for i, place := range p.places {
		v := PlaceOverview{
			Place: place.name, Kind: "site", PartnersOnly: place.partnersOnly, Weight: place.weight, Capacity: place.capacity,
			Drains: []DrainOf{}, Partners: []string{},
		}
		if place.datacenter {
			v.Kind = "datacenter"
		}
		if place.located {
			v.Location = &p.places[i].location
		}
		views[i] = v
	}
	for _, partner := range p.partners {
		at := &views[partner.site]
		at.Partners = append(at.Partners, partner.Name)
	}
	drains := s.Drains()
	for i := range p.services {
		s.addService(views, i, now)
	}
	for i := range views {
		v := &views[i]
		v.Standing = v.Services.worst()
		for _, d := range drains {
			if d.Place == v.Place {
				v.Drains = append(v.Drains, d)
			}
		}
	}
	return views
}

// addService adds what the places give to one service.
func (s *Snapshot) addService(views []PlaceOverview, service int, now time.Time) {
	svc := s.state(service)
	for j := range svc.members {
		m, st := &svc.members[j], &svc.standing[j]
		v := &views[m.place]
		v.Services.add(st.word())
		v.Endpoints += len(m.endpoints)
		v.Up += len(st.up[IPv4]) + len(st.up[IPv6])
		if r := s.rampOf(service, j); r.length > 0 && now.Before(r.end()) && !st.drained {
			v.Ramps++
		}
	}
}
