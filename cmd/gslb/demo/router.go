package demo

import (
	"fmt"
	"io"
	"strconv"
	"sync"
)

// AnnouncerVerb is the verb of gslb that is a partner's router.
const AnnouncerVerb = "bgp-announcer"

// router is the partner's: a BGP speaker of its own, as a child, that announces the partner's networks
// to the name server in a real session.
type router struct {
	partner partner
	start   func() (*child, error)
	tell    *teller
	watch   sync.WaitGroup

	mu    sync.Mutex
	child *child // nil: it does not run
}

// newRouter gives a router that does not run yet.
func newRouter(program string, f folder, s scene, t *teller) *router {
	p := s.Partner
	verb := []string{
		AnnouncerVerb, "--asn", strconv.Itoa(p.ASN), "--router-id", p.Router.Addr().String(), "--local", p.Router.String(),
		"--peer", s.BGP.String(), "--peer-asn", strconv.Itoa(s.ASN),
	}
	for _, n := range p.Networks {
		verb = append(verb, n.String())
	}
	start := func() (*child, error) { return startChild(p.Name+"'s router", program, f.in(p.Name+".log"), verb...) }
	return &router{partner: p, start: start, tell: t}
}

// routerWords are what can be typed about a partner.
func routerWords() []string { return []string{"announce", "withdraw", "sever", "restore"} }

// obey does what a word says, and tells of it.
func (r *router) obey(word string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := r.partner.Name
	switch {
	case word == "restore" && r.child != nil:
		r.tell.say(dim, name+"'s router runs already")
	case word == "restore":
		r.tell.say(note, name+"'s router is started again")
		return r.open()
	case r.child == nil:
		return fmt.Errorf("%s's router does not run; restore %s starts it again", name, name)
	case word == "sever":
		r.tell.say(note, name+"'s router was killed (kill -9): its session ends without a word")
		r.sever()
	default: // the router knows the word
		r.tell.say(note, fmt.Sprintf("%s %ss its %d prefixes: %s", name, word, len(r.partner.Networks), r.partner.List()))
		_, err := io.WriteString(r.child.stdin, word+"\n")
		return err
	}
	return nil
}

// open starts the router. The caller holds mu, or is the only one that knows the router.
func (r *router) open() error {
	c, err := r.start()
	if err != nil {
		return err
	}
	r.child = c
	r.watch.Go(func() {
		<-c.ended
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.child == c {
			r.child = nil
			r.tell.say(bad, c.died().Error())
		}
	})
	return nil
}

// sever kills the router. The caller holds mu.
func (r *router) sever() {
	c := r.child
	r.child = nil
	c.kill()
}

func (r *router) close() {
	r.mu.Lock()
	if r.child != nil {
		r.sever()
	}
	r.mu.Unlock()
	r.watch.Wait()
}
