package admin

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/config"
	"gslb/dns/steer"
)

// Partners is what GET /v1/partners gives.
type Partners struct {
	Version   uint64      `json:"version"` // of the table of routes
	Listeners []Listener  `json:"listeners"`
	RPKI      []rpki.View `json:"rpki,omitempty"` // where origins are judged by
	Partners  []Partner   `json:"partners"`
}

// Listener is an address where partners may open sessions.
type Listener struct {
	Address netip.AddrPort `json:"address"`
	Cause   string         `json:"cause,omitempty"` // why it does not listen
	Unknown uint64         `json:"unknown"`         // connections closed because their source is no peer
}

// Partner is a partner with what it brings. Prefixes are counted without those that are refused, and
// once however many peers announce them.
type Partner struct {
	Partner string     `json:"partner"`
	Site    string     `json:"site"`
	Shadow  bool       `json:"shadow"` // nobody is steered by it
	Static  int        `json:"static"` // networks that the configuration gives it
	Limit   int        `json:"max_prefixes"`
	IPv4    int        `json:"ipv4"`
	IPv6    int        `json:"ipv6"`
	Partial bgp.Sample `json:"partial"` // prefixes that not all of its peers announce
	Alone   bgp.Sample `json:"alone"`   // prefixes without another site to fall to
	Peers   []Peer     `json:"peers"`
}

// Peer is one session of a partner, and the routes that came by it.
type Peer struct {
	Peer  netip.Addr `json:"peer"`
	ASN   uint32     `json:"asn"`
	State string     `json:"state"` // idle, connecting, open, established or suspended
	Since time.Time  `json:"since,omitzero"`
	Error string     `json:"error,omitempty"`          // why the last session or attempt ended, or what is in the way of one
	Until time.Time  `json:"suspended_until,omitzero"` // no session is tried before, unless it is reset
	Flaps uint64     `json:"flaps"`                    // established sessions that ended

	Accepted   int                 `json:"accepted"`
	IPv4       int                 `json:"ipv4"` // of the accepted
	IPv6       int                 `json:"ipv6"`
	Refused    map[bgp.Refusal]int `json:"refused,omitempty"`    // routes, by reason
	Stale      int                 `json:"stale"`                // of the accepted, those that wait for a session to confirm them
	StaleSince time.Time           `json:"stale_since,omitzero"` // of the one that has waited longest
	Changed    time.Time           `json:"changed,omitzero"`     // when a route was learned, or left, last

	Malformed map[string]uint64 `json:"malformed,omitempty"` // messages with something wrong, by what it was
	Withdrawn uint64            `json:"withdrawn"`           // prefixes lost to malformed attributes (RFC 7606)
}

func (h *handler) partners(w http.ResponseWriter, _ *http.Request) {
	table, policy := h.Routes(), h.Snapshot().Policy()
	survey := table.Survey(func(partner string) string { return steered(policy, partner) })
	sessions := sessionsOf(h.Peers(), h.accounts(table))
	all := Partners{Version: table.Version(), Listeners: []Listener{}, RPKI: h.RPKI(), Partners: []Partner{}}
	for _, l := range h.Listeners() {
		all.Listeners = append(all.Listeners, Listener(l))
	}
	for _, p := range policy.Partners() {
		found := survey[p.Name]
		v := Partner{
			Partner: p.Name, Static: len(p.Networks), Limit: p.Accept.MaxPrefixes, IPv4: found.IPv4, IPv6: found.IPv6,
			Partial: found.Partial, Alone: found.Alone, Peers: []Peer{},
		}
		v.Site, v.Shadow = policy.Leads(p.Name)
		for _, peer := range policy.Peers() {
			if peer.Partner == p.Name {
				v.Peers = append(v.Peers, sessions.peer(peer))
			}
		}
		all.Partners = append(all.Partners, v)
	}
	write(w, http.StatusOK, all)
}

// steered is the site that a partner's clients are sent to; "" for a shadow.
func steered(p *steer.Policy, partner string) string {
	site, shadow := p.Leads(partner)
	if shadow {
		return ""
	}
	return site
}

// source names a peer of a partner, as an account does.
type source struct {
	partner string
	peer    netip.Addr
}

// sessions are the peers as the sessions and the table know them.
type sessions struct {
	views    map[source]bgp.PeerView
	accounts map[source]bgp.Account
}

func sessionsOf(views []bgp.PeerView, accounts []bgp.Account) sessions {
	s := sessions{map[source]bgp.PeerView{}, map[source]bgp.Account{}}
	for _, v := range views {
		s.views[source{v.Peer.Partner, v.Peer.Address}] = v
	}
	for _, a := range accounts {
		s.accounts[source{a.Partner, a.Peer}] = a
	}
	return s
}

func (s sessions) peer(p bgp.Peer) Peer {
	from := source{p.Partner, p.Address}
	view, account := s.views[from], s.accounts[from]
	v := Peer{
		Peer: p.Address, ASN: p.ASN, State: stateWord(view), Since: view.Since, Error: view.Cause, Flaps: view.Flaps,
		Accepted: account.Tally.Believed(), IPv4: account.IPv4, IPv6: account.IPv6, Refused: account.Tally.Refused(),
		Stale: account.Stale, StaleSince: account.StaleSince, Changed: account.Changed, Malformed: view.Refused, Withdrawn: view.Withdrawn,
	}
	if suspended(view) {
		v.Until = view.Paused
	}
	return v
}

// suspended tells a peer that is left alone for now.
func suspended(v bgp.PeerView) bool { return v.Paused.After(time.Now()) }

// stateWord is the state of a session, or that none is wanted for now.
func stateWord(v bgp.PeerView) string {
	if suspended(v) {
		return "suspended"
	}
	return v.State.String()
}

// Reset is what POST /v1/partners/reset did.
type Reset struct {
	Partner string        `json:"partner"`
	Peers   []ResetOfPeer `json:"peers"`
}

// ResetOfPeer is what became of one peer: a session that stands is left alone, unless all are meant.
type ResetOfPeer struct {
	Peer  netip.Addr `json:"peer"`
	State string     `json:"state"` // before
	Begun bool       `json:"begun"` // the session begins anew
}

// resetPartner begins the sessions of a partner anew that do not stand; with all=1 every one.
func (h *handler) resetPartner(w http.ResponseWriter, r *http.Request) {
	done := Reset{Partner: r.FormValue("partner"), Peers: []ResetOfPeer{}}
	policy := h.Snapshot().Policy()
	if unknown := unknownPartner(policy, done.Partner); unknown != "" {
		refuse(w, http.StatusNotFound, "%s", unknown)
		return
	}
	all, err := strconv.ParseBool(cmp.Or(r.FormValue("all"), "0"))
	if err != nil {
		refuse(w, http.StatusBadRequest, "all %q: neither 1 nor 0", r.FormValue("all"))
		return
	}
	for _, v := range h.Peers() {
		if v.Peer.Partner != done.Partner {
			continue
		}
		begun := (all || v.State != bgp.Established) && h.Reset(v.Peer.Address)
		done.Peers = append(done.Peers, ResetOfPeer{v.Peer.Address, stateWord(v), begun})
	}
	write(w, http.StatusOK, done)
}

// unknownPartner says that the configuration has no such partner, and which one may be meant; "" when
// it has.
func unknownPartner(p *steer.Policy, name string) string {
	var known []string
	for _, partner := range p.Partners() {
		if partner.Name == name {
			return ""
		}
		known = append(known, partner.Name)
	}
	return fmt.Sprintf("partner %q: not in the configuration%s", name, meant(name, known))
}

// unknownService says that the configuration has no such service, and which one may be meant.
func unknownService(p *steer.Policy, name string) string {
	var known []string
	for _, svc := range p.Services() {
		known = append(known, svc.Name())
	}
	return fmt.Sprintf("service %q: not in the configuration%s", name, meant(name, known))
}

// meant asks whether a known name was meant by one that is not; "" when none is near.
func meant(name string, known []string) string {
	if near := config.Suggest(name, known); near != "" {
		return " (did you mean " + near + "?)"
	}
	return ""
}
