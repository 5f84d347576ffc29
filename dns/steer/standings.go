package steer

import (
	"slices"

	"gslb/health"
)

// standings is how the members of every service stand, in pages: a snapshot shares with the one before it
// all pages in which nothing changed.
type standings []*standingsPage

type standingsPage [standingsPageSize]row

// row is how the members of one service stand.
type row struct {
	members []standing
	rises   bool // some member may come back by the rule
}

func newRow(members []standing) row {
	r := row{members: members}
	for i := range members {
		r.rises = r.rises || members[i].rises > 0
	}
	return r
}

// standingsPageSize is how many services are copied when one of them changes: few enough to be cheap, enough to
// keep the list of pages short.
const standingsPageSize = 64

// of gives the standing of a service's members. The slices of two snapshots are the same one where nothing
// that they are made of changed.
func (ss standings) of(service int) []standing {
	return ss.row(service).members
}

func (ss standings) row(service int) *row {
	return &ss[service/standingsPageSize][service%standingsPageSize]
}

// allStandings judges every service.
func allStandings(j *judge) standings {
	services := j.policy.services
	ss := make(standings, (len(services)+standingsPageSize-1)/standingsPageSize)
	for i := range services {
		if i%standingsPageSize == 0 {
			ss[i/standingsPageSize] = &standingsPage{}
		}
		ss[i/standingsPageSize][i%standingsPageSize] = j.service(i)
	}
	return ss
}

// after has some services, which are in order, stand as they are judged now.
func (ss standings) after(services []int32, judge func(service int) row) standings {
	ss = slices.Clone(ss)
	copied := -1
	for _, i := range services {
		at, in := int(i)/standingsPageSize, int(i)%standingsPageSize
		if at != copied {
			page := *ss[at]
			ss[at], copied = &page, at
		}
		ss[at][in] = judge(int(i))
	}
	return ss
}

// Changed gives the services that stand differently from how they stood in an older snapshot of the same policy, or may
// do so.
func (s *Snapshot) Changed(old *Snapshot) []int {
	var services []int
	for at, page := range s.standings {
		if page == old.standings[at] {
			continue
		}
		for in := range page {
			if a, b := page[in].members, old.standings[at][in].members; len(a) > 0 && &a[0] != &b[0] {
				services = append(services, at*standingsPageSize+in)
			}
		}
	}
	return services
}

// numbers joins the targets of a policy to the endpoints of the reports of one roster, by their numbers
// there. It is made once for the two.
type numbers struct {
	of       []int32 // by target; -1 where the roster lacks it
	ends     []int32 // number n has the users from ends[n] to ends[n+1]
	services []int32 // users: the services that have an endpoint with the number
}

func newNumbers(p *Policy, report *health.Report) *numbers {
	n := &numbers{of: make([]int32, len(p.targets)), ends: make([]int32, report.Len()+1)}
	for t, key := range health.Keys(p.targets) {
		n.of[t] = -1
		if i, ok := report.Index(key); ok {
			n.of[t] = int32(i)
		}
	}
	for _, i := range n.uses(p) {
		n.ends[i+1]++
	}
	for i := range report.Len() {
		n.ends[i+1] += n.ends[i]
	}
	n.services = make([]int32, n.ends[report.Len()])
	next := slices.Clone(n.ends)
	for service, i := range n.uses(p) {
		n.services[next[i]] = int32(service)
		next[i]++
	}
	return n
}

// uses goes over the endpoints of all services, with their numbers.
func (n *numbers) uses(p *Policy) func(yield func(service int, number int32) bool) {
	return func(yield func(int, int32) bool) {
		for i := range p.services {
			for _, m := range p.services[i].members {
				for _, e := range m.endpoints {
					for _, t := range e.targets {
						if n.of[t] >= 0 && !yield(i, n.of[t]) {
							return
						}
					}
				}
			}
		}
	}
}

// users gives the services that have endpoints with any of the numbers, in order.
func (n *numbers) users(changed []int) []int32 {
	var services []int32
	for _, i := range changed {
		services = append(services, n.services[n.ends[i]:n.ends[i+1]]...)
	}
	slices.Sort(services)
	return slices.Compact(services)
}
