package screen

import (
	"bytes"
	"encoding/binary"
)

// approach is what an error asks for, in the order of strength of RFC 7606 section 2.
type approach uint8

const (
	accept approach = iota
	discard
	withdraw
	reset
)

// fault is one error in an UPDATE; subcode and data are those of the NOTIFICATION that tells of it,
// should it end the session.
type fault struct {
	approach approach
	reason   Reason
	subcode  uint8
	data     []byte
}

// update is one UPDATE message, taken apart.
type update struct {
	session Session

	withdrawn, announced routes // the fields of RFC 4271
	reach, unreach       multiprotocol

	attributes int                    // how many came
	seen       [4]uint64              // their codes, one bit each
	values     [attributeCodes][]byte // what is worth keeping of the first of each
	hop        attribute              // NEXT_HOP, judged when the rest is known

	worst   fault
	dropped int
}

// multiprotocol is what an MP_REACH_NLRI or MP_UNREACH_NLRI says (RFC 4760).
type multiprotocol struct {
	came    bool
	foreign bool // of a family that was not agreed on, so that its prefixes are not read
	routes  routes
	nextHop []byte // 4 or 16 octets
}

func (s *Session) update(message []byte) Verdict {
	u := update{session: *s}
	body := message[HeaderLength:]
	withdrawn, rest, ok := field(body, 2)
	if !ok {
		return u.end(fault{reason: AttributeList, subcode: updateAttributeList})
	}
	attributes, announced, ok := field(rest, 2)
	if !ok {
		return u.end(fault{reason: AttributeList, subcode: updateAttributeList})
	}
	if !u.readFields(withdrawn, announced) {
		return u.end(fault{reason: BadPrefix, subcode: updateNetworkField})
	}
	u.readAttributes(attributes)
	u.finish()
	if u.worst.approach == reset {
		return u.end(u.worst)
	}
	if f, ok := u.endOfRIB(len(attributes)); ok {
		return Verdict{Forward: endOfRIB(f)}
	}
	return u.write(len(message))
}

func (u *update) end(f fault) Verdict {
	return Verdict{Notify: &Notification{Code: codeUpdate, Subcode: f.subcode, Data: f.data}, Reason: f.reason}
}

// found notes an error; of several the first of the strongest approach stays.
func (u *update) found(f fault) {
	if f.approach > u.worst.approach {
		u.worst = f
	}
}

// readFields reads the prefixes outside the attributes. They must be well-formed even where IPv4
// was not agreed on and they are ignored.
func (u *update) readFields(withdrawn, announced []byte) (ok bool) {
	paths := u.session.IPv4.AddPath
	if u.withdrawn, ok = readRoutes(ipv4, paths, withdrawn); !ok {
		return false
	}
	u.announced, ok = readRoutes(ipv4, paths, announced)
	return ok
}

// readAttributes walks the path attributes. Where one is cut off by the end of them all, nothing
// after it can be read (RFC 7606 section 4); where that one holds prefixes they are lost, and the
// session with them (section 3 (j)).
func (u *update) readAttributes(b []byte) {
	for len(b) > 0 && u.worst.approach < reset {
		a, rest, ok := nextAttribute(b)
		switch {
		case ok:
			u.read(a)
		case a.code == attrReach || a.code == attrUnreach:
			u.found(fault{reset, BadMultiprotocol, updateOptional, b})
		default:
			u.attributes++
			u.found(fault{withdraw, AttributeList, updateAttributeList, nil})
		}
		b = rest
	}
}

// read judges one attribute and keeps its value where it is well-formed.
func (u *update) read(a attribute) {
	u.attributes++
	if !u.first(a.code) {
		u.again(a)
		return
	}
	r, known := u.session.rule(a.code)
	old := a.code == attrAS4Path || a.code == attrAS4Aggregator
	switch {
	case !known && a.flags&flagOptional == 0:
		u.found(fault{reset, UnknownWellKnown, updateUnknownWellKnown, a.whole})
	case !known, old && u.session.FourOctetAS: // RFC 6793 section 4.1
		u.dropped++
	case r.internal && !u.session.Internal:
		u.drop(InternalAttribute)
	case a.code == attrNextHop:
		u.hop = a
	case a.code == attrReach:
		u.checkFlags(a, r)
		u.readReach(a)
	case a.code == attrUnreach:
		u.checkFlags(a, r)
		u.readUnreach(a)
	default:
		u.judge(a, r)
	}
}

// first tells whether the attribute comes for the first time.
func (u *update) first(code byte) bool {
	word, mask := &u.seen[code/64], uint64(1)<<(code%64)
	if *word&mask != 0 {
		return false
	}
	*word |= mask
	return true
}

func (u *update) came(code byte) bool { return u.seen[code/64]>>(code%64)&1 != 0 }

// again is RFC 7606 section 3 (g): the first of several counts, but prefixes may come only once.
func (u *update) again(a attribute) {
	if a.code == attrReach || a.code == attrUnreach {
		u.found(fault{reset, DuplicateAttribute, updateAttributeList, nil})
		return
	}
	u.drop(DuplicateAttribute)
}

// drop is attribute discard.
func (u *update) drop(why Reason) {
	u.dropped++
	u.found(fault{approach: discard, reason: why})
}

// checkFlags tells whether the flags of an attribute are right. Wrong ones withdraw whatever the attribute (RFC 7606
// section 3 (c)), also one of prefixes, as long as these can be read (section 3 (j)).
func (u *update) checkFlags(a attribute, r rule) bool {
	right := (a.flags^r.flags)&(flagOptional|flagTransitive) == 0
	if !right {
		u.found(fault{withdraw, AttributeFlags, updateAttributeFlags, a.whole})
	}
	return right
}

// judge checks flags, length and value of an attribute.
func (u *update) judge(a attribute, r rule) {
	if !u.checkFlags(a, r) {
		return
	}
	f := fault{r.wrong, AttributeLength, updateAttributeLength, a.whole}
	if r.lengths.allow(len(a.value)) {
		f.reason, f.subcode = u.session.value(a)
	}
	switch {
	case f.reason != NoReason:
		u.found(f)
	case a.code == attrExtended:
		u.values[a.code] = plainCommunities(a.value)
	case a.code == attrLarge:
		u.values[a.code] = distinctCommunities(a.value)
	default:
		u.values[a.code] = a.value
	}
	if !r.passed {
		u.dropped++
	}
}

// value checks a value of the right length.
func (s *Session) value(a attribute) (Reason, uint8) {
	switch a.code {
	case attrOrigin:
		if a.value[0] > 2 {
			return BadOrigin, updateOrigin
		}
	case attrASPath:
		if !wellFormed(a.value, s.asWidth(), false) {
			return BadASPath, updateASPath
		}
	case attrAS4Path:
		if len(a.value) < 6 || !wellFormed(a.value, 4, true) {
			return BadASPath, updateASPath
		}
	case attrNextHop:
		if !s.hopAddress(a.value) {
			return BadNextHop, updateNextHop
		}
	case attrAggregator, attrAS4Aggregator: // AS 0: RFC 7607 section 2
		if asn := a.value[:len(a.value)-4]; bytes.Count(asn, []byte{0}) == len(asn) {
			return BadAggregator, updateOptional
		}
	}
	return NoReason, 0
}

// readReach reads an MP_REACH_NLRI (RFC 4760 section 3). Its errors lose prefixes, so they end the
// session (RFC 7606 sections 5.3 and 7.11), except for a next hop that is just no host.
func (u *update) readReach(a attribute) {
	bad := fault{reset, BadMultiprotocol, updateOptional, a.whole}
	v := a.value
	if len(v) < 5 || len(v) < 5+int(v[3]) {
		u.found(bad)
		return
	}
	u.reach.came = true
	f, ok := u.agreed(v)
	if !ok {
		u.reach.foreign = true
		u.drop(ForeignFamily)
		return
	}
	hop := v[4 : 4+int(v[3])]
	if !u.session.nextHopFits(f, len(hop)) {
		bad.reason = BadNextHop
		u.found(bad)
		return
	}
	u.reach.routes, ok = readRoutes(f, u.session.family(f).AddPath, v[5+len(hop):])
	if !ok {
		bad.reason = BadPrefix
		u.found(bad)
		return
	}
	if u.reach.nextHop, ok = u.session.nextHop(hop); !ok {
		u.found(fault{withdraw, BadNextHop, updateNextHop, a.whole})
	}
}

// readUnreach reads an MP_UNREACH_NLRI (RFC 4760 section 4).
func (u *update) readUnreach(a attribute) {
	bad := fault{reset, BadMultiprotocol, updateOptional, a.whole}
	if len(a.value) < 3 {
		u.found(bad)
		return
	}
	u.unreach.came = true
	f, ok := u.agreed(a.value)
	if !ok {
		u.drop(ForeignFamily)
		return
	}
	if u.unreach.routes, ok = readRoutes(f, u.session.family(f).AddPath, a.value[3:]); !ok {
		bad.reason = BadPrefix
		u.found(bad)
	}
}

// agreed gives the family at the front of a multiprotocol attribute, if it was agreed on.
func (u *update) agreed(v []byte) (family, bool) {
	f, ok := familyOf(binary.BigEndian.Uint16(v), v[2])
	return f, ok && u.session.family(f).Agreed
}

// nextHopFits tells whether a next hop field may be n octets long: an address of the family, or of
// IPv6 where RFC 8950 was agreed on, with a link-local one after it or not (RFC 2545 section 3).
func (s *Session) nextHopFits(f family, n int) bool {
	if f == ipv4 && n == 4 {
		return true
	}
	return (f == ipv6 || s.ExtendedNextHop) && (n == 16 || n == 32)
}

// finish judges what only the whole message shows.
func (u *update) finish() {
	if u.hop.whole != nil {
		u.judgeNextHop()
	}
	reachable := u.announced.count > 0 || u.reach.foreign || u.reach.routes.count > 0
	if !u.session.IPv4.Agreed && u.withdrawn.count+u.announced.count > 0 {
		u.withdrawn, u.announced = routes{}, routes{}
		u.found(fault{approach: discard, reason: ForeignFamily})
	}
	u.checkMandatory()
	// RFC 7606 section 5.2: attributes without a reachable prefix mean that the prefixes may be what
	// was lost, unless MP_UNREACH_NLRI is all there is.
	if u.worst.approach == withdraw && !reachable && !(u.attributes == 1 && u.unreach.came) {
		u.worst.approach = reset
	}
}

// judgeNextHop judges NEXT_HOP, which says nothing where the prefixes are in MP_REACH_NLRI alone
// (RFC 4760 section 3).
func (u *update) judgeNextHop() {
	if u.reach.came && u.announced.count == 0 {
		u.dropped++
		return
	}
	r, _ := u.session.rule(attrNextHop)
	u.judge(u.hop, r)
}

// checkMandatory is RFC 7606 section 3 (d).
func (u *update) checkMandatory() {
	if u.announced.count+u.reach.routes.count == 0 {
		return
	}
	for _, code := range [...]byte{attrOrigin, attrASPath, attrNextHop} {
		if !u.came(code) && (code != attrNextHop || u.announced.count > 0) {
			u.found(fault{withdraw, MissingAttribute, updateMissingAttribute, []byte{code}})
		}
	}
}

// endOfRIB gives the family of an End-of-RIB marker (RFC 4724 section 2): an UPDATE with nothing in
// it, or nothing but an MP_UNREACH_NLRI without prefixes.
func (u *update) endOfRIB(attributes int) (family, bool) {
	if u.withdrawn.count+u.announced.count > 0 || u.worst.approach > accept {
		return 0, false
	}
	if attributes == 0 {
		return ipv4, u.session.IPv4.Agreed
	}
	only := u.attributes == 1 && u.unreach.came && u.unreach.routes.count == 0
	return u.unreach.routes.family, only
}
