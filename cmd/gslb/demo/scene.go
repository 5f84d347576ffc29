package demo

import (
	"embed"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"text/template"
	"time"

	"gslb/config"
)

// scene is all that is particular to this run of the demo: templates are filled from it.
type scene struct {
	DNS, Admin, BGP                netip.AddrPort
	DNSMoved, AdminMoved, BGPMoved string // why a port is not the usual one; empty: it is
	Port                           uint16 // of the places
	PortMoved                      string
	ASN                            int // of the name server
	Places                         []sceneplace
	Partner                        partner
	Interval                       string // as configurations write it
	world                          *world
}

// sceneplace is a place with its address.
type sceneplace struct {
	site
	AddressPort netip.AddrPort
}

// Address is the address that is answered.
func (p sceneplace) Address() netip.Addr { return p.AddressPort.Addr() }

func newScene(w *world, interval time.Duration) scene {
	s := scene{
		DNS: w.dns.address(), DNSMoved: w.dns.moved(),
		Admin: w.admin.address(), AdminMoved: w.admin.moved(),
		BGP: w.bgp.address(), BGPMoved: w.bgp.moved(), ASN: ourASN,
		Port: w.web.number, PortMoved: w.web.moved(),
		Partner: sibtel(w.bgp.port), Interval: config.Duration(interval), world: w,
	}
	for _, p := range w.places {
		s.Places = append(s.Places, sceneplace{p.site, p.address})
	}
	return s
}

// viewer is a client through whose eyes answers are watched.
type viewer struct {
	Name   string // that is asked for
	From   string // in words
	Client string // its network
}

func (s scene) viewers() []viewer {
	return []viewer{
		{"www.demo.test", "a client in Russia", "77.88.8.0/24"},
		{"www.demo.test", "a client in Germany", "46.4.0.0/24"},
		s.guest(),
	}
}

// guest is the viewer who is a client of the partner.
func (s scene) guest() viewer {
	return viewer{"video.demo.test", "a client of " + s.Partner.Name, s.Partner.Networks[0].String()}
}

// playbill is what the start screen shows.
type playbill struct {
	scene
	Folder string
	Geo    string
	Tries  []try
}

// try is something that is worth trying.
type try struct {
	About    string
	Commands []string
}

// with completes a scene to what the start screen shows.
func (s scene) with(f folder, geo string) playbill {
	b := playbill{scene: s, Folder: string(f), Geo: geo}
	if date, ok := strings.CutPrefix(geo, "builtin "); ok {
		b.Geo = "built-in countries of " + date
	}
	b.Tries = s.tries(f)
	return b
}

func (s scene) tries(f folder) []try {
	dig := fmt.Sprintf("dig @%s -p %d ", s.DNS.Addr(), s.DNS.Port())
	var ask []string
	for _, v := range s.viewers() {
		ask = append(ask, fmt.Sprintf("%s%s +short +subnet=%s", dig, v.Name, v.Client))
	}
	first, guest := s.Places[0], s.guest()
	verb := func(words string) string { return fmt.Sprintf("%s %s -c %s", f.shown(), words, shell(f.config())) }
	web := "curl -X POST http://" + first.AddressPort.String()
	return []try{
		{"Ask, in another terminal: as a client in Russia, one in Germany, one of " + s.Partner.Name, ask},
		{"Ask why", []string{
			fmt.Sprintf("%sCH TXT %s +short +subnet=%s", dig, guest.Name, guest.Client),
			verb("explain " + guest.Name + " --client " + guest.Client),
		}},
		{fmt.Sprintf("Break %s: it is withdrawn at the 10th failed check, and restored at the 20th good one", first.Name),
			[]string{web + "/break", web + "/heal"}},
		{"Drain it, and end the drain", []string{verb("drain " + first.Name), verb("undrain " + first.Name)}},
		{"Lose the partner, by words to type here: severed, its networks stay, stale, for " + s.Partner.Stale + "; withdrawn, they leave",
			[]string{"sever " + s.Partner.Name + "      and back: restore " + s.Partner.Name,
				"withdraw " + s.Partner.Name + "   and back: announce " + s.Partner.Name}},
		{"See how everything stands", []string{verb("status"), verb("partners")}},
	}
}

// templates are what is written and shown. Embedded files cannot change.
//
//go:embed *.tmpl
var templates embed.FS

func showScreen(t *teller, b playbill) error {
	var text strings.Builder
	if err := fill(&text, "screen.tmpl", t, b); err != nil {
		return err
	}
	_, err := io.WriteString(t.out, text.String())
	return err
}

// fill writes a template; what is bold in it, the teller paints.
func fill[T any](w io.Writer, name string, t *teller, data T) error {
	words := template.FuncMap{"bold": func(s string) string { return t.paint(bold, s) }}
	parsed, err := template.New(name).Funcs(words).ParseFS(templates, name)
	if err != nil {
		return err
	}
	return parsed.Execute(w, data)
}
