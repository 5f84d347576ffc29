package screen

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var sameAddress = cmpopts.EquateComparable(netip.Addr{})

// open builds an OPEN: version, AS, hold time, identifier, optional parameters with their length.
func open(version byte, asn, hold int, id string, parameters ...[]byte) []byte {
	p := cat(parameters...)
	return message(typeOpen, []byte{version}, u16(asn), u16(hold), addr(id), []byte{byte(len(p))}, p)
}

func param(kind byte, value ...[]byte) []byte {
	v := cat(value...)
	return cat([]byte{kind, byte(len(v))}, v)
}

// capability is one capability, by code and value.
func capability(code byte, value ...[]byte) []byte { return param(code, value...) }

func capabilities(c ...[]byte) []byte { return param(paramCapabilities, c...) }

func ours() Offer {
	return Offer{
		ASN: 64512, Identifier: netip.MustParseAddr("192.0.2.53"), HoldTime: 90 * time.Second, FourOctetAS: true,
		IPv4: FamilyOffer{Offered: true, Receive: true}, IPv6: FamilyOffer{Offered: true, Receive: true},
		RouteRefresh: true, ExtendedNextHop: true,
	}
}

func TestFraming(t *testing.T) {
	marker := bytes.Repeat([]byte{0xff}, 16)
	head := func(length int, kind byte) []byte { return cat(marker, u16(length), []byte{kind}) }
	for _, c := range []struct {
		name   string
		header []byte
		want   string
	}{
		{"shortest OPEN", head(29, 1), "29"},
		{"longest UPDATE", head(4096, 2), "4096"},
		{"KEEPALIVE", head(19, 4), "19"},
		{"ROUTE-REFRESH", head(23, 5), "23"},
		{"marker not all ones", append(make([]byte, 16), 0, 19, 4), "1/1 []"},
		{"last octet of the marker is wrong", cat(marker[1:], []byte{0xfe}, u16(19), []byte{4}), "1/1 []"},
		{"18 octets", head(18, 4), "1/2 [0 18]"},
		{"4097 octets", head(4097, 2), "1/2 [16 1]"},
		{"OPEN of 28", head(28, 1), "1/2 [0 28]"},
		{"UPDATE of 22", head(22, 2), "1/2 [0 22]"},
		{"NOTIFICATION of 20", head(20, 3), "1/2 [0 20]"},
		{"KEEPALIVE of 20", head(20, 4), "1/2 [0 20]"},
		{"type 0", head(19, 0), "1/3 [0]"},
		{"type 6", head(19, 6), "1/3 [6]"},
		{"half a header", marker, "1/2 []"},
	} {
		length, n := Length(c.header)
		got := fmt.Sprint(length)
		if n != nil {
			got = fmt.Sprint(n, n.Data)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPhases(t *testing.T) {
	messages := []struct {
		name  string
		bytes []byte
	}{
		{"OPEN", open(4, 64501, 90, "192.0.2.1")}, {"UPDATE", announces(usual())}, {"NOTIFICATION", message(3, []byte{6, 2})},
		{"KEEPALIVE", message(4)}, {"ROUTE-REFRESH", message(5, []byte{0, 1, 0, 1})},
	}
	// The state that each message leads to, or the NOTIFICATION that it is answered with.
	want := map[Phase][]string{
		OpenSent:    {"OpenConfirm", "5/1 [2]", "OpenSent", "5/1 [4]", "5/1 [5]"},
		OpenConfirm: {"5/2 [1]", "5/2 [2]", "OpenConfirm", "Established", "5/2 [5]"},
		Established: {"5/3 [1]", "Established", "Established", "Established", "Established"},
	}
	names := []string{"OpenSent", "OpenConfirm", "Established"}
	for phase, wants := range want {
		for i, m := range messages {
			s := both()
			s.Ours, s.Phase = ours(), phase
			v, next := s.Screen(m.bytes)
			got := names[next.Phase]
			if v.Notify != nil {
				got = fmt.Sprint(v.Notify, v.Notify.Data)
			}
			if got != wants[i] {
				t.Errorf("%s in %s: got %s, want %s", m.name, names[phase], got, wants[i])
			}
		}
	}
}

func TestOpens(t *testing.T) {
	plain := func(p ...[]byte) []byte { return open(4, 64501, 90, "192.0.2.1", p...) }
	for _, c := range []struct {
		name    string
		message []byte
		want    string
	}{
		{"no capability: IPv4 it is", plain(), "as 64501 hold 90 ipv4"},
		{"two families", plain(capabilities(capability(1, []byte{0, 1, 0, 1}), capability(1, []byte{0, 2, 0, 1}))), "as 64501 hold 90 ipv4 ipv6"},
		{"one parameter for each capability", plain(capabilities(capability(1, []byte{0, 2, 0, 1})), capabilities(capability(65, u32(70000)))), "as 70000 hold 90 ipv6 as4"},
		{"another family alone", plain(capabilities(capability(1, []byte{0, 1, 0, 128}))), "as 64501 hold 90"},
		{"unknown capabilities are passed over", plain(capabilities(capability(73, []byte{255}), capability(6), capability(71, make([]byte, 9)))), "as 64501 hold 90 ipv4"},
		{"path identifiers", plain(capabilities(capability(69, []byte{0, 1, 1, 2, 0, 2, 1, 3}))), "as 64501 hold 90 ipv4+send -ipv6+send+receive"},
		{"path identifiers of an odd kind", plain(capabilities(capability(69, []byte{0, 1, 1, 2, 0, 2, 1, 4}))), "as 64501 hold 90 ipv4"},
		{"path identifiers neither sent nor received", plain(capabilities(capability(69, []byte{0, 1, 1, 2, 0, 2, 1, 0}))), "as 64501 hold 90 ipv4"},
		{"extended next hop", plain(capabilities(capability(5, []byte{0, 1, 0, 128, 0, 2}, []byte{0, 1, 0, 1, 0, 2}))), "as 64501 hold 90 ipv4 nexthop6"},
		{"the last graceful restart counts", plain(capabilities(capability(64, []byte{0xc0, 120, 0, 1, 1, 0}), capability(64, []byte{0x40, 30, 0, 2, 1, 0x80}))),
			"as 64501 hold 90 ipv4 restart 30 notification ipv6 kept"},
		{"extended parameters", plainExtended(cat([]byte{2}, u16(6), capability(65, u32(70000)))), "as 70000 hold 90 ipv4 as4"},
		{"extended parameters, empty", plainExtended(nil), "as 64501 hold 90 ipv4"},
		{"a hold time of none", open(4, 64501, 0, "192.0.2.1"), "as 64501 hold 0 ipv4"},
		{"version 3", open(3, 64501, 90, "192.0.2.1"), "2/1 [0 4]"},
		{"AS 0", open(4, 0, 90, "192.0.2.1"), "2/2 []"},
		{"AS 0 in the capability", plain(capabilities(capability(65, u32(0)))), "2/2 []"},
		{"identifier zero", open(4, 64501, 90, "0.0.0.0"), "2/3 []"},
		{"authentication", plain(param(1, []byte{0})), "2/4 []"},
		{"an unknown parameter", plain(capabilities(), param(9)), "2/4 []"},
		{"a hold time of two seconds", open(4, 64501, 2, "192.0.2.1"), "2/6 []"},
		{"a hold time of three seconds", open(4, 64501, 3, "192.0.2.1"), "as 64501 hold 3 ipv4"},
		{"parameters longer than the message", append(plain()[:28:28], 9), "2/0 []"},
		{"octets after the parameters", append(plain(), 1), "2/0 []"},
		{"a parameter cut off", plain([]byte{2, 9, 1, 4}), "2/0 []"},
		{"a parameter without length", plain([]byte{2}), "2/0 []"},
		{"a capability cut off", plain(capabilities([]byte{65, 4, 0, 0})), "2/0 []"},
		{"a capability without length", plain(capabilities([]byte{65})), "2/0 []"},
		{"multiprotocol of five octets", plain(capabilities(capability(1, make([]byte, 5)))), "2/0 []"},
		{"four-octet AS of two octets", plain(capabilities(capability(65, u16(1)))), "2/0 []"},
		{"route refresh with a value", plain(capabilities(capability(2, []byte{1}))), "2/0 []"},
		{"graceful restart of one octet", plain(capabilities(capability(64, []byte{1}))), "2/0 []"},
		{"path identifiers of five octets", plain(capabilities(capability(69, []byte{0, 1, 1, 2, 0}))), "2/0 []"},
		{"extended next hop of four octets", plain(capabilities(capability(5, make([]byte, 4)))), "2/0 []"},
		{"extended parameters after a length of none", append(plain(), 255, 0, 0), "2/0 []"},
		{"extended parameters of a wrong length", append(plainExtended(nil), 1), "2/0 []"},
	} {
		o, n := Open(c.message)
		got := tellOffer(o)
		if n != nil {
			got = fmt.Sprint(n, n.Data)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// plainExtended has the optional parameters of RFC 9072.
func plainExtended(p []byte) []byte {
	return message(typeOpen, []byte{4}, u16(64501), u16(90), addr("192.0.2.1"), []byte{255, 255}, u16(len(p)), p)
}

func tellOffer(o Offer) string {
	line := fmt.Sprintf("as %d hold %.0f", o.ASN, o.HoldTime.Seconds())
	for i, f := range []FamilyOffer{o.IPv4, o.IPv6} {
		name := []string{"ipv4", "ipv6"}[i]
		switch {
		case f.Offered:
			line += " " + name
		case f.Send || f.Receive:
			line += " -" + name
		}
		line += map[bool]string{true: "+send"}[f.Send] + map[bool]string{true: "+receive"}[f.Receive]
	}
	line += map[bool]string{true: " as4"}[o.FourOctetAS] + map[bool]string{true: " nexthop6"}[o.ExtendedNextHop]
	if r := o.Restart; r.Offered {
		line += fmt.Sprintf(" restart %.0f", r.Time.Seconds())
		line += map[bool]string{true: " restarted"}[r.Restarted] + map[bool]string{true: " notification"}[r.Notification]
		line += map[bool]string{true: " ipv4"}[r.IPv4.Offered] + map[bool]string{true: " ipv6"}[r.IPv6.Offered] + map[bool]string{true: " kept"}[r.IPv6.Kept]
	}
	return line
}

func TestOpenIsRewrittenWithoutWhatIsUnknown(t *testing.T) {
	m := plainExtended(cat([]byte{2}, u16(24), capability(73, []byte{3, 'a', 'b', 'c', 255}), capability(65, u32(70000)), capability(1, []byte{0, 2, 9, 1}), capability(2), []byte{6, 1, 0}))
	v, s := Expect(ours()).Screen(m)
	want := open(4, asTrans, 90, "192.0.2.1", capabilities(capability(1, []byte{0, 2, 0, 1}), capability(2), capability(65, u32(70000))))
	o, _ := Open(m)
	if again, n := Open(v.Forward); n != nil || again != o {
		t.Errorf("forwarded OPEN reads as %s, %v, the peer's as %s", tellOffer(again), n, tellOffer(o))
	}
	if diff := cmp.Diff(want, v.Forward); diff != "" {
		t.Error(diff)
	}
	if s.Phase != OpenConfirm || !s.FourOctetAS || s.IPv4.Agreed || !s.IPv6.Agreed {
		t.Errorf("session is %+v", s)
	}
}

func TestAgreement(t *testing.T) {
	theirs := Offer{ASN: 64512, FourOctetAS: true, IPv4: FamilyOffer{Offered: true, Send: true}, IPv6: FamilyOffer{Offered: true, Receive: true}}
	got, n := agree(ours(), theirs)
	want := Session{
		Phase: OpenConfirm, Ours: ours(), FourOctetAS: true, RouteRefresh: true, Internal: true,
		IPv4: Family{Agreed: true, AddPath: true}, IPv6: Family{Agreed: true},
	}
	if diff := cmp.Diff(want, got, sameAddress); diff != "" || n != nil {
		t.Error(n, diff)
	}
	_, n = agree(ours(), Offer{ASN: 1})
	if n == nil || n.String() != "2/7" || !bytes.Equal(n.Data, []byte{1, 4, 0, 1, 0, 1, 1, 4, 0, 2, 0, 1}) {
		t.Errorf("without a common family: %v", n)
	}
}

func TestRouteRefreshes(t *testing.T) {
	one := func(body ...byte) []byte { return message(typeRefresh, body) }
	for _, c := range []struct {
		name    string
		message []byte
		want    string
	}{
		{"IPv4", one(0, 1, 0, 1), "route-refresh"},
		{"IPv6 with filters", one(0, 2, 0, 1, 1, 64, 0, 0), "route-refresh"},
		{"another family", one(0, 1, 0, 128), ""},
		{"begin of a refresh", one(0, 1, 1, 1), ""},
		{"an unknown subtype", one(0, 1, 9, 1), ""},
		{"begin of a refresh, too long", one(0, 1, 1, 1, 0), "notify 7/1 | route-refresh"},
		{"end of a refresh, too short", one(0, 1, 2), "notify 7/1 | route-refresh"},
		{"three octets", one(0, 1, 0), "notify 1/2 | length"},
		{"nothing", one(), "notify 1/2 | length"},
	} {
		v, _ := both().Screen(c.message)
		if got := outcome(v, both()); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if len(v.Forward) > refreshLength {
			t.Errorf("%s: more than one plain request is forwarded", c.name)
		}
	}
}

func TestRouteRefreshThatWeDoNotOfferIsIgnored(t *testing.T) {
	s := with(func(s *Session) { s.RouteRefresh = false })
	if v, _ := s.Screen(message(typeRefresh, []byte{0, 1, 0, 1})); v.Forward != nil || v.Notify != nil {
		t.Errorf("got %+v", v)
	}
}

func TestNotificationReadsAsWritten(t *testing.T) {
	n := Notification{Code: 6, Subcode: 2, Data: []byte("\x03bye")}
	got, ok := ReadNotification(n.Message())
	if diff := cmp.Diff(n, got); diff != "" || !ok {
		t.Error(ok, diff)
	}
	if long := (Notification{Code: 7, Subcode: 1, Data: make([]byte, MaxLength)}).Message(); len(long) != MaxLength {
		t.Errorf("the longest message has %d octets", len(long))
	}
	if _, ok := ReadNotification(message(4)); ok {
		t.Error("a KEEPALIVE reads as a NOTIFICATION")
	}
}

func TestEveryReasonHasAWordOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for r := NoReason; r < reasons; r++ {
		if word := r.String(); seen[word] || word == "" && r != NoReason {
			t.Errorf("reason %d is called %q", r, word)
		}
		seen[r.String()] = true
	}
}

func TestOfferReadsAsWritten(t *testing.T) {
	id := netip.MustParseAddr("192.0.2.1")
	one := FamilyOffer{Offered: true}
	for name, o := range map[string]Offer{
		"the least":          {ASN: 1, Identifier: id, IPv4: one},
		"ours":               ours(),
		"IPv6 alone, AS4":    {ASN: 4_200_000_000, Identifier: id, HoldTime: 3 * time.Second, IPv6: one, FourOctetAS: true},
		"sending paths":      {ASN: 1, Identifier: id, IPv4: FamilyOffer{Offered: true, Send: true}, IPv6: FamilyOffer{Offered: true, Send: true, Receive: true}},
		"restarted":          {ASN: 1, Identifier: id, IPv4: one, Restart: RestartOffer{Offered: true, Restarted: true, Time: 4095 * time.Second, IPv4: RestartFamily{Offered: true}}},
		"notified, kept":     {ASN: 1, Identifier: id, IPv4: one, Restart: RestartOffer{Offered: true, Notification: true, IPv4: RestartFamily{Offered: true, Kept: true}, IPv6: RestartFamily{Offered: true}}},
		"restart, no family": {ASN: 1, Identifier: id, IPv4: one, Restart: RestartOffer{Offered: true}},
	} {
		got, n := Open(o.Message())
		if diff := cmp.Diff(o, got, sameAddress); diff != "" || n != nil {
			t.Errorf("%s: %v %s", name, n, diff)
		}
	}
	if got, want := (Offer{ASN: 1, Identifier: id, HoldTime: 90 * time.Second}).Message(), open(4, 1, 90, "192.0.2.1"); !bytes.Equal(got, want) {
		t.Errorf("an offer without capabilities is %x, want %x", got, want)
	}
}

func TestSessionEndsAt(t *testing.T) {
	for _, c := range []struct {
		name    string
		session Session
		message []byte
		want    string
	}{
		{"an OPEN that is refused", Expect(ours()), open(3, 64501, 90, "192.0.2.1"), "notify 2/1 | version"},
		{"an OPEN with no common family", Expect(ours()), open(4, 64501, 90, "192.0.2.1", capabilities(capability(1, []byte{0, 1, 0, 128}))), "notify 2/7 | no-common-family"},
		{"a length field that lies", both(), append(announces(usual()), 0), "notify 1/2 | length"},
		{"a bad marker", both(), make([]byte, 19), "notify 1/1 | marker"},
		{"an unknown type", both(), message(6), "notify 1/3 | type"},
		{"an UPDATE too early", Expect(ours()), announces(usual()), "notify 5/1 | unexpected-message"},
	} {
		v, next := c.session.Screen(c.message)
		if got := outcome(v, c.session); got != c.want || next != c.session {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
