package zone

import (
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// standIns are the numbers by which the record parser gets to see parameters of SVCB and HTTPS records that have a name and are
// written by their number, "key7" for "dohpath" (RFC 9460 section 2.1): those it refuses. They are for private use.
const standIns = 65500

// numbered is the text of an entry with stand-ins for such parameters; other entries are left as they are.
func (e entry) numbered() string {
	if !strings.Contains(e.text, "key") || strings.Contains(e.text, "key655") {
		return e.text
	}
	words, i, ok := e.typed()
	if !ok || !strings.EqualFold(words[i].text, "SVCB") && !strings.EqualFold(words[i].text, "HTTPS") {
		return e.text
	}
	text := e.text
	words = e.words(len(e.text))
	for n := len(words) - 1; n > i; n-- { // from behind, for the places of the others to stay
		key, _, _ := strings.Cut(words[n].text, "=")
		digits, ok := strings.CutPrefix(key, "key")
		number, err := strconv.ParseUint(digits, 10, 16)
		if !ok || err != nil || strconv.FormatUint(number, 10) != digits || !hasName(dns.SVCBKey(number)) {
			continue
		}
		at := words[n].start
		text = text[:at] + "key" + strconv.FormatUint(standIns+number, 10) + text[at+len(key):]
	}
	return text
}

// hasName tells whether a parameter has a name.
func hasName(key dns.SVCBKey) bool { return !strings.HasPrefix(key.String(), "key") && key < standIns }

// nameParameters gives the parameters of a record that was read with stand-ins their own numbers. Whether they have the data of
// such ones is checked when it is packed.
func nameParameters(rr dns.RR) {
	var values []dns.SVCBKeyValue
	switch rr := rr.(type) {
	case *dns.SVCB:
		values = rr.Value
	case *dns.HTTPS:
		values = rr.Value
	}
	for _, v := range values {
		if local, ok := v.(*dns.SVCBLocal); ok && local.KeyCode >= standIns && hasName(local.KeyCode-standIns) {
			local.KeyCode -= standIns
		}
	}
}
