package config

import (
	"fmt"
	"net/netip"
	"slices"
)

// checker judges what a form cannot see: whether names are known and values fit each other. It says
// nothing about what the reader complained of already.
type checker struct {
	*reader
	c        *Config
	checks   vocabulary
	places   vocabulary
	sites    vocabulary
	maps     vocabulary
	services vocabulary

	partnersOnly map[string]bool // by place
}

// vocabulary is the names of one kind that may be referred to.
type vocabulary struct {
	noun  string
	words []string
	known map[string]bool
}

func vocabularyOf[T any](noun string, things []T, name func(T) string) vocabulary {
	v := vocabulary{noun: noun, known: make(map[string]bool, len(things))}
	for _, t := range things {
		v.words = append(v.words, name(t))
		v.known[name(t)] = true
	}
	return v
}

func newChecker(r *reader, c *Config) *checker {
	place := func(p Place) string { return p.Name }
	k := &checker{
		reader:   r,
		c:        c,
		checks:   vocabularyOf("check", c.Checks, func(ch Check) string { return ch.Name }),
		places:   vocabularyOf("place", c.Places, place),
		maps:     vocabularyOf("map", c.Maps, func(m Map) string { return m.Name }),
		services: vocabularyOf("service", c.Services, func(s Service) string { return s.Name }),

		partnersOnly: c.partnersOnly(),
	}
	var sites []Place
	for _, p := range c.Places {
		if p.Kind == Site {
			sites = append(sites, p)
		}
	}
	k.sites = vocabularyOf("site", sites, place)
	return k
}

// all judges the whole config.
func (k *checker) all() {
	k.doors()
	k.adminDoor()
	k.adminTokens()
	for _, ch := range k.c.Checks {
		k.check(ch)
	}
	k.placeNames()
	for _, p := range k.c.Places {
		k.uplink(p)
	}
	k.brake()
	for _, p := range k.c.Partners {
		k.partner(p)
	}
	k.peerAddresses()
	for _, m := range k.c.Maps {
		k.geoMap(m)
	}
	k.allServices()
	k.distances()
	k.zones()
	for i, d := range k.c.Drains {
		k.drain(itemPath("drains", i), d)
	}
}

// error notes what is wrong at a path, or at the nearest key above it that the operator wrote.
func (k *checker) error(path, format string, args ...any) {
	k.note(Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// warn notes what is likely not meant, or not done yet.
func (k *checker) warn(path, format string, args ...any) {
	k.note(Problem{Path: path, Message: fmt.Sprintf(format, args...), Warning: true})
}

func (k *checker) note(p Problem) {
	for above := p.Path; ; above = parentPath(above) {
		if pos, ok := k.c.positions.of(above); ok || above == "" {
			p.Pos = pos
			break
		}
	}
	k.problems = append(k.problems, p)
}

// given tells whether the operator wrote the key.
func (k *checker) given(path string) bool {
	_, ok := k.c.positions.of(path)
	return ok
}

// sound tells whether the keys of a mapping, or all of it, were read without a fault.
func (k *checker) sound(path string, keys ...string) bool {
	switch {
	case len(k.spoilt) == 0:
		return true
	case len(keys) == 0:
		return !k.spoilt[path]
	}
	for _, key := range keys {
		if k.spoilt[keyPath(path, key)] {
			return false
		}
	}
	return true
}

// refer checks that a name that stands at a path is known.
func (k *checker) refer(path, name string, to vocabulary) bool {
	if name == "" || k.spoilt[path] {
		return false
	}
	if !to.known[name] {
		k.error(path, "no %s is named %s%s", to.noun, name, k.meant(name, to.words))
	}
	return to.known[name]
}

// doors checks that no two of the addresses that are listened on want one socket.
func (k *checker) doors() {
	if d := k.c.Server.Dnstap; d != nil && (d.File == "") == (d.Socket == "") && k.sound("server.dnstap", "file", "socket") {
		k.error("server.dnstap", "needs file or socket, one of the two")
	}
	listen := k.c.Server.Listen
	for i, l := range listen {
		for _, other := range listen[:i] {
			if Overlap(l, other) && k.sound("server.listen") {
				k.error(itemPath("server.listen", i), "%s and %s have an address in common: leave one out", l, other)
			}
		}
		switch {
		case l == k.c.Admin.Listen:
			k.error("admin.listen", "%s is an address of server.listen, too", l)
		case Overlap(l, k.c.Admin.Listen):
			k.error("admin.listen", "%s has an address in common with %s of server.listen", k.c.Admin.Listen, l)
		}
	}
	var udp []door
	for _, l := range listen {
		udp = append(udp, door{l, "server.listen"})
	}
	tcp := append(slices.Clone(udp), door{k.c.Admin.Listen, "admin.listen"})
	tcp = k.secureDoors("server.tls.listen", k.c.Server.TLS, tcp)
	k.secureDoors("server.https.listen", k.c.Server.HTTPS, tcp)
	k.secureDoors("server.quic.listen", k.c.Server.QUIC, udp) // UDP has ports of its own
}

// door is an address that is listened on, and the key that says so.
type door struct {
	at   netip.AddrPort
	path string
}

// secureDoors checks the addresses of a transport against those that are taken, and gives both.
func (k *checker) secureDoors(path string, s *Secure, taken []door) []door {
	if s == nil {
		return taken
	}
	for i, l := range s.Listen {
		for _, other := range taken {
			if Overlap(l, other.at) && k.sound(path) {
				k.error(itemPath(path, i), "%s has an address in common with %s of %s", l, other.at, other.path)
			}
		}
		taken = append(taken[:len(taken):len(taken)], door{l, path})
	}
	return taken
}

// adminDoor checks that nobody from elsewhere reaches a door that any may enter, or where what is said can be read.
func (k *checker) adminDoor() {
	admin := k.c.Admin
	if !admin.Listen.IsValid() || admin.Listen.Addr().IsLoopback() || !k.sound("admin", "listen", "tls", "tokens") {
		return
	}
	switch {
	case admin.TLS == nil && len(admin.Tokens) == 0:
		k.error("admin.listen", "%s can be reached from elsewhere: that takes tls and tokens; or listen on 127.0.0.1", admin.Listen)
	case admin.TLS == nil:
		k.error("admin.listen", "%s can be reached from elsewhere, where tokens would be read on the way: that takes tls; or listen on 127.0.0.1", admin.Listen)
	case len(admin.Tokens) == 0:
		k.error("admin.listen", "%s can be reached from elsewhere by anybody: that takes tokens; or listen on 127.0.0.1", admin.Listen)
	}
}

// adminTokens checks that every token is that of one, and of somebody: what is shown tells who asks, and so what may be done.
func (k *checker) adminTokens() {
	names := map[string]string{"": ""} // by hash; one that could not be read is that of nobody
	for _, t := range k.c.Admin.Tokens {
		path := keyPath("admin.tokens", t.Name) + ".token"
		switch first, twice := names[t.Hash]; {
		case t.Hash == emptyToken:
			k.warn(path, emptyTokenWords)
		case first != "":
			k.error(path, "is the token of %s, too: at %s; each needs one of its own", first, k.c.At(keyPath("admin.tokens", first)+".token"))
		case !twice:
			names[t.Hash] = t.Name
		}
	}
}

// emptyToken is the hash of no text at all, as a shell makes it of a variable that is not set.
const (
	emptyToken      = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	emptyTokenWords = "lets nobody in: it is the hash of an empty token"
)

// placeNames checks that no name is both a datacenter's and a site's.
func (k *checker) placeNames() {
	kinds := make(map[string]PlaceKind, len(k.c.Places))
	for _, p := range k.c.Places {
		if kind, ok := kinds[p.Name]; ok && kind != p.Kind {
			k.error(keyPath("sites", p.Name), "is a datacenter, too: at %s; a place is one or the other", k.c.At(keyPath("datacenters", p.Name)))
		}
		kinds[p.Name] = p.Kind
	}
}

// drain checks that a drain drains something.
func (k *checker) drain(path string, d Drain) {
	place := k.refer(path+".target", d.Target, k.places)
	service := k.refer(path+".service", d.Service, k.services)
	if !place || !service {
		return
	}
	for _, s := range k.c.Services {
		if s.Name == d.Service && !s.gives(d.Target) && k.sound("services."+s.Name+".at") {
			k.warn(path+".service", "%s has no address in %s: nothing is drained", d.Service, d.Target)
		}
	}
}

// gives tells whether a place is part of the service.
func (s Service) gives(place string) bool {
	for _, m := range s.At {
		if m.Place == place {
			return true
		}
	}
	return false
}
