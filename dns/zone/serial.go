package zone

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/miekg/dns"
)

// autoSerial gives the SOA the automatic serial: a hash of what the zone holds, the same on all servers
// with the same config, whatever the order, comments and case of its texts. It does not grow: zone
// transfers by serial (RFC 1982) need a written one.
func (b *builder) autoSerial(z *Zone) {
	h := sha256.New()
	var content []byte
	for _, n := range b.names {
		content = n.content(content[:0], b.spec.Services)
		h.Write(content)
	}
	serial := binary.BigEndian.Uint32(h.Sum(nil))
	z.setSerial(max(serial, 1)) // 0 has a meaning of its own to some servers
	z.auto = true
}

// AutoSerial tells whether the zone's serial is a hash of its content.
func (z *Zone) AutoSerial() bool { return z.auto }

// setSerial writes the serial into the SOA record: it is the first of the five numbers at its end.
func (z *Zone) setSerial(serial uint32) {
	apex := &z.nodes[0]
	for i, set := range apex.sets {
		if set.Type != dns.TypeSOA {
			continue
		}
		data := []byte(set.wire)
		binary.BigEndian.PutUint32(data[len(data)-soaNumbers:], serial)
		apex.sets[i].wire = string(data)
	}
}

// soaNumbers is the octets of the numbers at the end of a SOA record's data.
const soaNumbers = 20

// soaMinimum is the last of them.
func soaMinimum(wire string) uint32 {
	return binary.BigEndian.Uint32([]byte(wire[len(wire)-4:]))
}

// content appends a name's service and RRsets. Every part has its length before it or is of fixed length, so
// different contents cannot run into one.
func (n named) content(to []byte, services []ServiceName) []byte {
	if len(n.records) == 0 && n.service < 0 {
		return to
	}
	to = part(to, string(n.name))
	if n.service >= 0 {
		to = part(to, "service")
		to = part(to, services[n.service].Pinned)
	}
	for _, set := range n.node.sets {
		to = binary.BigEndian.AppendUint32(to, 10) // bytes that follow
		to = binary.BigEndian.AppendUint16(to, set.Type)
		to = binary.BigEndian.AppendUint32(to, set.TTL)
		to = binary.BigEndian.AppendUint32(to, uint32(set.Len()))
		if len(n.records) == 1 {
			to = part(to, n.records[0].rdata)
			continue
		}
		for _, rdata := range n.rdata(set.Type) {
			to = part(to, rdata)
		}
	}
	return to
}

// rdata is the data of one RRset in canonical order, each once.
func (d *draft) rdata(rrtype uint16) []string {
	var all []string
	for _, r := range d.of(rrtype) {
		all = append(all, r.rdata)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func part(to []byte, s string) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(s)))
	return append(to, s...)
}

// canonical folds the names in a record's data to lower case (RFC 4034 section 6.2, RFC 6840 section
// 5.1). The length bytes of a name are no letters, so whole stretches are folded.
func canonical(rrtype uint16, rdata []byte) {
	names := rdata[:0]
	switch rrtype {
	case dns.TypeNS, dns.TypeMD, dns.TypeMF, dns.TypeCNAME, dns.TypeMB, dns.TypeMG, dns.TypeMR, dns.TypePTR,
		dns.TypeMINFO, dns.TypeRP, dns.TypeDNAME:
		names = rdata
	case dns.TypeMX, dns.TypeAFSDB, dns.TypeRT, dns.TypeKX, dns.TypePX:
		names = rdata[2:]
	case dns.TypeSRV:
		names = rdata[6:]
	case dns.TypeSOA:
		names = rdata[:len(rdata)-20]
	case dns.TypeNAPTR:
		names = rdata[4:]
		for range 3 { // flags, services, regular expression
			names = names[1+int(names[0]):]
		}
	}
	for i, c := range names {
		names[i] = lower(c)
	}
}
