package dns

import (
	"slices"

	"gslb/dns/steer"
)

// register says what answers of one configuration are counted by. All workers have the same one.
type register struct {
	config   uint64
	shape    uint64          // a number of the services with their places: the same if these are the same as in the register before
	services []servicePlaces // by their index in the policy
	origins  []string        // of zones, by their index in the policy
}

// servicePlaces says where the cells of a service are: one for answers that gave no place, and one for each of its
// members, in their order.
type servicePlaces struct {
	name   string
	places []string // shared with the policy's other snapshots: nobody writes to it
	first  int      // in the page of the service
}

// pageServices is how many services have their cells in one piece of memory, which is made when the first of them is
// asked for: few enough for that to take no time, enough for pages to be few.
const pageServices = 64

func newRegister(p *steer.Policy, config uint64) *register {
	r, first := &register{config: config}, 0
	for i, svc := range p.Services() {
		if i%pageServices == 0 {
			first = 0
		}
		r.services = append(r.services, servicePlaces{svc.Name(), svc.Places(), first})
		first += 1 + len(svc.Places())
	}
	for _, z := range p.Zones() {
		r.origins = append(r.origins, z.Origin().String())
	}
	return r
}

// pageSize is the number of cells in a page.
func (r *register) pageSize(page int) int {
	last := &r.services[min((page+1)*pageServices, len(r.services))-1]
	return last.first + 1 + len(last.places)
}

// alike tells whether two registers have the same services and places, in the same order.
func (r *register) alike(o *register) bool {
	return slices.EqualFunc(r.services, o.services, func(x, y servicePlaces) bool { return x.name == y.name && slices.Equal(x.places, y.places) })
}

// registersKept is of how many configurations the registers are kept: of the one in force, and of the one to come.
const registersKept = 2

// Expect prepares for counting the answers of another configuration, so that no answer has to wait for that when the
// configuration is put in force. What was counted for configurations that are gone is summed up by name, so that it
// does not pile up where nobody asks for the sums.
func (c *Counts) Expect(p *steer.Policy, config uint64) {
	c.register(p, config)
	c.sums.Lock()
	defer c.sums.Unlock()
	c.close()
}

// register gives the register of a configuration, which it makes unless there is one.
func (c *Counts) register(p *steer.Policy, config uint64) *register {
	known, last := c.registered(config)
	if known != nil {
		return known
	}
	r := newRegister(p, config)
	if last != nil {
		r.shape = last.shape
		if !r.alike(last) {
			r.shape++
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.registers = append(c.registers, r)
	c.registers = c.registers[max(0, len(c.registers)-registersKept):]
	return r
}

// registered gives the register of a configuration, or nil, and the newest of all.
func (c *Counts) registered(config uint64) (known, last *register) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.registers {
		last = r
		if r.config == config {
			known = r
		}
	}
	return known, last
}
