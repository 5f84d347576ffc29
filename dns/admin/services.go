package admin

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"gslb/dns/steer"
)

// Services is a page of services.
type Services struct {
	Answers  string    `json:"answers"` // the version of the snapshot
	Total    int       `json:"total"`   // services that are asked for
	Services []Service `json:"services"`
	Next     string    `json:"next,omitempty"` // where the next page begins
}

// Service is one service with its places, without their endpoints.
type Service struct {
	Service string   `json:"service"`
	Served  bool     `json:"served"` // some place serves
	TTL     uint32   `json:"ttl"`    // seconds, while every window is clean
	Names   []string `json:"names"`  // that lead to it, the first few
	Given   uint64   `json:"given"`  // answers since the start
	Places  []Member `json:"places"`
}

// Member is what one place is to a service.
type Member struct {
	Place     string            `json:"place"`
	Standing  string            `json:"standing"`
	Drain     *steer.DrainView  `json:"drain,omitempty"`
	Ramp      *steer.RampView   `json:"ramp,omitempty"`
	Endpoints int               `json:"endpoints"`
	Up        int               `json:"up"`     // of the endpoints, those whose verdict is not withdrawn
	Given     uint64            `json:"given"`  // answers since the start that gave it
	Share     float64           `json:"share"`  // of the service's answers; those that gave several places count for each
	Placed    map[string]uint64 `json:"placed"` // the same answers, by what placed the client
}

// ServiceDetail is one service with all there is to tell of it.
type ServiceDetail struct {
	Answers string `json:"answers"` // the version of the snapshot
	Service
	Endpoints []Endpoint `json:"all_endpoints"`
}

func (h *handler) services(w http.ResponseWriter, r *http.Request) {
	s, now := h.Snapshot(), time.Now()
	limit, err := parseLimit(r.FormValue("limit"), defaultServices, maxServices)
	if err != nil {
		refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	from, page := r.FormValue("from"), Services{Answers: s.Version().String(), Services: []Service{}}
	wanted := serviceFilter{r.FormValue("match"), r.FormValue("place"), r.FormValue("standing")}
	if refusesStranger(w, s, "", wanted.place) {
		return
	}
	names, shares, begun := h.namesOf(s.Policy(), s.Config()), h.shares(), from == ""
	for i, svc := range s.Policy().Services() {
		if !wanted.name(svc, names[i]) {
			continue
		}
		begun = begun || svc.Name() == from
		full := len(page.Services) >= limit
		if (!begun || full) && wanted.standing == "" {
			page.Total++
		} else if view := s.View(i, now); wanted.view(view) {
			page.Total++
			if begun && !full {
				page.Services = append(page.Services, shares.service(view, svc.TTL(), names[i]))
				continue
			}
		} else {
			continue
		}
		if begun && page.Next == "" {
			page.Next = svc.Name()
		}
	}
	if !begun {
		refuse(w, http.StatusBadRequest, "from %q: not a service any more; begin with the first page", from)
		return
	}
	write(w, http.StatusOK, page)
}

func (h *handler) service(w http.ResponseWriter, r *http.Request) {
	s, now, name := h.Snapshot(), time.Now(), r.PathValue("service")
	for i, svc := range s.Policy().Services() {
		if svc.Name() != name {
			continue
		}
		view := s.View(i, now)
		d := ServiceDetail{Answers: s.Version().String(), Service: h.shares().service(view, svc.TTL(), h.namesOf(s.Policy(), s.Config())[i]), Endpoints: []Endpoint{}}
		for _, p := range view.Places {
			for _, e := range p.Endpoints {
				d.Endpoints = append(d.Endpoints, h.endpointOf(name, p, e))
			}
		}
		write(w, http.StatusOK, d)
		return
	}
	refuse(w, http.StatusNotFound, "%s", unknownService(s.Policy(), name))
}

// serviceFilter is of which services are asked for; an empty field: of all.
type serviceFilter struct{ match, place, standing string }

func (f serviceFilter) name(svc *steer.Service, names []string) bool {
	matches := f.match == "" || strings.Contains(svc.Name(), f.match) || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, f.match) })
	return matches && (f.place == "" || svc.At(f.place))
}

func (f serviceFilter) view(v steer.ServiceView) bool {
	switch f.standing {
	case "":
		return true
	case "unserved":
		return !v.Served
	}
	return slices.ContainsFunc(v.Places, func(p steer.PlaceView) bool { return p.Standing == f.standing })
}

// shares is how often places were given, by service and place.
type shares map[[2]string]given

type given struct {
	total  uint64
	placed map[string]uint64
}

func (h *handler) shares() shares {
	all := shares{}
	for g := range h.Counts.Given() {
		key := [2]string{g.Service, g.Place}
		of := all[key]
		if of.placed == nil {
			of.placed = map[string]uint64{}
		}
		of.total += g.Answers + g.Beside
		of.placed[g.Placed.String()] += g.Answers + g.Beside
		all[key] = of
	}
	return all
}

// service writes one service out.
func (all shares) service(v steer.ServiceView, ttl uint32, names []string) Service {
	s := Service{Service: v.Service, Served: v.Served, TTL: ttl, Names: append([]string{}, names...), Places: []Member{}}
	s.Given = all[[2]string{v.Service, ""}].total
	for _, p := range v.Places {
		of := all[[2]string{v.Service, p.Place}]
		m := Member{Place: p.Place, Standing: p.Standing, Drain: p.Drain, Ramp: p.Ramp, Endpoints: len(p.Endpoints), Given: of.total, Placed: of.placed}
		if m.Placed == nil {
			m.Placed = map[string]uint64{}
		}
		for _, e := range p.Endpoints {
			if e.Verdict != "withdrawn" {
				m.Up++
			}
		}
		s.Given += of.total
		s.Places = append(s.Places, m)
	}
	for i := range s.Places {
		if s.Given > 0 {
			s.Places[i].Share = float64(s.Places[i].Given) / float64(s.Given)
		}
	}
	return s
}

// nameSample is how many of the names that lead to a service are told.
const nameSample = 8

// named are the names that lead to the services of one policy: to find them takes a look at every name of every zone.
type named struct {
	config uint64
	names  [][]string // by service
}

func (h *handler) namesOf(p *steer.Policy, config uint64) [][]string {
	if n := h.named.Load(); n != nil && n.config == config {
		return n.names
	}
	n := &named{config, p.NamesOfServices(nameSample)}
	h.named.Store(n)
	return n.names
}
