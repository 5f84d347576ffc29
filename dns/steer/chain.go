package steer

import (
	"slices"
	"strings"

	"gslb/dns/zone"
)

// MaxChain bounds how many names an answer passes inside a zone, the asked one and those that aliases lead to, and so do
// reasons.
const MaxChain = 8

// Explain tells why a client gets what it gets from this name, line by line: of each name that the answer passes, be it
// an alias in the zone or one that a service gives. The span is the longest of the decisions, as in [Decision]; ours
// tells whether the name lies in any zone of ours. It is Decide's own trail, put into words.
func Explain(s *Snapshot, q Question) (lines []Line, span int, ours bool) {
	z, ours := s.Zone(q.Name)
	if !ours {
		return nil, 0, false
	}
	lines = append(lines, clientLine(q.Client))
	var passed []zone.Name
	for name := q.Name; len(passed) < MaxChain && !slices.Contains(passed, name); {
		passed = append(passed, name)
		link := s.link(q, z, name)
		lines, span = append(lines, link.lines...), max(span, link.span)
		if link.next == "" || !s.Follows(z, link.next) {
			break
		}
		name = link.next
	}
	if b := s.in.Health.Brake(); b.On {
		lines = append(lines, brakeLine(b, q.Now))
	}
	version := Line{{"version", bare}}
	for _, word := range strings.Fields(s.Version().String()) {
		key, value, _ := strings.Cut(word, "=")
		version.add(key, value)
	}
	return append(lines, version), span, true
}

func clientLine(c Client) Line {
	var l Line
	switch {
	case c.ByECS:
		l.add("client", c.Subnet.Prefix)
		l.add("via", "ecs")
	default:
		l.add("client", c.Source)
		l.add("via", "source")
		if c.Subnet.Given() && c.Subnet.Prefix.Bits() > 0 {
			l.add("ignored", c.Subnet.Prefix)
		}
	}
	return l
}

// link is one name of a chain.
type link struct {
	lines []Line
	span  int
	next  zone.Name // that it is an alias to; "": it is none
}

// link tells of one name.
func (s *Snapshot) link(q Question, z *zone.Zone, name zone.Name) link {
	match := z.Find(name)
	if (match.Kind != zone.Exact && match.Kind != zone.Wildcard) || match.Node.Service < 0 {
		line, next := staticLine(z, name, match)
		return link{lines: []Line{line}, next: next}
	}
	e := s.explainer(q, match.Node.Service)
	return link{lines: e.lines(name, match), span: e.main.Span, next: e.alias()}
}

// staticLine tells what a name that leads to no service holds, and where its CNAME, or the DNAME above it, leads.
func staticLine(z *zone.Zone, name zone.Name, match zone.Match) (l Line, next zone.Name) {
	l.add("name", display(name))
	l.add("zone", display(z.Origin()))
	switch match.Kind {
	case zone.Missing:
		l.add("records", "none")
		l.add("rcode", "NXDOMAIN")
		return l, ""
	case zone.Delegation:
		l.add("delegated", display(match.Owner))
		return l, ""
	case zone.DNAME:
		return redirectedLine(l, z, name, match)
	case zone.Wildcard:
		l.add("wildcard", display(match.Owner))
	}
	var types []string
	for _, t := range match.Node.Types() {
		types = append(types, zone.TypeWord(t))
	}
	if types == nil {
		types = []string{"none"}
	}
	l.add("records", strings.Join(types, ","))
	if target, ok := z.Alias(match.Node); ok {
		l.add("target", display(target))
		return l, target
	}
	return l, ""
}

// redirectedLine goes on with a line of a name below a DNAME.
func redirectedLine(l Line, z *zone.Zone, name zone.Name, match zone.Match) (Line, zone.Name) {
	l.add("dname", display(match.Owner))
	l.add("records", "DNAME")
	target, _ := z.Redirection(match.Node)
	next, fits := zone.Redirected(name, match.Owner, target)
	if !fits {
		l.add("rcode", "YXDOMAIN")
		return l, ""
	}
	l.add("target", display(next))
	return l, next
}

// display writes a name without the final dot.
func display(n zone.Name) string {
	if s := strings.TrimSuffix(n.String(), "."); s != "" {
		return s
	}
	return "."
}
