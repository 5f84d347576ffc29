package sheet

import (
	"strings"
	"testing"
	"time"

	"gslb/dns/admin"
)

func TestEventsTellTheZoneOfTheirTimes(t *testing.T) {
	at := time.Date(2026, 11, 30, 22, 30, 0, 123, time.UTC)
	events := []admin.Event{
		{Time: at, Text: "msk-2/web withdrawn", Fields: map[string]string{"endpoint": "192.0.2.1"}},
		{Time: at.Add(time.Second), Text: "config 3:71a1c792 in force"},
	}
	for zone, want := range map[*time.Location]string{
		time.UTC:                        "2026-11-30T22:30:00Z msk-2/web withdrawn (192.0.2.1)\n2026-11-30T22:30:01Z config 3:71a1c792 in force\n",
		time.FixedZone("NOVT", 7*60*60): "2026-12-01T05:30:00+07:00 msk-2/web withdrawn (192.0.2.1)\n2026-12-01T05:30:01+07:00 config 3:71a1c792 in force\n",
	} {
		var out strings.Builder
		if Events(&out, events, zone); out.String() != want {
			t.Errorf("%v: got\n%s\nwant\n%s", zone, &out, want)
		}
	}
}
