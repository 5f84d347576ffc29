package admin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gslb/bgp"
	"gslb/bgp/rpki"
	"gslb/bgp/wire"
	"gslb/config"
	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
)

const partnersText = `
bgp: {asn: 64512, router_id: 192.0.2.53}
datacenters: {msk: {}}
sites: {nsk: {}, ekb: {}}
partners:
  sibtel:
    site: nsk
    networks: [198.18.0.0/24]
    peers: [{address: 127.0.0.9, asn: 64501}, {address: 127.0.0.10, asn: 64501}]
    accept: {within: [203.0.112.0/20, 198.51.100.0/24, "2001:db8::/32"]}
    communities: {"64501:50": prefer 50}
  uralnet:
    site: ekb
    peers: [{address: 127.0.0.11, asn: 64502}]
    accept: {origins: [64502]}
  trial:
    site: ekb
    shadow: true
    peers: [{address: 127.0.0.12, asn: 64503}]
    accept: {origins: [64503]}
services: {www: {at: {msk: [192.0.2.1], nsk: [192.0.2.2], ekb: [192.0.2.3]}}}
zones: {ok.test: {ns: [ns.example.], services: {www: www}}}
`

// peering is a server with partners.
type peering struct {
	*world
	rib   *bgp.RIB
	peers []bgp.Peer
	views []bgp.PeerView
	reset []netip.Addr
}

func newPeering(t testing.TB) *peering {
	t.Helper()
	cfg, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(partnersText)})
	policy, more := steer.Compile(cfg)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	p := &peering{world: newWorld(t), rib: bgp.NewRIB(), peers: policy.Peers()}
	p.rib.Apply(policy.Partners(), p.peers, now)
	for _, peer := range p.peers {
		p.views = append(p.views, bgp.PeerView{Peer: peer, State: bgp.Idle, Since: now})
	}
	snapshot := steer.Build(steer.Inputs{
		Policy: policy, Config: 1, Health: health.NewBoard().Latest(), Routes: p.rib.Latest(), Geo: geo.NewMap(func(func(netip.Prefix, geo.Location) bool) {}), Now: now,
	}, nil)
	p.deps.Snapshot = func() *steer.Snapshot { return snapshot }
	p.deps.Routes = p.rib.Latest
	p.deps.Peers = func() []bgp.PeerView { return p.views }
	p.deps.Listeners = func() []bgp.ListenView {
		return []bgp.ListenView{{Address: netip.MustParseAddrPort("192.0.2.53:179"), Cause: "permission denied", Unknown: 2}}
	}
	p.deps.RPKI = func() []rpki.View { return []rpki.View{{From: "vrps.json", State: "read", VRPs: 7, Updated: now}} }
	p.deps.Reset = func(a netip.Addr) bool { p.reset = append(p.reset, a); return true }
	return p
}

// announce has a peer announce prefixes; words before a prefix give it a path length or communities.
func (p *peering) announce(peer int, at time.Time, words ...string) {
	var changes []wire.Change
	asn := p.peers[peer].ASN
	path := wire.Path{Origin: asn, NeighbourASN: asn, PathLength: 1}
	for _, w := range words {
		switch {
		case strings.HasPrefix(w, "length="):
			fmt.Sscanf(w, "length=%d", &path.PathLength)
		case strings.HasPrefix(w, "med="):
			fmt.Sscanf(w, "med=%d", &path.MED)
		case w == "64501:50":
			path.Communities = []uint32{64501<<16 | 50}
		default:
			changes = append(changes, wire.Change{Prefix: netip.MustParsePrefix(w), Path: path})
		}
	}
	p.rib.Up(p.peers[peer], bgp.Opened{IPv4: true, IPv6: true})
	p.rib.Routes(p.peers[peer], changes, at)
	p.rib.EndOfRIB(p.peers[peer], false, at)
	p.rib.EndOfRIB(p.peers[peer], true, at)
	p.views[peer].State = bgp.Established
}

// lose ends a session.
func (p *peering) lose(peer int, at time.Time) {
	p.rib.Down(p.peers[peer], bgp.Cause{Text: "hold timer expired"}, at)
	p.views[peer].State, p.views[peer].Cause, p.views[peer].Flaps = bgp.Idle, "hold timer expired", 3
}

var equal = cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{}, netip.Prefix{})

func TestPartnersAreShownWithTheirPeers(t *testing.T) {
	p := newPeering(t)
	later := now.Add(time.Minute)
	p.announce(0, now, "203.0.113.0/24", "203.0.112.0/24", "2001:db8::/32", "10.0.0.0/8", "192.0.2.0/24")
	p.announce(1, later, "203.0.113.0/24")
	p.announce(2, later, "203.0.113.0/24")
	p.lose(0, later)
	p.views[0].Paused, p.views[1].Paused = time.Now().Add(time.Hour).UTC(), time.Now().Add(-time.Hour)
	p.views[1].Refused = map[string]uint64{"attribute flags": 2}
	code, body := p.get("/v1/partners")
	if code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	prefix := netip.MustParsePrefix
	want := admin.Partners{
		Version:   p.rib.Latest().Version(),
		Listeners: []admin.Listener{{Address: netip.MustParseAddrPort("192.0.2.53:179"), Cause: "permission denied", Unknown: 2}},
		RPKI:      []rpki.View{{From: "vrps.json", State: "read", VRPs: 7, Updated: now}},
		Partners: []admin.Partner{
			{
				Partner: "sibtel", Site: "nsk", Static: 1, Limit: 100000, IPv4: 3, IPv6: 1,
				Partial: bgp.Sample{Count: 1, First: []netip.Prefix{prefix("203.0.112.0/24")}},
				Alone:   bgp.Sample{Count: 3, First: []netip.Prefix{prefix("198.18.0.0/24"), prefix("203.0.112.0/24"), prefix("2001:db8::/32")}},
				Peers: []admin.Peer{
					{
						Peer: p.peers[0].Address, ASN: 64501, State: "suspended", Since: now, Error: "hold timer expired", Until: p.views[0].Paused, Flaps: 3, Accepted: 3, IPv4: 2, IPv6: 1,
						Refused: map[bgp.Refusal]int{bgp.RefusedBogus: 1, bgp.RefusedWithin: 1}, Stale: 3, StaleSince: later, Changed: now,
					},
					{
						Peer: p.peers[1].Address, ASN: 64501, State: "established", Since: now, Accepted: 1, IPv4: 1, Changed: later,
						Malformed: map[string]uint64{"attribute flags": 2},
					},
				},
			},
			{
				Partner: "uralnet", Site: "ekb", Limit: 100000, IPv4: 1,
				Peers: []admin.Peer{{Peer: p.peers[2].Address, ASN: 64502, State: "established", Since: now, Accepted: 1, IPv4: 1, Changed: later}},
			},
			{
				Partner: "trial", Site: "ekb", Shadow: true, Limit: 100000,
				Peers: []admin.Peer{{Peer: p.peers[3].Address, ASN: 64503, State: "idle", Since: now}},
			},
		},
	}
	if diff := cmp.Diff(want, read[admin.Partners](t, body), equal); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestServerWithoutPartnersShowsEmptyLists(t *testing.T) {
	w := newWorld(t)
	w.deps.Routes = func() *bgp.Table { return bgp.NewTable(7, nil) }
	w.deps.Peers = func() []bgp.PeerView { return nil }
	w.deps.Listeners = func() []bgp.ListenView { return nil }
	w.deps.RPKI = func() []rpki.View { return nil }
	for path, want := range map[string]string{
		"/v1/partners": `{"version":7,"listeners":[],"partners":[]}`,
		"/v1/routes":   `{"version":7,"table":0,"prefixes":[]}`,
	} {
		if code, body := w.get(path); code != http.StatusOK || strings.TrimSpace(body) != want {
			t.Errorf("%s: got %d %s, want %s", path, code, body, want)
		}
	}
}

func TestResetBeginsWhatDoesNotStand(t *testing.T) {
	for name, c := range map[string]struct {
		query string
		code  int
		want  string // peers that begin anew
	}{
		"what waits":      {"partner=sibtel", 200, "127.0.0.9"},
		"everything":      {"partner=sibtel&all=1", 200, "127.0.0.9 127.0.0.10"},
		"another partner": {"partner=uralnet", 200, "127.0.0.11"},
		"nobody":          {"partner=sibtle", 404, ""},
		"no name":         {"", 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeering(t)
			p.announce(1, now)
			code, body := p.ask(httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8053/v1/partners/reset?"+c.query, nil))
			got := strings.Trim(fmt.Sprint(p.reset), "[]")
			if code != c.code || got != c.want {
				t.Fatalf("got %d and %q, want %d and %q: %s", code, got, c.code, c.want, body)
			}
			if code != http.StatusOK {
				return
			}
			for _, peer := range read[admin.Reset](t, body).Peers {
				if peer.Begun != slices.Contains(p.reset, peer.Peer) {
					t.Errorf("told of %s: %+v", peer.Peer, peer)
				}
			}
		})
	}
}
