package admin

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"gslb/dns/steer"
	"gslb/dns/zone"
)

// Explanation is why a client gets what it gets: the lines that dig prints, as objects whose keys
// keep their order, and as the same text.
type Explanation struct {
	Name  string       `json:"name"`
	Lines []steer.Line `json:"lines"`
	Text  []string     `json:"text"`
}

// Question is what reasons are asked for, in the words of a request or of a command line.
type Question struct {
	Name   string
	Client string // an address, or a network as a resolver would send it; one that is private, or else bogus, is where the question comes from; empty: this machine
	Type   string // A or AAAA: only what this type gets; empty: both
}

// asker is where questions come from that no packet brought: dig on the server's own machine.
var asker = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Check says what cannot be understood in the question: a *[BadQuestion], or nil.
func (q Question) Check() error {
	_, err := q.parse()
	return err
}

// parsed is a question that was understood.
type parsed struct {
	name   zone.Name
	subnet steer.Subnet
	only   steer.Only
}

func (q Question) parse() (p parsed, err error) {
	if p.name, err = zone.ParseName(q.Name); err != nil || q.Name == "" {
		return p, &BadQuestion{fmt.Sprintf("name %q: not a domain name", q.Name)}
	}
	if p.subnet, err = parseClient(q.Client); err != nil {
		return p, err
	}
	p.only, err = parseType(q.Type)
	return p, err
}

// client is whom the question is about. A client subnet that servers would not believe is of one who asks by itself, from
// that address: whoever names it wants to know what it gets, as gslb diff tells.
func (p parsed) client(s *steer.Snapshot) steer.Client {
	c := s.Client(asker, p.subnet)
	if p.subnet.Given() && p.subnet.Prefix.Bits() > 0 && !c.ByECS {
		return s.Client(p.subnet.Prefix.Addr(), steer.Subnet{})
	}
	return c
}

// Explain answers a question from a snapshot. The error is a *[BadQuestion] or a *[NotOurs].
func Explain(s *steer.Snapshot, q Question, now time.Time) (Explanation, error) {
	p, err := q.parse()
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Name: strings.TrimSuffix(p.name.String(), ".")}
	lines, _, ours := steer.Explain(s, steer.Question{
		Name: p.name, Client: p.client(s), Only: p.only, Now: now, Seed: rand.Uint64(),
	})
	if !ours {
		return Explanation{}, &NotOurs{e.Name, someZones(s.Policy())}
	}
	e.Lines = lines
	for _, l := range lines {
		e.Text = append(e.Text, l.String())
	}
	return e, nil
}

// someZones are the first few zones, and how many more there are.
func someZones(p *steer.Policy) []string {
	const few = 5
	var names []string
	for i, z := range p.Zones() {
		if i == few {
			return append(names, fmt.Sprintf("and %d more", len(p.Zones())-few))
		}
		names = append(names, strings.TrimSuffix(z.Origin().String(), "."))
	}
	return names
}

// BadQuestion says what cannot be understood in a question.
type BadQuestion struct{ Message string }

func (e *BadQuestion) Error() string { return e.Message }

// NotOurs says that a name lies in no zone of this server.
type NotOurs struct {
	Name  string
	Zones []string // that are, the first few
}

func (e *NotOurs) Error() string {
	words := e.Name + " lies in no zone of this server"
	if len(e.Zones) == 0 {
		return words + ": it has none"
	}
	return words + ": it has " + strings.Join(e.Zones, ", ")
}

// parseClient reads a client as the client subnet that a resolver would send for it: an address is
// its own network. Bits behind the length are cut off, as dig does.
func parseClient(text string) (steer.Subnet, error) {
	if text == "" {
		return steer.Subnet{}, nil
	}
	if p, err := netip.ParsePrefix(text); err == nil {
		return steer.Subnet{Prefix: p.Masked()}, nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return steer.Subnet{}, &BadQuestion{fmt.Sprintf("client %q: not an address such as 203.0.113.7, nor a network such as 203.0.113.0/24", text)}
	}
	return steer.Subnet{Prefix: netip.PrefixFrom(a, a.BitLen())}, nil
}

func parseType(text string) (steer.Only, error) {
	switch strings.ToUpper(text) {
	case "":
		return steer.BothFamilies, nil
	case "A":
		return steer.OnlyIPv4, nil
	case "AAAA":
		return steer.OnlyIPv6, nil
	}
	return steer.BothFamilies, &BadQuestion{fmt.Sprintf("type %q: services give A and AAAA", text)}
}

func (h *handler) explain(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	e, err := Explain(h.Snapshot(), Question{q.Get("name"), q.Get("client"), q.Get("type")}, time.Now())
	switch err.(type) {
	case nil:
		write(w, http.StatusOK, e)
	case *NotOurs:
		refuse(w, http.StatusNotFound, "%v", err)
	default:
		refuse(w, http.StatusBadRequest, "%v", err)
	}
}
