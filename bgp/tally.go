package bgp

import (
	"net/netip"
	"time"
)

// Tally counts the routes of one peer: those that are believed, and those that are not, by reason.
type Tally [len(refusals)]int

// Received is all of them.
func (t Tally) Received() int {
	sum := 0
	for _, n := range t {
		sum += n
	}
	return sum
}

// Believed is those that count.
func (t Tally) Believed() int { return t[0] }

// Refused gives the reasons that occurred, with how often.
func (t Tally) Refused() map[Refusal]int {
	refused := map[Refusal]int{}
	for i, n := range t[1:] {
		if n > 0 {
			refused[refusals[i+1]] = n
		}
	}
	return refused
}

// Account is what a table holds of one source of routes: a peer, or the networks that the
// configuration gives a partner.
type Account struct {
	Partner    string
	Peer       netip.Addr // the zero Addr: the configuration
	Up         bool       // a session is there that could confirm the routes
	Tally      Tally
	IPv4, IPv6 int       // believed routes of each family
	Stale      int       // believed routes that no session of now has confirmed
	StaleSince time.Time // when the one of them that was confirmed least lately was lost; zero without any
	Changed    time.Time // when a route of it was learned, or left, last; zero: none did
}

// Accounts gives the account of every source that the table knows. Its cost is that of a look at
// every route.
func (t *Table) Accounts() []Account {
	type session struct{ peer, number uint16 }
	accounts := make([]Account, len(t.peers))
	stale := map[session]claim{} // one of each session that left any
	newest := make([]uint32, len(t.peers))
	for i, p := range t.peers {
		accounts[i] = Account{Partner: p.partner, Peer: p.address, Up: p.up, Tally: t.tallies[i]}
	}
	for prefix, claims := range t.claims() {
		for _, c := range claims {
			newest[c.peer] = max(newest[c.peer], c.since)
			if refusals[c.refused] == Believed {
				accounts[c.peer].add(prefix)
			}
			if refusals[c.refused] == Believed && t.peers[c.peer].stale(c) {
				accounts[c.peer].Stale++
				stale[session{c.peer, c.session}] = c
			}
		}
	}
	for s, c := range stale {
		a := &accounts[s.peer]
		if lost := t.lost(c); a.StaleSince.IsZero() || lost.Before(a.StaleSince) {
			a.StaleSince = lost
		}
	}
	for i, seconds := range newest {
		accounts[i].Changed = t.peers[i].shrank
		if learned := time.Unix(int64(seconds), 0); seconds != 0 && learned.After(t.peers[i].shrank) {
			accounts[i].Changed = learned
		}
	}
	return accounts
}

func (a *Account) add(prefix netip.Prefix) {
	if family(prefix.Addr()) == 0 {
		a.IPv4++
	} else {
		a.IPv6++
	}
}
