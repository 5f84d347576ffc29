package sheet

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/dns/admin"
)

// Partners prints one line a peer, then what an operator may want to do something about.
func Partners(w io.Writer, now time.Time, all admin.Partners) { sheet{w, now}.partners(all) }

// Backing prints notes on partners whose prefixes have less behind them than they could.
func Backing(w io.Writer, partners []admin.Partner) {
	sheet{w: w}.notes("Notes", backing(partners))
}

func (s sheet) partners(all admin.Partners) {
	if len(all.Partners) == 0 {
		fmt.Fprintln(s.w, "The configuration names no partners.")
		return
	}
	t := NewTable(s.w, "")
	t.Row("PARTNER", "SITE", "PEER", "AS", "STATE", "SINCE", "ACCEPTED", "REFUSED", "STALE", "CHANGED", "FLAPS")
	for _, p := range all.Partners {
		site := p.Site
		if p.Shadow {
			site += " (shadow)"
		}
		if p.Static > 0 || len(p.Peers) == 0 {
			t.Row(p.Partner, site, "static", "-", "-", "-", fmt.Sprint(p.Static), "-", "-", "-", "-")
		}
		for _, peer := range p.Peers {
			t.Row(p.Partner, site, peer.Peer.String(), fmt.Sprint(peer.ASN), peer.State, s.agoOr(peer.Since), fmt.Sprint(peer.Accepted),
				number(refusedOf(peer)), s.staleWord(peer), s.agoOr(peer.Changed), number(int(peer.Flaps)))
		}
	}
	t.Flush()
	s.notes("Trouble", s.troubles(all))
	s.notes("Refused", refusals(all))
	s.notes("RPKI", s.validators(all.RPKI))
	s.notes("Notes", backing(all.Partners))
}

func refusedOf(p admin.Peer) int {
	n := 0
	for _, m := range p.Refused {
		n += m
	}
	return n
}

// number is a count in a column where most are none.
func number(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func (s sheet) agoOr(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return s.ago(t)
}

func (s sheet) staleWord(p admin.Peer) string {
	switch {
	case p.Stale == 0:
		return "-"
	case p.StaleSince.IsZero():
		return fmt.Sprint(p.Stale)
	}
	return fmt.Sprintf("%d for %s", p.Stale, s.ago(p.StaleSince))
}

// notes prints lines under a title, nothing when there are none.
func (s sheet) notes(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(s.w, "\n%s:\n", title)
	for _, line := range lines {
		fmt.Fprintln(s.w, "  "+line)
	}
}

// troubles are what keeps sessions from being there, and messages that were wrong.
func (s sheet) troubles(all admin.Partners) []string {
	var lines []string
	for _, l := range all.Listeners {
		if l.Cause != "" {
			lines = append(lines, fmt.Sprintf("bgp.listen %s: %s", l.Address, l.Cause))
		}
	}
	for _, p := range all.Partners {
		for _, peer := range p.Peers {
			if peer.Error != "" && !settled(peer) {
				lines = append(lines, fmt.Sprintf("%s %s: %s", p.Partner, peer.Peer, lastOr(peer)+peer.Error))
			}
			if !peer.Until.IsZero() {
				lines = append(lines, fmt.Sprintf("%s %s: suspended until %s (%s to go), or until gslb partners reset %s",
					p.Partner, peer.Peer, Stamp(peer.Until), Left(peer.Until.Sub(s.now)), p.Partner))
			}
			if len(peer.Malformed) > 0 {
				lines = append(lines, fmt.Sprintf("%s %s: malformed messages: %s", p.Partner, peer.Peer, counts(peer.Malformed)))
			}
		}
	}
	for _, l := range all.Listeners {
		if l.Unknown > 0 {
			lines = append(lines, fmt.Sprintf("bgp.listen %s: %s from addresses that are no peer's", l.Address, Count(int(l.Unknown), "connection")))
		}
	}
	return lines
}

// settled tells a peer whose first session stands: that it took several attempts troubles nobody any more.
func settled(p admin.Peer) bool { return p.State == bgp.Established.String() && p.Flaps == 0 }

// lastOr tells the error of a session that is over from one that is in the way of the present one.
func lastOr(p admin.Peer) string {
	if p.State == bgp.Established.String() {
		return "before this session: "
	}
	return ""
}

func refusals(all admin.Partners) []string {
	var lines []string
	for _, p := range all.Partners {
		for _, peer := range p.Peers {
			if len(peer.Refused) > 0 {
				lines = append(lines, fmt.Sprintf("%s %s: %s", p.Partner, peer.Peer, counts(peer.Refused)))
			}
		}
	}
	return lines
}

// validators tells of where origins are judged by.
func (s sheet) validators(views []rpki.View) []string {
	lines := make([]string, len(views))
	for i, v := range views {
		lines[i] = fmt.Sprintf("%s: %s, %s", v.From, v.State, Count(v.VRPs, "VRP"))
		if !v.Updated.IsZero() {
			lines[i] += fmt.Sprintf(", updated %s ago", s.ago(v.Updated))
		}
	}
	return lines
}

// counts tells how often what occurred, the most frequent first.
func counts[K ~string, N int | uint64](of map[K]N) string {
	keys := slices.SortedFunc(maps.Keys(of), func(a, b K) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	words := make([]string, len(keys))
	for i, k := range keys {
		words[i] = fmt.Sprintf("%s %d", k, of[k])
	}
	return strings.Join(words, ", ")
}

func backing(partners []admin.Partner) []string {
	var lines []string
	for _, p := range partners {
		all := p.IPv4 + p.IPv6
		switch {
		case all == 0:
			lines = append(lines, p.Partner+" brings no prefixes")
		case p.IPv6 == 0:
			lines = append(lines, p.Partner+" brings no IPv6 prefixes")
		}
		if n := p.Partial; n.Count > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d of %s come from only some of its peers: %s", p.Partner, n.Count, Prefixes(all), sample(n)))
		}
		switch n := p.Alone; {
		case n.Count == 0:
		case n.Count == all:
			lines = append(lines, fmt.Sprintf("%s: no prefix has another site to fall to than %s", p.Partner, p.Site))
		default:
			lines = append(lines, fmt.Sprintf("%s: %d of %s have no other site to fall to than %s: %s", p.Partner, n.Count, Prefixes(all), p.Site, sample(n)))
		}
	}
	return lines
}

func sample(s bgp.Sample) string {
	words := prefixWords(s.First)
	if s.Count > len(s.First) {
		words += ", …"
	}
	return words
}

func prefixWords(all []netip.Prefix) string {
	words := make([]string, len(all))
	for i, p := range all {
		words[i] = p.String()
	}
	return strings.Join(words, ", ")
}
