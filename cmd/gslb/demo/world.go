package demo

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// site is what is known of a datacenter or a CDN site before it is open.
type site struct {
	Name      string
	About     string // what it is and where
	Latitude  float64
	Longitude float64
	Partner   string // whose clients alone get it; empty: a datacenter, for everybody
}

// sites are the places of the demo, in the order of their addresses.
func sites() []site {
	return []site{
		{Name: "msk-1", About: "datacenter in Moscow", Latitude: 55.75, Longitude: 37.62},
		{Name: "msk-2", About: "datacenter near Moscow", Latitude: 55.80, Longitude: 37.20},
		{Name: "fra", About: "datacenter in Frankfurt", Latitude: 50.11, Longitude: 8.68},
		{Name: "nsk", About: "CDN site in Novosibirsk", Latitude: 55.03, Longitude: 82.92, Partner: "sibtel"},
	}
}

// partner is a network that has a site inside it, and a router that announces its prefixes.
type partner struct {
	Name     string
	Site     string
	ASN      int
	Router   netip.AddrPort
	Networks []netip.Prefix
	Stale    string // for how long they outlive a lost session, as configurations write it
}

// sibtel announces networks that nobody has in the real world. Its router has a loopback address like
// the places.
func sibtel(bgp port) partner {
	return partner{
		Name: "sibtel", Site: "nsk", ASN: 64501, Router: netip.AddrPortFrom(neighbour(routerAddress), bgp.number),
		Networks: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("2001:db8:203::/48")},
		Stale:    "1m",
	}
}

// List names the partner's networks.
func (p partner) List() string {
	var words []string
	for _, n := range p.Networks {
		words = append(words, n.String())
	}
	return strings.Join(words, " and ")
}

// world is all places, open, and the ports that the name server is to have.
type world struct {
	places []*place
	web    port // of all places: they share a check
	dns    claim
	admin  claim
	bgp    claim // of the partner's router too, on its own address
}

// Where everything is when nobody else is there.
const (
	usualWeb   = 8080
	usualDNS   = 5353
	usualAdmin = 8053
	usualBGP   = 1790
)

const (
	ourASN        = 64512 // of the name server, for private use (RFC 6996)
	routerAddress = 179   // last octet, besides those of the places
)

// openWorld opens all places on one port, and claims the ports for the name server.
func openWorld(t *teller) (w *world, err error) {
	w = &world{}
	var doors []net.Listener
	if w.web, doors, err = firstFree(usualWeb, openDoors); err != nil {
		return nil, fmt.Errorf("the places cannot be opened: %w", err)
	}
	for i, s := range sites() {
		w.places = append(w.places, openPlace(s, doors[i], t))
	}
	if w.dns, err = claimPort(usualDNS, tryDNS); err != nil {
		w.close()
		return nil, fmt.Errorf("DNS: %w", err)
	}
	if w.admin, err = claimPort(usualAdmin, tryTCP); err != nil {
		w.close()
		return nil, fmt.Errorf("admin: %w", err)
	}
	if w.bgp, err = claimPort(usualBGP, tryBGP); err != nil {
		w.close()
		return nil, fmt.Errorf("BGP: %w", err)
	}
	return w, nil
}

// openDoors listens on the addresses of all places, or on none.
func openDoors(port uint16) ([]net.Listener, error) {
	var doors []net.Listener
	for i := range sites() {
		door, err := net.Listen("tcp", netip.AddrPortFrom(neighbour(byte(i+1)), port).String())
		if err != nil {
			for _, d := range doors {
				_ = d.Close()
			}
			return nil, err
		}
		doors = append(doors, door)
	}
	return doors, nil
}

// neighbour is one of the loopback addresses that the demo makes its own.
func neighbour(last byte) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 10, last}) }

func (w *world) close() {
	for _, p := range w.places {
		p.close()
	}
	w.dns.release()
	w.admin.release()
	w.bgp.release()
}

// find gives the places that a word means: one, or all of them.
func (w *world) find(word string) ([]*place, error) {
	if word == "all" {
		return w.places, nil
	}
	var names []string
	for _, p := range w.places {
		if p.Name == word {
			return []*place{p}, nil
		}
		names = append(names, p.Name)
	}
	return nil, fmt.Errorf("which place? One of %s, or all", strings.Join(names, ", "))
}

// name gives an address together with the place that has it.
func (w *world) name(address string) string {
	for _, p := range w.places {
		if p.address.Addr().String() == address {
			return p.Name + " " + address
		}
	}
	return address
}
