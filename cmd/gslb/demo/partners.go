package demo

import (
	"fmt"
	"slices"

	"gslb/dns/admin"
)

// intake is what a partner's sessions have brought, in words.
type intake struct {
	partner string
	text    string
	tone    tone
}

func intakesOf(partners []admin.Partner) []intake {
	all := make([]intake, len(partners))
	for i, p := range partners {
		all[i] = intakeOf(p)
	}
	return all
}

// intakeOf counts a partner's prefixes.
func intakeOf(p admin.Partner) intake {
	n := intake{partner: p.Partner}
	var accepted, stale, refused int
	for _, peer := range p.Peers {
		accepted, stale = accepted+peer.Accepted, stale+peer.Stale
		for _, routes := range peer.Refused {
			refused += routes
		}
	}
	counted := fmt.Sprintf("%d prefixes", accepted)
	if accepted == 1 {
		counted = "1 prefix"
	}
	switch {
	case accepted == 0:
		n.text, n.tone = "no prefixes", bad
	case stale == accepted:
		n.text, n.tone = counted+", stale", note
	case stale > 0:
		n.text, n.tone = fmt.Sprintf("%s, %d of them stale", counted, stale), note
	default:
		n.text, n.tone = counted, good
	}
	if refused > 0 {
		n.text += fmt.Sprintf(", %d refused", refused)
	}
	return n
}

// tellIntakes shows whose prefixes have become more, fewer or stale.
func (w *watcher) tellIntakes(all []intake) {
	for _, n := range all {
		if !slices.Contains(w.intakes, n) {
			w.tell.say(n.tone, n.partner+": "+n.text)
		}
	}
	w.intakes = all
}
