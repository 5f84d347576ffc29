package sheet

import (
	"fmt"
	"io"
	"strings"
	"time"

	"gslb/dns/admin"
)

// Events prints what happened, a line each, by the clock of a time zone, which each line tells.
func Events(w io.Writer, events []admin.Event, zone *time.Location) {
	for _, e := range events {
		fmt.Fprintln(w, e.Time.In(zone).Format(time.RFC3339), eventWords(e))
	}
}

// eventWords is the text of an event, with the address where a place may have several.
func eventWords(e admin.Event) string {
	if endpoint := e.Fields["endpoint"]; endpoint != "" && !strings.Contains(e.Text, endpoint) {
		return e.Text + " (" + endpoint + ")"
	}
	return e.Text
}
