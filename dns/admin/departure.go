package admin

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"gslb/dns"
	"gslb/dns/steer"
)

// Departure is how far a drain has got: what GET /v1/drains/PLACE gives. What is measured and what is a model are
// told apart.
type Departure struct {
	Answers string      `json:"answers"` // the version of the snapshot
	Place   string      `json:"place"`
	Drained bool        `json:"drained"` // for every service that the place has
	Since   time.Time   `json:"since,omitzero"`
	Drains  []HeldDrain `json:"drains"`

	Given    uint64             `json:"given"`            // answers that gave it since it is drained; more than 0 only while nobody else serves
	Expired  time.Time          `json:"expired,omitzero"` // when the last answer that gave it has left the caches that keep to its TTL
	Services []DepartureService `json:"services"`
	Clients  Clients            `json:"clients"`
	Forecast Forecast           `json:"forecast"`
	Load     MeasuredLoad       `json:"load"`

	Safe    bool   `json:"safe_to_power_off"` // by what is measured alone
	Because string `json:"because"`           // why it is, or why that is not known
}

// DepartureService is the part of one service.
type DepartureService struct {
	Service  string    `json:"service"`
	Standing string    `json:"standing"`
	Given    uint64    `json:"given"`            // answers that gave the place since it is drained
	TTL      uint32    `json:"ttl"`              // seconds
	Expired  time.Time `json:"expired,omitzero"` // when the last answer that gave it has left correct caches
}

// Clients is who had been given the place in the hour before the drain, and has been given another since: of one client
// network in share, and of each for every service apart.
type Clients struct {
	dns.Moved
	Share int `json:"share"`
}

// Forecast is a model, and no measurement: what part of the users still comes, by what others have published.
type Forecast struct {
	Model  string  `json:"model"`
	Now    float64 `json:"now"` // of 1
	Points []Point `json:"points"`
}

// Point is what the model says of a moment.
type Point struct {
	At   time.Time `json:"at"`
	Left float64   `json:"left"` // of 1
}

// MeasuredLoad is what the place's endpoints say that they carry, by their checks.
type MeasuredLoad struct {
	Endpoints int            `json:"endpoints"` // of the place
	Measured  int            `json:"measured"`  // of them, those that said so lately
	Total     float64        `json:"total"`
	Reports   []ReportedLoad `json:"reports"`
}

// ReportedLoad is what one endpoint said last.
type ReportedLoad struct {
	Endpoint string    `json:"endpoint"`
	Check    string    `json:"check"`
	Load     float64   `json:"load"`
	At       time.Time `json:"at"`
	Stale    bool      `json:"stale,omitempty"` // too long ago to count
}

// loadFresh is how old a load may be to count, if the check does not ask more rarely.
const loadFresh = 2 * time.Minute

func (h *handler) departure(w http.ResponseWriter, r *http.Request) {
	s, place, now := h.Snapshot(), r.PathValue("place"), time.Now()
	if !slices.Contains(s.Policy().PlaceNames(), place) {
		refuse(w, http.StatusNotFound, "%s", unknownPlace(s, place))
		return
	}
	write(w, http.StatusOK, h.departureOf(s, place, now))
}

func (h *handler) departureOf(s *steer.Snapshot, place string, now time.Time) Departure {
	d := Departure{Answers: s.Version().String(), Place: place, Drains: h.drainsOf(s, place), Services: []DepartureService{}}
	for _, one := range d.Drains {
		if d.Since.IsZero() || one.Since.Before(d.Since) {
			d.Since = one.Since
		}
	}
	longest := h.depart(&d, s, now)
	d.Clients.Share = dns.SketchShare
	if !d.Since.IsZero() {
		d.Clients.Moved = h.Counts.Moved(place, d.Since)
		d.Forecast = forecast(d.Since, longest, now)
	} else {
		d.Forecast = Forecast{Model: model, Now: 1, Points: []Point{}}
	}
	d.Load = h.loadOf(s.Policy(), place, now)
	d.Safe, d.Because = d.verdict(now)
	return d
}

// depart fills in the services, and gives the longest TTL of those that are drained.
func (h *handler) depart(d *Departure, s *steer.Snapshot, now time.Time) (longest uint32) {
	d.Drained = len(d.Drains) > 0
	for i, svc := range s.Policy().Services() {
		if !svc.At(d.Place) {
			continue
		}
		for _, p := range s.View(i, now).Places {
			if p.Place != d.Place {
				continue
			}
			one := DepartureService{Service: svc.Name(), Standing: p.Standing, TTL: svc.TTL()}
			if p.Drain == nil {
				d.Drained = false
			} else {
				longest = max(longest, svc.TTL())
				one.Given = h.Counts.Drained(svc.Name(), d.Place)
				one.Expired = h.expired(svc.Name(), d.Place, svc.TTL(), d.Since)
			}
			d.Given += one.Given
			if one.Expired.After(d.Expired) {
				d.Expired = one.Expired
			}
			d.Services = append(d.Services, one)
		}
	}
	return longest
}

// expired is when the last answer that gave the place has left the caches that keep to its TTL. Those of this process were
// counted; one from before it came at the latest when the drain or this process began.
func (h *handler) expired(service, place string, ttl uint32, since time.Time) time.Time {
	before := since
	if start := h.Deps.Server().Since; start.Before(before) {
		before = start
	}
	bound := before.Add(time.Duration(ttl) * time.Second)
	if counted := h.Counts.Expiry(service, place); counted.After(bound) {
		return counted
	}
	return bound
}

// loadOf gathers what the place's endpoints said that they carry.
func (h *handler) loadOf(p *steer.Policy, place string, now time.Time) MeasuredLoad {
	all := MeasuredLoad{Reports: []ReportedLoad{}}
	type said struct {
		check string
		at    netip.Addr
	}
	told := map[said]bool{}
	for _, e := range p.EndpointsOf(place) {
		all.Endpoints++
		measured := false
		for _, t := range e.Targets {
			l, ok := h.Load(t)
			if !ok {
				continue
			}
			stale := now.Sub(l.At) > max(loadFresh, 2*t.Check.Interval)
			measured = measured || !stale
			if key := (said{t.Name, t.Address}); !told[key] { // one of the place as a whole stands for all of its endpoints
				told[key] = true
				all.Reports = append(all.Reports, ReportedLoad{e.Address.String(), t.Name, l.Value, l.At.UTC(), stale})
				if !stale {
					all.Total += l.Value
				}
			}
		}
		if measured {
			all.Measured++
		}
	}
	return all
}

// verdict tells whether the place can be switched off: only when every endpoint itself says that it carries nothing. No
// model and no clock says so.
func (d *Departure) verdict(now time.Time) (safe bool, because string) {
	switch l := d.Load; {
	case !d.Drained:
		return false, "it is not drained for every service that it has"
	case d.Given > 0:
		return false, fmt.Sprintf("%d answers gave it since it is drained: nobody else serves", d.Given)
	case l.Endpoints == 0 || l.Measured == 0:
		return false, "its load is not measured: have its check tell it (load)"
	case l.Measured < l.Endpoints:
		return false, fmt.Sprintf("only %d of its %d endpoints have reported their load of late", l.Measured, l.Endpoints)
	case l.Total > 0:
		return false, fmt.Sprintf("its endpoints report a load of %g", l.Total)
	case now.Before(d.Expired):
		return false, "its endpoints report no load, and caches that keep to the TTL may still have it"
	}
	return true, "its endpoints report no load"
}

// unknownPlace says that the configuration has no such place, and which one may be meant.
func unknownPlace(s *steer.Snapshot, name string) string {
	return fmt.Sprintf("place %q: not in the configuration%s", name, meant(name, s.Policy().PlaceNames()))
}
