package sheet

import (
	"fmt"
	"io"
	"strings"

	"gslb/dns/admin"
)

// Events prints what happened, a line each, in the time zone of this machine.
func Events(w io.Writer, events []admin.Event) {
	for _, e := range events {
		fmt.Fprintln(w, e.Time.Local().Format("2006-01-02 15:04:05"), eventWords(e))
	}
}

// eventWords is the text of an event, with the address where a place may have several.
func eventWords(e admin.Event) string {
	if endpoint := e.Fields["endpoint"]; endpoint != "" && !strings.Contains(e.Text, endpoint) {
		return e.Text + " (" + endpoint + ")"
	}
	return e.Text
}
