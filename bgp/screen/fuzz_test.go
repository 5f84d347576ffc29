package screen

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sessionOf makes a session of a few bits.
func sessionOf(bits uint16) Session {
	on := func(i int) bool { return bits>>i&1 != 0 }
	return Session{
		Phase: Phase(bits % 3), Ours: ours(),
		IPv4: Family{Agreed: on(2), AddPath: on(3)}, IPv6: Family{Agreed: on(4), AddPath: on(5)},
		FourOctetAS: on(6), ExtendedNextHop: on(7), RouteRefresh: on(8), Internal: on(9),
	}
}

// behind is the session as the speaker sees it: what was forwarded has AS numbers of four octets.
func behind(s Session) Session {
	s.FourOctetAS = true
	return s
}

// splitMessages takes a byte stream apart; false where it is no whole messages.
func splitMessages(b []byte) (messages [][]byte, ok bool) {
	for len(b) > 0 {
		n, bad := Length(b)
		if bad != nil || n > len(b) {
			return nil, false
		}
		messages, b = append(messages, b[:n]), b[n:]
	}
	return messages, true
}

// checkVerdict holds what must be true of every verdict.
func checkVerdict(t interface{ Errorf(string, ...any) }, s Session, m []byte) {
	before := bytes.Clone(m)
	v, next := s.Screen(m)
	if !bytes.Equal(before, m) {
		t.Errorf("the message was written to")
	}
	if v.Notify != nil {
		if v.Forward != nil || next != s || v.Reason == NoReason || v.Withdrawn != 0 {
			t.Errorf("the session ends with %v, and yet: %+v", v.Notify, v)
		}
		return
	}
	messages, ok := splitMessages(v.Forward)
	if !ok {
		t.Errorf("forwarded bytes are no messages: %x", v.Forward)
	}
	for _, f := range messages {
		again, _ := behind(s).Screen(f)
		if again.Notify != nil || again.Reason != NoReason || again.Dropped+again.Withdrawn != 0 {
			t.Errorf("forwarded %x does not pass again: %v %+v", f, again.Notify, again)
		}
		if diff := cmp.Diff(f, again.Forward); diff != "" {
			t.Errorf("forwarded message passes again as another: %s", diff)
		}
		if f[18] == typeUpdate {
			checkCanonical(t, f[HeaderLength:])
		}
	}
}

// checkCanonical holds the form of a forwarded UPDATE: known attributes alone, in order, one purpose.
func checkCanonical(t interface{ Errorf(string, ...any) }, body []byte) {
	w := int(binary.BigEndian.Uint16(body))
	a := int(binary.BigEndian.Uint16(body[2+w:]))
	attributes, nlri := body[4+w:4+w+a], body[4+w+a:]
	var codes []byte
	for len(attributes) > 0 {
		one, rest, ok := nextAttribute(attributes)
		if !ok {
			t.Errorf("attributes are cut off: %x", attributes)
			return
		}
		codes, attributes = append(codes, one.code), rest
	}
	purposes := 0
	for _, holds := range []bool{w > 0, len(nlri) > 0, slices.Contains(codes, attrReach), slices.Contains(codes, attrUnreach)} {
		if holds {
			purposes++
		}
	}
	if purposes > 1 {
		t.Errorf("an UPDATE with %d purposes: %x", purposes, body)
	}
	if len(codes) > 0 && (codes[0] == attrReach || codes[0] == attrUnreach) {
		codes = codes[1:]
	}
	if !slices.IsSorted(codes) {
		t.Errorf("attributes are not in order: %v", codes)
	}
	for _, c := range codes {
		if !slices.Contains([]byte{1, 2, 3, 4, 5, 8, 16, 32}, c) {
			t.Errorf("attribute %d passed", c)
		}
	}
}

func FuzzScreen(f *testing.F) {
	const established = 0x154 | 2
	for _, c := range slices.Concat(goodUpdates(), frameErrors(), attributeErrors(), pathErrors(), aggregateErrors(), multiprotocolCases(), fourOctetCases()) {
		f.Add(uint16(established), c.message[18], c.message[HeaderLength:])
		f.Add(uint16(0x01c+1), c.message[18], c.message[HeaderLength:])
	}
	f.Add(uint16(0), byte(typeOpen), plainExtended(capabilities())[HeaderLength:])
	f.Add(uint16(0), byte(typeOpen), open(4, 64501, 90, "192.0.2.1", capabilities(capability(65, u32(70000))))[HeaderLength:])
	f.Add(uint16(established), byte(typeRefresh), []byte{0, 1, 0, 1})
	f.Fuzz(func(t *testing.T, bits uint16, kind byte, body []byte) {
		if len(body) > MaxLength-HeaderLength {
			return
		}
		checkVerdict(t, sessionOf(bits), message(kind, body))
		checkVerdict(t, sessionOf(bits), body)
	})
}

func FuzzOpen(f *testing.F) {
	f.Add(open(4, 64501, 90, "192.0.2.1", capabilities(capability(1, []byte{0, 2, 0, 1}), capability(64, []byte{0xc0, 120, 0, 1, 1, 0x80}))))
	f.Add(open(4, asTrans, 90, "192.0.2.1", capabilities(capability(69, []byte{0, 1, 1, 3}), capability(5, []byte{0, 1, 0, 1, 0, 2}), capability(2))))
	f.Add(plainExtended(capabilities(capability(65, u32(70000)))))
	f.Fuzz(func(t *testing.T, m []byte) {
		o, n := Open(m)
		if n != nil || !o.IPv4.Offered && !o.IPv6.Offered {
			return
		}
		again, n := Open(o.Message())
		if n != nil {
			t.Fatalf("%s is written so that it is refused with %v", tellOffer(o), n)
		}
		if diff := cmp.Diff(o, again, sameAddress); diff != "" {
			t.Error(diff)
		}
	})
}
