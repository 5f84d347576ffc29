package bgp

import (
	"iter"
	"net/netip"
	"time"
)

// Account is what a table holds of one source of routes: a peer, or the networks that the
// configuration gives a partner.
type Account struct {
	Partner    string
	Peer       netip.Addr // the zero Addr: the configuration
	Up         bool       // a session is there that could confirm the routes
	Lost       time.Time  // when its last session was lost; zero: none was
	Tally      Tally
	IPv4, IPv6 int       // believed routes of each family
	Stale      int       // believed routes that no session of now has confirmed
	Newest     time.Time // when the youngest of its routes was learned; zero: nothing was
}

// Accounts gives the account of every source that the table knows. Its cost is that of a look at
// every route.
func (t *Table) Accounts() []Account {
	accounts := make([]Account, len(t.peers))
	newest := make([]uint32, len(t.peers))
	for i, p := range t.peers {
		accounts[i] = Account{Partner: p.partner, Peer: p.address, Up: p.up, Lost: p.lost, Tally: t.tallies[i]}
	}
	for prefix, claims := range t.claims() {
		for _, c := range claims {
			newest[c.peer] = max(newest[c.peer], c.since)
			if refusals[c.refused] == Believed {
				accounts[c.peer].add(prefix, t.peers[c.peer].stale(c))
			}
		}
	}
	for i, seconds := range newest {
		if seconds != 0 {
			accounts[i].Newest = time.Unix(int64(seconds), 0)
		}
	}
	return accounts
}

func (a *Account) add(prefix netip.Prefix, stale bool) {
	if family(prefix.Addr()) == 0 {
		a.IPv4++
	} else {
		a.IPv6++
	}
	if stale {
		a.Stale++
	}
}

// From gives what [Table.Every] gives, from a prefix on.
func (t *Table) From(p netip.Prefix) iter.Seq2[netip.Prefix, []Route] {
	return func(yield func(netip.Prefix, []Route) bool) {
		for c := t.find(p); c.valid(t); c = c.next(t) {
			at, claims := c.at(t)
			if !yield(at, t.routes(at, claims, true)) {
				return
			}
		}
	}
}

// claims gives every prefix with its routes as they are kept.
func (t *Table) claims() iter.Seq2[netip.Prefix, []claim] {
	return func(yield func(netip.Prefix, []claim) bool) {
		for c := t.start(); c.valid(t); c = c.next(t) {
			if !yield(c.at(t)) {
				return
			}
		}
	}
}
