package sim

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	wire "github.com/miekg/dns"

	"gslb/dns"
)

// describe puts an answer into one line: each RRset with its TTL, or what is said instead of data;
// behind it the scope, if the question had a client subnet.
func describe(m *wire.Msg, q question) string {
	parts := describeSets(m.Answer, q)
	switch {
	case m.Rcode != wire.RcodeSuccess:
		parts = append(parts, wire.RcodeToString[m.Rcode]+soaTTL(m))
	case m.Truncated:
		parts = append(parts, "truncated")
	case soaTTL(m) != "":
		parts = append(parts, "NODATA"+soaTTL(m))
	case len(m.Answer) == 0 && len(m.Ns) > 0:
		parts = append(parts, describeSets(m.Ns, q)...)
	case len(m.Answer) == 0:
		parts = append(parts, "nothing")
	}
	text := strings.Join(parts, ", ")
	if s := subnetOf(m); s != nil {
		text += fmt.Sprintf(" scope=%d", s.SourceScope)
	}
	return text
}

// describeSets shows records by RRset, in the order in which these came.
func describeSets(rrs []wire.RR, q question) []string {
	var parts []string
	for len(rrs) > 0 {
		h := rrs[0].Header()
		n := 0
		for n < len(rrs) && rrs[n].Header().Rrtype == h.Rrtype && rrs[n].Header().Name == h.Name {
			n++
		}
		data := make([]string, n)
		for i, rr := range rrs[:n] {
			data[i] = strings.TrimPrefix(rr.String(), rr.Header().String())
		}
		if !q.ordered {
			slices.SortFunc(data, byAddress)
		}
		parts = append(parts, fmt.Sprintf("%s %s ttl=%d", wire.TypeToString[h.Rrtype], strings.Join(data, " "), h.Ttl))
		rrs = rrs[n:]
	}
	return parts
}

// byAddress orders addresses by their numbers, and other data as text.
func byAddress(a, b string) int {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	if errX != nil || errY != nil {
		return strings.Compare(a, b)
	}
	return x.Compare(y)
}

// soaTTL tells how long "there is no such data" may be believed.
func soaTTL(m *wire.Msg) string {
	for _, rr := range m.Ns {
		if rr.Header().Rrtype == wire.TypeSOA {
			return fmt.Sprintf(" soa=%d", rr.Header().Ttl)
		}
	}
	return ""
}

// doExplain asks for reasons and shows them line by line. The last line, which names the versions of
// all inputs, is left out: it changes with every word of the script.
func (w *world) doExplain(s *step) error {
	q, err := readExplain(s.words)
	if err != nil {
		return err
	}
	reply, err := w.exchange(q)
	if err != nil {
		return err
	}
	if reply.Rcode != wire.RcodeSuccess {
		w.say("%s", describe(reply, q))
	}
	for _, rr := range reply.Answer {
		if txt, ok := rr.(*wire.TXT); ok {
			if l := unescape(strings.Join(txt.Txt, "")); !strings.HasPrefix(l, "version ") {
				w.say("%s", l)
			}
		}
	}
	return nil
}

func readExplain(words []string) (q question, err error) {
	if len(words) < 2 || len(words)%2 != 0 {
		return q, errors.New("is said as: explain NAME for NETWORK from SOURCE")
	}
	home := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	q = question{name: wire.Fqdn(words[1]), rrtype: wire.TypeTXT, class: wire.ClassCHAOS, over: dns.TCP, from: netip.PrefixFrom(home, 32)}
	for words = words[2:]; len(words) > 0; words = words[2:] {
		p, err := network(words[1])
		switch {
		case err != nil:
			return q, err
		case words[0] == "for":
			q.subnet = p
		case words[0] == "from":
			q.from = p
		default:
			return q, fmt.Errorf("%q is neither for NETWORK nor from SOURCE", words[0])
		}
	}
	return q, nil
}

// unescape undoes what the library does to a text so that it could stand in a master file.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		var code byte
		if n, err := fmt.Sscanf(text[i+1:min(i+4, len(text))], "%3d", &code); n == 1 && err == nil {
			b.WriteByte(code)
			i += 3
			continue
		}
		i++
		b.WriteByte(text[i])
	}
	return b.String()
}
