package steer

import (
	"cmp"
	"log/slog"
	"maps"
	"net/netip"
	"slices"

	"gslb/config"
)

// hand is what a state by hand is of: an endpoint in a place, or, with the zero address, the place as a whole.
type hand struct {
	place   string
	address netip.Addr
}

func (a hand) compare(b hand) int {
	return cmp.Or(cmp.Compare(a.place, b.place), a.address.Compare(b.address))
}

// stateWord is the word of the config; "" for auto.
func stateWord(s config.State) string {
	switch s {
	case config.StateUp:
		return "up"
	case config.StateDown:
		return "down"
	}
	return ""
}

// diffHands tells of endpoints and places that were set up or down by hand, or no longer are.
func diffHands(old, now *Snapshot) []Event {
	var before map[hand]config.State
	after := now.in.Policy.hands
	if old != nil {
		if before = old.in.Policy.hands; old.in.Policy == now.in.Policy {
			return nil
		}
	}
	all := maps.Clone(before)
	if all == nil {
		all = map[hand]config.State{}
	}
	maps.Copy(all, after)
	var events []Event
	for _, h := range slices.SortedFunc(maps.Keys(all), hand.compare) {
		was, is := before[h], after[h]
		what := stateWord(is) + " by hand"
		switch {
		case was == is:
			continue
		case is == config.StateAuto:
			what = "no longer " + stateWord(was) + " by hand"
		}
		event := Event{Kind: "state", Text: h.place + " " + what, Attrs: []slog.Attr{slog.String("place", h.place)}}
		if h.address.IsValid() {
			event.Text = h.place + "/" + h.address.String() + " " + what
			event.Attrs = append(event.Attrs, slog.String("endpoint", h.address.String()))
		}
		events = append(events, event)
	}
	return events
}
