package sim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	wire "github.com/miekg/dns"

	"gslb/dns"
)

// question is what one ask or explain wants to know.
type question struct {
	name    string
	rrtype  uint16
	class   uint16
	from    netip.Prefix // where the packet comes from: a random address of it
	subnet  netip.Prefix // client subnet; the zero Prefix: none
	over    dns.Transport
	times   int
	ordered bool
	bytes   bool
}

// mostTimes bounds how often one question is asked.
const mostTimes = 100_000

func (w *world) doAsk(s *step) error {
	q, err := readAsk(s.words)
	if err != nil {
		return err
	}
	if q.times == 0 {
		reply, err := w.exchange(q)
		if err != nil {
			return err
		}
		w.say("%s", describe(reply, q))
		if q.bytes {
			w.say("subnet sent % x", subnetBytes(subnetOption(q.subnet)))
			w.say("subnet back % x", subnetBytes(subnetOf(reply)))
		}
		return nil
	}
	shares := map[string]int{}
	for range q.times {
		reply, err := w.exchange(q)
		if err != nil {
			return err
		}
		shares[describe(reply, q)]++
	}
	w.sayShares(shares, q.times)
	return nil
}

// sayShares shows how often each answer was given, the most frequent first. Luck is rounded away.
func (w *world) sayShares(shares map[string]int, total int) {
	percent := func(answer string) int { return 5 * ((shares[answer]*20 + total/2) / total) }
	order := slices.SortedFunc(maps.Keys(shares), func(a, b string) int {
		return cmp.Or(cmp.Compare(percent(b), percent(a)), cmp.Compare(a, b))
	})
	for _, answer := range order {
		switch {
		case shares[answer] == total:
			w.say("always %s", answer)
		default:
			w.say("~%d%% %s", percent(answer), answer)
		}
	}
}

func readAsk(words []string) (q question, err error) {
	if len(words) < 3 {
		return q, errors.New("is said as: ask NAME TYPE from CLIENT")
	}
	q = question{name: wire.Fqdn(words[1]), class: wire.ClassINET}
	rrtype, known := wire.StringToType[words[2]]
	if _, ok := wire.IsDomainName(q.name); !ok || !known {
		return q, fmt.Errorf("%s %s is not a name and a type", words[1], words[2])
	}
	q.rrtype = rrtype
	for words = words[3:]; len(words) > 0; {
		n, err := q.option(words)
		if err != nil {
			return q, err
		}
		words = words[n:]
	}
	if !q.from.IsValid() {
		return q, errors.New("a question has a client: from ADDRESS")
	}
	return q, nil
}

// option reads one option at the beginning of the words, and gives how many of them it took.
func (q *question) option(words []string) (n int, err error) {
	times, repeated := strings.CutPrefix(words[0], "x")
	switch word := words[0]; {
	case (word == "from" || word == "ecs") && len(words) > 1:
		p, err := network(words[1])
		if word == "from" {
			q.from = p
		} else {
			q.subnet = p
		}
		return 2, err
	case word == "tcp":
		q.over = dns.TCP
	case word == "ordered":
		q.ordered = true
	case word == "bytes":
		q.bytes = true
	case repeated:
		q.times, err = strconv.Atoi(times)
		if err != nil || q.times < 1 || q.times > mostTimes {
			return 0, fmt.Errorf("%q is not how often, up to x%d", word, mostTimes)
		}
	default:
		return 0, fmt.Errorf("%q is none of from CLIENT, ecs NETWORK, tcp, x1000, ordered, bytes", word)
	}
	return 1, nil
}

// network reads a network, or an address as a network of its own.
func network(word string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(word); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(word)
	if err != nil {
		return p, fmt.Errorf("%q is neither an address nor a network", word)
	}
	return p.Masked(), nil
}

// exchange packs the question, hands it to the server and unpacks its answer.
func (w *world) exchange(q question) (*wire.Msg, error) {
	m := &wire.Msg{Question: []wire.Question{{Name: q.name, Qtype: q.rrtype, Qclass: q.class}}}
	if q.subnet.IsValid() {
		m.SetEdns0(1232, false)
		m.IsEdns0().Option = []wire.EDNS0{subnetOption(q.subnet)}
	}
	packet, err := m.Pack()
	if err != nil {
		return nil, fmt.Errorf("pack the question: %w", err)
	}
	reply := w.server.responder.Respond(w.server.publisher.Latest(), dns.Request{
		Packet: packet, Source: draw(q.from, w.luck), Over: q.over, Now: w.now, Seed: w.luck.Uint64(),
	}, nil)
	if reply == nil {
		return nil, errors.New("the server says nothing")
	}
	var answer wire.Msg
	if err := answer.Unpack(reply); err != nil {
		return nil, fmt.Errorf("unpack the answer: %w", err)
	}
	return &answer, nil
}

// draw gives a random address of a network.
func draw(p netip.Prefix, luck *rand.Rand) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < p.Addr().BitLen(); i++ {
		if luck.Uint64()&1 == 1 {
			b[i/8] |= 0x80 >> (i % 8)
		}
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// subnetOption is a client subnet as resolvers send it (RFC 7871 section 6): all octets that the
// source prefix length needs, and no more.
func subnetOption(p netip.Prefix) *wire.EDNS0_SUBNET {
	o := &wire.EDNS0_SUBNET{Code: wire.EDNS0SUBNET, Family: 2, SourceNetmask: uint8(p.Bits()), Address: p.Addr().AsSlice()}
	if p.Addr().Is4() {
		o.Family = 1
	}
	return o
}

// subnetOf gives the client subnet of an answer, or nil.
func subnetOf(m *wire.Msg) *wire.EDNS0_SUBNET {
	if o := m.IsEdns0(); o != nil {
		for _, option := range o.Option {
			if s, ok := option.(*wire.EDNS0_SUBNET); ok {
				return s
			}
		}
	}
	return nil
}

// subnetBytes gives an option as it stands in a packet.
func subnetBytes(s *wire.EDNS0_SUBNET) []byte {
	if s == nil {
		return nil
	}
	octets := s.Address.To16()
	if s.Family == 1 {
		octets = s.Address.To4()
	}
	octets = octets[:min(len(octets), (int(s.SourceNetmask)+7)/8)]
	return append([]byte{byte(s.Family >> 8), byte(s.Family), s.SourceNetmask, s.SourceScope}, octets...)
}
