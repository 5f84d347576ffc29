package sheet

import (
	"cmp"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"gslb/dns/admin"
	"gslb/dns/steer"
)

// Routes prints one line a route; the prefix stands before the first of its routes.
func Routes(w io.Writer, now time.Time, prefixes []admin.Prefix) { sheet{w, now}.routes(prefixes) }

func (s sheet) routes(prefixes []admin.Prefix) {
	t := NewTable(s.w, "")
	t.Row("PREFIX", "PARTNER", "SITE", "PEER", "ORIGIN", "PREF", "PATH", "MED", "AGE", "VERDICT")
	for _, p := range prefixes {
		name := p.Prefix.String()
		for i, r := range p.Routes {
			verdict := s.verdict(r)
			if i == 0 && len(p.Missing) > 0 {
				verdict += "; not from " + peerWords(p.Missing)
			}
			t.Row(name, r.Partner, cmp.Or(r.Site, "-"), peerWord(r), number(int(r.Origin)), fmt.Sprint(r.Preference), fmt.Sprint(r.PathLength),
				fmt.Sprint(r.MED), s.agoOr(r.Since), verdict)
			name = ""
		}
	}
	t.Flush()
}

func peerWord(r admin.Route) string {
	if r.PathID == 0 {
		return r.Peer
	}
	return fmt.Sprintf("%s#%d", r.Peer, r.PathID)
}

func peerWords(all []netip.Addr) string {
	words := make([]string, len(all))
	for i, a := range all {
		words[i] = a.String()
	}
	return strings.Join(words, ", ")
}

// verdict is what becomes of a route, and why.
func (s sheet) verdict(r admin.Route) string {
	words := string(r.Verdict)
	if because := cmp.Or(r.Because, string(r.Refused)); because != "" {
		words += ": " + because
	}
	if !r.Stale.IsZero() {
		words += ", stale " + steer.Ago(s.now.Sub(r.Stale))
	}
	return words
}
