package screen

import "encoding/binary"

// write makes the verdict on an UPDATE that does not end the session: withdrawals first, then
// announcements, each family in messages of its own. Room for size octets is made at once.
func (u *update) write(size int) Verdict {
	v := Verdict{Reason: u.worst.reason, Dropped: u.dropped}
	announcing := u.worst.approach < withdraw
	path := u.path()
	out := make([]byte, 0, size+len(path))
	out = appendWithdrawals(out, u.withdrawn)
	out = appendWithdrawals(out, u.unreach.routes)
	for _, a := range [...]announcement{
		{routes: u.announced, nextHop: u.values[attrNextHop]},
		{routes: u.reach.routes, nextHop: u.reach.nextHop},
	} {
		a.path, a.values = path, &u.values
		switch {
		case announcing && a.fits():
			out = a.append(out)
			continue
		case announcing && a.routes.count > 0:
			v.Reason = LongASPath
		}
		out = appendWithdrawals(out, a.routes)
		v.Withdrawn += a.routes.count
	}
	if len(out) == 0 {
		out = appendHeader(out, HeaderLength, typeKeepalive)
	}
	v.Forward = out
	return v
}

// path gives the AS_PATH with AS numbers of four octets. An AGGREGATOR that knows its AS by two
// octets was added by a speaker that has seen the AS4 attributes and left them stale behind (RFC
// 6793 section 4.2.3).
func (u *update) path() []byte {
	if u.session.FourOctetAS {
		return u.values[attrASPath]
	}
	path4 := u.values[attrAS4Path]
	if a := u.values[attrAggregator]; a != nil && u.values[attrAS4Aggregator] != nil && binary.BigEndian.Uint16(a) != asTrans {
		path4 = nil
	}
	return widen(u.values[attrASPath], path4)
}

// endOfRIB writes the End-of-RIB marker of a family.
func endOfRIB(f family) []byte {
	if f == ipv4 {
		return append(appendHeader(nil, updateLength, typeUpdate), 0, 0, 0, 0)
	}
	return appendUnreach(nil, routes{family: f})
}

// appendWithdrawals writes the UPDATEs that withdraw the routes.
func appendWithdrawals(dst []byte, r routes) []byte {
	const room = MaxLength - updateLength
	for r.count > 0 {
		var chunk routes
		if r.family == ipv4 {
			chunk, r = r.split(room)
			dst = appendWithdrawn(dst, chunk)
		} else {
			chunk, r = r.split(room - attributeHead - unreachHead)
			dst = appendUnreach(dst, chunk)
		}
	}
	return dst
}

// appendWithdrawn writes one UPDATE with withdrawn routes alone.
func appendWithdrawn(dst []byte, r routes) []byte {
	n := len(r.bytes)
	dst = appendHeader(dst, updateLength+n, typeUpdate)
	dst = r.append(binary.BigEndian.AppendUint16(dst, uint16(n)))
	return append(dst, 0, 0)
}

// unreachHead is the family at the front of an MP_UNREACH_NLRI.
const unreachHead = 3

// appendUnreach writes one UPDATE with an MP_UNREACH_NLRI.
func appendUnreach(dst []byte, r routes) []byte {
	n := attributeLength(unreachHead + len(r.bytes))
	dst = appendHeader(dst, updateLength+n, typeUpdate)
	dst = append(dst, 0, 0, byte(n>>8), byte(n))
	dst = appendAttributeHeader(dst, flagOptional, attrUnreach, unreachHead+len(r.bytes))
	return r.append(append(dst, 0, byte(r.family), unicast))
}

// announcement is routes of one family with the attributes that they share.
type announcement struct {
	routes  routes
	nextHop []byte
	path    []byte
	values  *[attributeCodes][]byte
}

// apart tells whether the routes go into an MP_REACH_NLRI rather than into the NLRI field.
func (a *announcement) apart() bool { return len(a.nextHop) == 16 }

// length is that of the whole UPDATE with the first n octets of the routes.
func (a *announcement) length(n int) int {
	length := updateLength + attributeLength(len(a.path))
	for _, code := range [...]byte{attrOrigin, attrMED, attrLocalPref, attrCommunities, attrExtended, attrLarge} {
		if v := a.values[code]; len(v) > 0 {
			length += attributeLength(len(v))
		}
	}
	if a.apart() {
		return length + attributeLength(5+len(a.nextHop)+n)
	}
	return length + attributeLength(len(a.nextHop)) + n
}

// longestPrefix is the size of an IPv6 host route with its path identifier.
const longestPrefix = pathIDLength + 1 + 16

// room is how many octets of routes fit into one UPDATE for certain.
func (a *announcement) room() int { return MaxLength - a.length(0) - 1 }

// fits tells whether the routes can be announced in messages of [MaxLength]. A path that grew when its
// AS numbers did may leave no room.
func (a *announcement) fits() bool {
	return a.length(len(a.routes.bytes)) <= MaxLength || a.room() >= longestPrefix
}

// append writes the UPDATEs that announce the routes.
func (a *announcement) append(dst []byte) []byte {
	for rest := a.routes; rest.count > 0; {
		chunk := rest
		if a.length(len(rest.bytes)) > MaxLength {
			chunk, rest = rest.split(a.room())
		} else {
			rest = routes{}
		}
		dst = a.appendUpdate(dst, chunk)
	}
	return dst
}

func (a *announcement) appendUpdate(dst []byte, r routes) []byte {
	length := a.length(len(r.bytes))
	attributes := length - updateLength
	if !a.apart() {
		attributes -= len(r.bytes)
	}
	dst = appendHeader(dst, length, typeUpdate)
	dst = append(dst, 0, 0, byte(attributes>>8), byte(attributes))
	if a.apart() {
		dst = appendAttributeHeader(dst, flagOptional, attrReach, 5+len(a.nextHop)+len(r.bytes))
		dst = append(dst, 0, byte(r.family), unicast, byte(len(a.nextHop)))
		dst = r.append(append(append(dst, a.nextHop...), 0))
	}
	dst = appendAttribute(dst, flagTransitive, attrOrigin, a.values[attrOrigin])
	dst = append(appendAttributeHeader(dst, flagTransitive, attrASPath, len(a.path)), a.path...)
	if !a.apart() {
		dst = appendAttribute(dst, flagTransitive, attrNextHop, a.nextHop)
	}
	dst = appendAttribute(dst, flagOptional, attrMED, a.values[attrMED])
	dst = appendAttribute(dst, flagTransitive, attrLocalPref, a.values[attrLocalPref])
	for _, code := range [...]byte{attrCommunities, attrExtended, attrLarge} {
		dst = appendAttribute(dst, flagOptional|flagTransitive, code, a.values[code])
	}
	if a.apart() {
		return dst
	}
	return r.append(dst)
}

// appendAttribute writes an attribute; one without a value is none.
func appendAttribute(dst []byte, flags, code byte, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return append(appendAttributeHeader(dst, flags, code, len(value)), value...)
}

// appendAttributeHeader writes flags, code and length; the length takes two octets only where one
// does not hold it.
func appendAttributeHeader(dst []byte, flags, code byte, n int) []byte {
	if n > 255 {
		return append(dst, flags|flagExtendedLength, code, byte(n>>8), byte(n))
	}
	return append(dst, flags, code, byte(n))
}

// attributeHead is the longest header of an attribute.
const attributeHead = 4

// attributeLength is the length of an attribute with a value of n octets.
func attributeLength(n int) int {
	if n > 255 {
		return attributeHead + n
	}
	return attributeHead - 1 + n
}
