package sheet

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/test/golden"
)

func TestStatusIsATablePerService(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	up := steer.EndpointView{Address: "192.0.2.1", Check: "web", Verdict: "up", Results: 20, Window: 20, Succeeding: 20, Since: ago(49 * time.Hour)}
	bad := steer.EndpointView{Address: "192.0.2.11", Check: "web", Verdict: "withdrawn", Failed: 11, Results: 20, Window: 20, Succeeding: 3, Cause: "status 503", Since: ago(4 * time.Minute), Next: 170}
	fresh := steer.EndpointView{Address: "2001:db8:1::1", Check: "web", Verdict: "unknown", Failed: 1, Results: 1, Window: 20, Failing: 1, Cause: "timeout after 3s", Since: ago(5 * time.Second)}
	ill := steer.EndpointView{Address: "192.0.2.4", Check: "tcp", Verdict: "up", Failed: 12, Results: 20, Window: 20, Failing: 12, Cause: "timeout after 3s", Since: ago(time.Hour),
		Next: 10, Degraded: true, Held: true, Checks: []steer.CheckView{{Check: "web", Verdict: "up"}, {Check: "tcp", Verdict: "up", Failed: 12, Cause: "timeout after 3s"}}}
	forced := steer.EndpointView{Address: "192.0.2.5", Check: "web", Verdict: "withdrawn", Failed: 20, Results: 20, Window: 20, Failing: 20, Cause: "connect refused", Since: ago(time.Hour), State: "up"}
	free := steer.EndpointView{Address: "198.51.100.1", Verdict: "up"}
	s := admin.Status{
		Version: "1.0",
		Server: admin.Server{
			Ready: true, Since: ago(3 * time.Hour),
			Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:5353"), netip.MustParseAddrPort("[::1]:5353")},
			Config: admin.Config{File: "/etc/gslb/gslb.yaml", Number: 42, Hash: "9f3c2a1e", Loaded: ago(40 * time.Second)},
		},
		Geo:   "builtin 2026-11-25",
		Brake: steer.BrakeView{Percent: 100, On: true, Since: ago(40 * time.Second), Failing: 11, Of: 12, Reference: []steer.EndpointView{up, {Failing: 3}}},
		Services: []steer.ServiceView{
			{Service: "portal", Served: true, Places: []steer.PlaceView{
				{Place: "msk-1", Standing: "serving", Endpoints: []steer.EndpointView{up, fresh}},
				{Place: "msk-2", Standing: "drained", Endpoints: []steer.EndpointView{up, bad}, Drain: &steer.DrainView{Reason: "cooling work", By: "nikita", Until: now.Add(90 * time.Minute)}},
				{Place: "msk-3", Standing: "withdrawn", Endpoints: []steer.EndpointView{bad, up}},
				{Place: "spb", Standing: "serving", Endpoints: []steer.EndpointView{ill, forced}},
			}},
			{Service: "video", Places: []steer.PlaceView{{Place: "nsk", Standing: "drained", Endpoints: []steer.EndpointView{free}, Drain: &steer.DrainView{Hard: true}}}},
		},
	}
	var out bytes.Buffer
	Status(&out, now, s)
	out.WriteString("\n----\n")
	s.Ready, s.Listen, s.Services, s.Brake = false, nil, nil, steer.BrakeView{Percent: 80}
	s.Saving = admin.Saving{Failing: "state /var/lib/gslb/state.db: write: read-only file system", Since: ago(3 * time.Minute)}
	s.Config.Refused = &admin.Refusal{Time: ago(time.Minute), Problems: []string{"gslb.yaml:4:1: datacenter: unknown key (did you mean datacenters?)"}}
	Status(&out, now, s)
	golden.Compare(t, "testdata/status.txt", out.String())
}
