package bgp

import (
	"net/netip"
	"slices"
)

// Survey says how the prefixes that are believed of one partner are backed: by its several peers, and by other sites
// that their clients could fall to.
type Survey struct {
	IPv4, IPv6 int    // prefixes, each counted once however many peers announce it
	Partial    Sample // prefixes that some of the peers announce and others do not, among those that announce anything of the family
	Alone      Sample // prefixes whose clients have the partner's site, and no other to fall to
}

// Sample is a number of prefixes and the first of them, in address order.
type Sample struct {
	Count int            `json:"count"`
	First []netip.Prefix `json:"first,omitempty"`
}

// sampled is how many prefixes a sample names.
const sampled = 3

func (s *Sample) add(p netip.Prefix) {
	s.Count++
	if len(s.First) < sampled {
		s.First = append(s.First, p)
	}
}

// Survey looks at every route once, and gives what it found of each partner. The function tells the
// site that a partner's clients are sent to, "" for a partner that is not steered by. A client has
// the sites of its longest prefix and of all prefixes around it.
func (t *Table) Survey(site func(partner string) string) map[string]Survey {
	s := newSurveyor(t.Accounts(), site)
	for prefix, claims := range t.claims() {
		s.see(prefix, claims)
	}
	found := make(map[string]Survey, len(s.partners))
	for i, name := range s.partners {
		found[name] = s.surveys[i]
	}
	return found
}

// surveyor is at work on one table. To it, partners and sites are small numbers: a table is large, and
// what is done for each prefix should allocate nothing.
type surveyor struct {
	partners []string
	surveys  []Survey // by partner
	sites    []int    // by partner; -1: its clients are not sent there
	active   [][2]int // by partner and family: peers of which anything is believed
	owner    []int    // by source: its partner
	session  []bool   // by source: it is a peer

	around []ground // the prefixes around the present one, each inside the one before
	voices []voice  // of the present prefix
}

// ground is a prefix with the sites that its clients have.
type ground struct {
	prefix netip.Prefix
	sites  []int
}

// voice is a partner that announces a prefix, by so many of its peers.
type voice struct{ partner, peers int }

func newSurveyor(accounts []Account, site func(partner string) string) *surveyor {
	s := &surveyor{}
	var names []string
	for _, a := range accounts {
		i := slices.Index(s.partners, a.Partner)
		if i < 0 {
			i = len(s.partners)
			at := -1
			if name := site(a.Partner); name != "" {
				if at = slices.Index(names, name); at < 0 {
					at, names = len(names), append(names, name)
				}
			}
			s.partners, s.sites, s.active = append(s.partners, a.Partner), append(s.sites, at), append(s.active, [2]int{})
		}
		peer := a.Peer.IsValid()
		s.owner, s.session = append(s.owner, i), append(s.session, peer)
		if peer && a.IPv4 > 0 {
			s.active[i][0]++
		}
		if peer && a.IPv6 > 0 {
			s.active[i][1]++
		}
	}
	s.surveys = make([]Survey, len(s.partners))
	return s
}

// see takes one prefix in. The prefixes around it have been seen.
func (s *surveyor) see(prefix netip.Prefix, claims []claim) {
	s.listen(claims)
	if len(s.voices) == 0 {
		return
	}
	sites := s.enter(prefix)
	of := family(prefix.Addr())
	for _, v := range s.voices {
		found := &s.surveys[v.partner]
		if of == 0 {
			found.IPv4++
		} else {
			found.IPv6++
		}
		if v.peers > 0 && v.peers < s.active[v.partner][of] {
			found.Partial.add(prefix)
		}
		if s.sites[v.partner] >= 0 && len(sites) == 1 {
			found.Alone.add(prefix)
		}
	}
}

// listen finds who announces a prefix. A peer that announces several paths of it is one.
func (s *surveyor) listen(claims []claim) {
	s.voices = s.voices[:0]
	for i, c := range claims {
		again := slices.ContainsFunc(claims[:i], func(o claim) bool { return o.peer == c.peer && o.refused == c.refused })
		if refusals[c.refused] != Believed || again {
			continue
		}
		partner := s.owner[c.peer]
		at := slices.IndexFunc(s.voices, func(v voice) bool { return v.partner == partner })
		if at < 0 {
			at, s.voices = len(s.voices), append(s.voices, voice{partner: partner})
		}
		if s.session[c.peer] {
			s.voices[at].peers++
		}
	}
}

// enter gives the sites of the present prefix: those of its own partners, and of the prefixes around it.
func (s *surveyor) enter(prefix netip.Prefix) []int {
	for len(s.around) > 0 && !s.around[len(s.around)-1].prefix.Overlaps(prefix) {
		s.around = s.around[:len(s.around)-1]
	}
	depth := len(s.around)
	if depth == cap(s.around) {
		s.around = slices.Grow(s.around, 1)
	}
	s.around = s.around[:depth+1]
	g := &s.around[depth] // what was there before lends its memory
	g.prefix, g.sites = prefix, g.sites[:0]
	if depth > 0 {
		g.sites = append(g.sites, s.around[depth-1].sites...)
	}
	for _, v := range s.voices {
		if site := s.sites[v.partner]; site >= 0 && !slices.Contains(g.sites, site) {
			g.sites = append(g.sites, site)
		}
	}
	return g.sites
}
