package steer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gslb/config"
	"gslb/dns/zone"
)

// Question is what reasons are asked for.
type Question struct {
	Name   zone.Name
	Client Client
	Only   Only // of which family reasons are wanted
	Now    time.Time
	Seed   uint64 // the luck of the draw, as in [Query]
}

// Only narrows reasons to what questions for one family get.
type Only uint8

const (
	// BothFamilies tells of the addresses of both, and of the places by the service's main family.
	BothFamilies Only = iota
	// OnlyIPv4 tells of questions of type A.
	OnlyIPv4
	// OnlyIPv6 tells of questions of type AAAA.
	OnlyIPv6
)

// without tells whether a family is left out.
func (o Only) without(f Family) bool { return o != BothFamilies && o != OnlyIPv4+Only(f) }

// explainer puts the decisions on one service, one for each family, into words.
type explainer struct {
	s         *Snapshot
	service   int
	svc       *Service
	standing  []standing
	q         Question
	decisions [2]Decision
	main      *Decision // of the service's main family
}

func (s *Snapshot) explainer(q Question, service int) *explainer {
	e := &explainer{s: s, service: service, svc: s.in.Policy.Service(service), standing: s.standings.of(service), q: q}
	if e.svc.gives != zone.TypeA { // a name is given to questions for any type
		e.q.Only = OnlyIPv4
	}
	for f := range e.decisions {
		e.decisions[f] = Decide(s, Query{Service: service, Client: q.Client, Family: Family(f), Seed: q.Seed, Now: q.Now})
	}
	e.main = &e.decisions[IPv4]
	if (!e.svc.hasIPv4 && e.q.Only == BothFamilies) || e.q.Only == OnlyIPv6 {
		e.main = &e.decisions[IPv6]
	}
	return e
}

func (e *explainer) lines(name zone.Name, match zone.Match) []Line {
	var head Line
	head.add("name", display(name))
	head.add("service", e.svc.name)
	head.add("answer", e.answer())
	head.add("ttl", e.main.TTL)
	head.add("scope", e.scope())
	if match.Kind == zone.Wildcard {
		head.add("wildcard", display(match.Owner))
	}
	return append([]Line{head, e.placedLine()}, e.placeLines()...)
}

func (e *explainer) answer() string {
	var words []string
	for f := range e.decisions {
		if e.q.Only.without(Family(f)) {
			continue
		}
		for _, h := range e.decisions[f].Hosts(e.s, e.service, nil) {
			words = append(words, h.String())
		}
		for _, a := range e.decisions[f].Addresses(e.s, e.service, nil) {
			words = append(words, a.String())
		}
	}
	return strings.Join(words, " ")
}

// alias is the name that the client gets in place of this one, from a service that gives one; "" from any other.
func (e *explainer) alias() zone.Name {
	hosts := e.main.Hosts(e.s, e.service, nil)
	if e.svc.gives != zone.TypeCNAME || len(hosts) == 0 {
		return ""
	}
	return hosts[0].Name
}

func (e *explainer) scope() int {
	if e.q.Client.Subnet.Given() {
		return e.q.Client.Scope(e.main.Span)
	}
	return e.main.Span
}

func (e *explainer) placedLine() Line {
	var l Line
	d := e.main
	l.add("placed", d.Placed)
	if d.Servfail {
		l.add("rcode", "SERVFAIL")
	}
	if d.n == 0 || d.Placed == PlacedAllDown {
		return l
	}
	switch d.Placed {
	case PlacedPartners:
		e.addRoute(&l, e.svc.members[d.chosen[0]].place)
	case PlacedGeo:
		e.addRule(&l)
	}
	return l
}

// addRule names the rule of the map that fits the client, and what geography knows of it.
func (e *explainer) addRule(l *Line) {
	p := e.s.in.Policy
	at := e.s.in.Geo.Lookup(e.q.Client.Address)
	rs := p.maps[p.views[e.svc.view].rules]
	if e.svc.mapName != "" {
		l.add("map", e.svc.mapName)
		l.add("rule", rs.first(at, rs.held(e.q.Client.Address))+1)
	} else {
		l.add("map", "nearest")
	}
	for _, w := range []Word{{"continent", at.Continent}, {"country", at.Country}, {"region", at.Region}, {"city", at.City}} {
		if w.Value != "" {
			*l = append(*l, w)
		}
	}
	if at.ASN != 0 {
		l.add("asn", at.ASN)
	}
}

// placeLines tells of every place that was considered, in the order of the tiers; each place once,
// where it came first.
func (e *explainer) placeLines() []Line {
	var lines []Line
	var seen []placeID
	number, last := 0, -1
	for tier, places := range e.main.path.tiers() {
		for _, p := range places {
			if slices.Contains(seen, p) {
				continue
			}
			seen = append(seen, p)
			if tier != last {
				number, last = number+1, tier
			}
			lines = append(lines, e.placeLine(p, number, tier == e.main.tier))
		}
	}
	return lines
}

func (e *explainer) placeLine(p placeID, number int, winning bool) Line {
	var l Line
	l.add("place", e.s.in.Policy.places[p].name)
	l.add("tier", number)
	i, ok := e.svc.places.member(p)
	if !ok {
		l.add("verdict", "absent")
		return l
	}
	st := &e.standing[i]
	chosen := e.main.chose(i) || (e.q.Only == BothFamilies && (e.decisions[IPv4].chose(i) || e.decisions[IPv6].chose(i)))
	l.add("verdict", verdict(st, chosen))
	if share, drawn := e.share(i, winning); drawn {
		l.add("share", share)
	}
	e.addRamp(&l, i)
	if st.drained {
		if chosen {
			l.add("drained", "yes")
		}
		addDrain(&l, st)
	}
	e.addEndpoint(&l, i)
	return l
}

func verdict(st *standing, chosen bool) string {
	word := st.word()
	switch {
	case chosen:
		return "chosen"
	case word == "serving":
		return "spare"
	}
	return word
}

// share gives a member's part of the draws, when there is a draw at all: by weight, and from more
// candidates than are answered.
func (e *explainer) share(member int, winning bool) (string, bool) {
	d := e.main
	if !winning || e.svc.hashes {
		return "", false
	}
	w := e.s.walk(e.service, d)
	tier := d.path.at(d.tier)
	candidates := slices.Collect(w.candidates(tier, d.mode, d.family))
	if len(candidates) <= e.svc.answer || !slices.Contains(candidates, member) {
		return "", false
	}
	total := w.totalWeight(tier, d)
	part := float64(w.weight(member, total)) / float64(max(total, uint64(1)))
	if total == 0 {
		part = 1 / float64(len(candidates))
	}
	return percent(part), true
}

func percent(part float64) string { return fmt.Sprintf("%.0f%%", 100*part) }

// addRamp tells how far a member is that comes back, and how long this client still waits for it.
func (e *explainer) addRamp(l *Line, member int) {
	r := e.s.rampOf(e.service, member)
	if r.length == 0 || r.end().Before(e.q.Now) {
		return
	}
	l.add("ramp", percent(math.Floor(100*r.part(e.q.Now))/100))
	w := e.s.walk(e.service, e.main)
	if left := w.waits(member); left > 0 {
		l.add("waits", Ago(left))
	}
}

func addDrain(l *Line, st *standing) {
	if st.drain.Reason != "" {
		l.add("reason", st.drain.Reason)
	}
	if !st.drain.Until.IsZero() {
		l.add("until", st.drain.Until.UTC().Format(time.RFC3339))
	}
	if st.drain.By != "" {
		l.add("by", st.drain.By)
	}
	if st.hard {
		l.add("hard", "yes")
	}
}

// addEndpoint names what is wrong at a member: of its endpoints the worst, if any has failed, and how
// many are healthy, if not all are and it serves all the same.
func (e *explainer) addEndpoint(l *Line, member int) {
	m, st := &e.svc.members[member], &e.standing[member]
	if up := len(st.up[IPv4]) + len(st.up[IPv6]); st.healthy && up < len(m.endpoints) {
		l.add("healthy", fmt.Sprintf("%d/%d", up, len(m.endpoints)))
	}
	var worst condition
	var words Line
	hand := false
	for _, ep := range m.endpoints {
		c := e.s.condition(ep)
		forced := ep.state != config.StateAuto
		if !forced && c.serving && c.worst.Failed == 0 || hand && !forced || words != nil && hand == forced && !worse(c.worst, worst.worst) {
			continue
		}
		worst, words, hand = c, e.endpointWords(m, ep, c), forced
	}
	*l = append(*l, words...)
	if st.ailing > 0 {
		l.add("degraded", fmt.Sprintf("%d/%d", st.ailing, len(st.up[IPv4])+len(st.up[IPv6])))
	}
}

func (e *explainer) endpointWords(m *member, ep endpoint, c condition) Line {
	words := Line{{"endpoint", m.shown(ep)}}
	if probe, ok := e.s.in.Policy.probe(ep, c.target); ok {
		words.add("probe", probe.String())
	}
	if word := stateWord(ep.state); word != "" {
		words.add("state", word)
	}
	if c.target < 0 {
		return words
	}
	t, state := e.s.in.Policy.targets[c.target], c.worst
	if ep.several() {
		words.add("check", t.Name)
	}
	words.add("failed", fmt.Sprintf("%d/%d", state.Failed, t.Check.Window))
	if state.Cause != "" {
		words.add("last", state.Cause)
	}
	if state.Held {
		words.add("held", "yes")
	}
	if state.Serving() {
		return words
	}
	words.add("since", Ago(e.q.Now.Sub(state.Since)))
	if state.Succeeding > 0 {
		words.add("good", fmt.Sprintf("%d/%d", state.Succeeding, t.Check.Rise))
	}
	return words
}
