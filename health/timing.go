package health

import "gslb/health/spread"

// time notes how long a probe took. The caller holds mu.
func (r *Runner) time(c Check, found Result) {
	e := Ending{OK: found.OK}
	if c.Kind != nil {
		e.Kind = c.Kind.String()
	}
	s := r.took[e]
	if s == nil {
		s = &spread.Spread{}
		r.took[e] = s
	}
	s.Add(found.Took)
}

// Lag is how late probes left, from when they were due.
func (r *Runner) Lag() (sum spread.Sum) {
	sum.Take(&r.lag)
	return sum
}

// Took is how long probes took, by how they ended.
func (r *Runner) Took() map[Ending]spread.Sum {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[Ending]spread.Sum, len(r.took))
	for e, s := range r.took {
		var sum spread.Sum
		sum.Take(s)
		all[e] = sum
	}
	return all
}

// InFlight is how many probes are under way.
func (r *Runner) InFlight() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.crew.flights
}
