package sign

import (
	"sync"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// compact proves by a record for each name that is asked for: there is nothing between it and the name that follows at
// once (RFC 9824). What is made is kept for those who ask again.
type compact struct {
	z    *Zone
	mu   sync.Mutex
	made [2]map[asked]*Record // the newer ones first
}

// asked is a name with what is said of it.
type asked struct {
	name zone.Name
	set  zone.RRset
}

// manyAsked is how many records of names are kept at least, and half of the most.
const manyAsked = 8192

// TypeNXNAME is in the record of a name that does not exist. Nobody may ask for it (RFC 9824 section 3.4).
const TypeNXNAME = 128

func newCompact(z *Zone) *compact {
	return &compact{z: z, made: [2]map[asked]*Record{{}, {}}}
}

// kept gives the record of a name, a new one where there is none.
func (c *compact) kept(name zone.Name, set zone.RRset) *Record {
	key := asked{name, set}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.made[0][key]; r != nil {
		return r
	}
	r := c.made[1][key]
	if r == nil {
		own := zone.Name([]byte(name)) // a name in a question is good for as long as that is
		key.name, r = own, &Record{owner: own, set: set}
	}
	key.name = r.owner
	if len(c.made[0]) >= manyAsked {
		c.made[1], c.made[0] = c.made[0], map[asked]*Record{}
	}
	c.made[0][key] = r
	return r
}

// signature gives the signature of an RRset of a wildcard for a name that it stands in for: as if the name existed.
func (c *compact) signature(owner zone.Name, set zone.RRset, now uint32) *Signature {
	return c.z.Confirmed(c.kept(owner, set), now)
}

// only is the record that a name has these types, and that nothing follows before the next possible name.
func (c *compact) only(name zone.Name, types []uint16) *Record {
	data := name.AppendNext(nil, c.z.plain.Origin())
	return c.kept(name, zone.NewRRset(dns.TypeNSEC, c.z.plain.DenialTTL(), string(appendBitmap(data, insert(types, dns.TypeRRSIG, dns.TypeNSEC)))))
}

func (c *compact) missing(to []*Record, name, _ zone.Name) []*Record {
	return append(to, c.only(name, []uint16{TypeNXNAME}))
}

// A wildcard's records are signed under the name itself, so there is nothing to prove.
func (c *compact) expanded(to []*Record, _, _ zone.Name) []*Record { return to }

func (c *compact) nodata(to []*Record, node *zone.Node, without Lack) []*Record {
	return append(to, c.only(node.Name(), c.z.types(node, c.z.apex.Load().sets, without)))
}

func (c *compact) standIn(to []*Record, name, _ zone.Name, wild *zone.Node, without Lack) []*Record {
	return append(to, c.only(name, c.z.types(wild, nil, without)))
}

func (c *compact) records() []*Record { return nil }

// forget drops what was made: the keys are others.
func (c *compact) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = [2]map[asked]*Record{{}, {}}
}
