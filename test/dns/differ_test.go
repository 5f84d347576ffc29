package dns

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// differences tells in which parts two replies are not equal.
func differences(ours, theirs heard) (parts []string) {
	if ours.silent != theirs.silent {
		return []string{"silence"}
	}
	for _, part := range []struct {
		name         string
		ours, theirs string
	}{
		{"rcode", ours.rcode, theirs.rcode},
		{"flags", ours.flags, theirs.flags},
		{"question", ours.question, theirs.question},
		{"answer", strings.Join(ours.answer, "\n"), strings.Join(theirs.answer, "\n")},
		{"authority", strings.Join(ours.authority, "\n"), strings.Join(theirs.authority, "\n")},
		{"additional", strings.Join(ours.additional, "\n"), strings.Join(theirs.additional, "\n")},
		{"edns", strings.Join(ours.option, "\n"), strings.Join(theirs.option, "\n")},
	} {
		if part.ours != part.theirs {
			parts = append(parts, part.name)
		}
	}
	return parts
}

// unaccepted takes away the parts that the list accepts, and counts what accepted them.
func unaccepted(whose string, q asked, ours, theirs heard, accept []accepted, used []int) (parts []string) {
	parts = differences(ours, theirs)
	if len(parts) == 0 {
		return nil
	}
	for i, a := range accept {
		if (a.whose != whose && a.whose != "both") || !a.when(q, ours, theirs) {
			continue
		}
		before := len(parts)
		parts = slices.DeleteFunc(parts, func(part string) bool { return slices.Contains(a.parts, part) })
		if len(parts) < before {
			used[i]++
		}
	}
	return parts
}

// three are the servers that are compared.
type three struct{ ours, nsd, knot *client }

func servers(t *testing.T) (s three, folder string) {
	t.Helper()
	folder = expanded(t)
	ours, n, k := served(t), nsd(t, nsdMasters(folder)), knot(t, knotMasters(folder))
	for _, at := range []netip.AddrPort{n, k} {
		answers(t, at, masters[len(masters)-1]+".", dns.TypeSOA)
	}
	return three{newClient(t, ours), newClient(t, n), newClient(t, k)}, folder
}

// compare puts questions to all three, and shows what no list accepts. It fails for an entry of the list that
// accepts nothing, for what is on it must be known to be so.
func (s three) compare(t *testing.T, questions []asked, accept []accepted) {
	t.Helper()
	used, shown := make([]int, len(accept)), 0
	for _, q := range questions {
		ours, err := hear(s.ours.ask(q.packet, q.stream))
		if err != nil {
			t.Errorf("%s: our reply: %v", q, err)
			continue
		}
		for _, peer := range []struct {
			name   string
			client *client
		}{{"NSD", s.nsd}, {"Knot", s.knot}} {
			theirs, err := hear(peer.client.ask(q.packet, q.stream))
			if err != nil {
				t.Logf("%s: the reply of %s: %v", q, peer.name, err)
				continue
			}
			if parts := unaccepted(peer.name, q, ours, theirs, accept, used); len(parts) > 0 {
				if shown++; shown <= 20 {
					t.Errorf("%s: other %s than %s\nours   %s\ntheirs %s", q, strings.Join(parts, ", "), peer.name, ours, theirs)
				}
			}
		}
	}
	t.Logf("%d questions, %d differences that nothing accepts", len(questions), shown)
	for i, a := range accept {
		if used[i] == 0 {
			t.Errorf("nothing needs to be accepted of %s: %s", a.whose, a.why)
		}
		t.Logf("%4d %s (%s): %s", used[i], a.whose, strings.Join(a.parts, ", "), a.why)
	}
}

func TestAnswersEqualThoseOfNSDAndKnot(t *testing.T) {
	s, folder := servers(t)
	s.compare(t, questions(t, folder), acceptable)
}

func TestBrokenPacketsGetWhatNSDAndKnotGive(t *testing.T) {
	s, _ := servers(t)
	s.compare(t, broken(t), acceptableOfBroken)
}
