package sheet

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb/dns/admin"
	"gslb/dns/steer"
	"gslb/test/golden"
)

// sights are two looks at a server, 2 seconds apart.
func sights() *Sight {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	member := func(place, standing string, given uint64) admin.Member {
		return admin.Member{Place: place, Standing: standing, Endpoints: 2, Up: 2, Given: given}
	}
	look := func(www, video uint64) []admin.Service {
		return []admin.Service{
			{Service: "portal", Served: true, Given: 5, Places: []admin.Member{member("msk-1", "serving", 5)}},
			{Service: "www", Served: true, Given: 10 + www, Places: []admin.Member{member("msk-1", "serving", 10+www*3/4), member("msk-2", "drained", 0), member("fra", "serving", www/4)}},
			{Service: "video", Served: false, Given: video, Places: []admin.Member{member("nsk", "withdrawn", video)}},
		}
	}
	status := admin.Status{
		Version: "1.0", Server: admin.Server{Ready: true, Since: at.Add(-3 * time.Hour), Config: admin.Config{Number: 42, Hash: "9f3c2a1e"}},
		Totals: admin.Totals{Services: 3, Served: 2, Endpoints: 10, Up: 8, Drains: 1, Sessions: 1, Questions: 1000},
		Brake:  steer.BrakeView{On: true, Failing: 4, Of: 4},
	}
	before := &Sight{At: at.Add(-2 * time.Second), Status: status, Services: look(0, 0)}
	status.Totals.Questions = 1500
	return &Sight{
		At: at, Before: before, Status: status, Services: look(400, 3),
		Failing:  []admin.Endpoint{{Service: "video", Place: "nsk", EndpointView: steer.EndpointView{Address: "198.51.100.1", Verdict: "withdrawn", Failed: 11, Window: 20, Cause: "status 503"}}},
		Partners: []admin.Partner{{Partner: "sibtel", Site: "nsk", Peers: []admin.Peer{{Peer: netip.MustParseAddr("192.0.2.9"), State: "idle", Accepted: 90, Stale: 90}}}},
		Events:   []admin.Event{{Time: at.Add(-13 * time.Hour), Text: "gslb 1.0 started with config 41:77aa01c2"}, {Time: at, Text: "nsk/web withdrawn: 10 of 20 failed, last: status 503"}},
	}
}

func TestTopShowsWhatIsBusyAndWhatFails(t *testing.T) {
	golden.Compare(t, "testdata/top.txt", Top{Sight: sights(), Plain: true, Width: 120, Height: 50}.String())
}

func TestTopFitsItsScreen(t *testing.T) {
	for _, size := range [][2]int{{20, 5}, {80, 24}, {200, 10}, {10, 1}} {
		text := Top{Sight: sights(), Plain: true, Width: size[0], Height: size[1]}.String()
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > max(size[1]-1, 1) {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for _, line := range lines {
			if len([]rune(line)) > size[0] {
				t.Errorf("%v: %q", size, line)
			}
		}
	}
	small := Top{Sight: sights(), Plain: true, Width: 80, Height: 50}.String()
	for _, whole := range []string{"■■■■■■■■■■ 100%", "11/20  status 503", "idle           90     90", "0/1 sessions"} {
		if !strings.Contains(small, whole) {
			t.Errorf("80 columns have no room for %q:\n%s", whole, small)
		}
	}
	coloured := Top{Sight: sights(), Width: 80, Height: 50}.String()
	if strings.Count(coloured, "\x1b[0m") != strings.Count(coloured, "\x1b[")-strings.Count(coloured, "\x1b[0m") {
		t.Error("a colour does not end")
	}
	if lost := (Top{Trouble: "gslb is not answering", Plain: true, Width: 80, Height: 24}).String(); !strings.Contains(lost, "not answering") {
		t.Errorf("got %q", lost)
	}
}
