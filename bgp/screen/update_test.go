package screen

import (
	"bytes"
	"slices"
	"testing"
)

const (
	announced = "announce 203.0.113.0/24 igp [64501 64502] via 192.0.2.1"
	withdrawn = "withdraw 203.0.113.0/24"
	announce6 = "announce 2001:db8:100::/40 via 2001:db8::1 igp [64501 64502]"
	withdraw6 = "withdraw 2001:db8:100::/40"
)

func reach6() []byte {
	return reach(2, 1, addr("2001:db8::1"), net("2001:db8:100::/40"))
}

func without(code byte) []byte {
	var kept []byte
	for b := usual(); len(b) > 0; {
		a, rest, _ := nextAttribute(b)
		if a.code != code {
			kept = append(kept, a.whole...)
		}
		b = rest
	}
	return kept
}

type updateCase struct {
	name    string
	session Session
	message []byte
	want    string
}

func TestUpdates(t *testing.T) {
	for _, c := range slices.Concat(goodUpdates(), frameErrors(), attributeErrors(), pathErrors(), aggregateErrors(), multiprotocolCases(), fourOctetCases()) {
		t.Run(c.name, func(t *testing.T) {
			before := bytes.Clone(c.message)
			v, next := c.session.Screen(c.message)
			if next != c.session {
				t.Errorf("an UPDATE changed the session")
			}
			if !bytes.Equal(before, c.message) {
				t.Errorf("the message was written to")
			}
			if got := outcome(v, c.session); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func goodUpdates() []updateCase {
	return []updateCase{
		{"one prefix", both(), announces(usual()), announced},
		{"attributes in any order", both(), announces(via("192.0.2.1"), sequence(64501, 64502), origin(0)), announced},
		{"withdrawn routes alone", both(), updateOf(net("203.0.113.0/24", "0.0.0.0/0"), nil, nil), withdrawn + " 0.0.0.0/0"},
		{"withdrawals go before announcements", both(), updateOf(net("198.51.100.0/24"), [][]byte{usual()}, net("203.0.113.0/24")),
			"withdraw 198.51.100.0/24; " + announced},
		{"host bits are cleared", both(), updateOf(nil, [][]byte{usual()}, []byte{20, 203, 0, 113}),
			"announce 203.0.112.0/20 igp [64501 64502] via 192.0.2.1"},
		{"every attribute that steering needs", internal(), announces(usual(), attr(0x80, 4, u32(7)), attr(0x40, 5, u32(200)),
			attr(0xc0, 8, u32(0xfbf50032)), attr(0xc0, 16, []byte{0, 2, 0, 1, 0, 0, 0, 2}), attr(0xc0, 32, u32(1), u32(2), u32(3))),
			announced + " 4=00000007 5=000000c8 8=fbf50032 16=0002000100000002 32=000000010000000200000003"},
		{"partial and unused flag bits do not matter", both(), announces(attr(0x6f, 1, []byte{0}), sequence(64501, 64502), via("192.0.2.1")), announced},
		{"extended length on a short attribute", both(), announces(attr(0x50, 1, []byte{0}), sequence(64501, 64502), via("192.0.2.1")), announced},
		{"an empty AS_PATH", internal(), announces(origin(0), path(), via("192.0.2.1")), "announce 203.0.113.0/24 igp [] via 192.0.2.1"},
		{"an AS_SET", both(), announces(origin(2), path(segment4(asSequence, 1), segment4(asSet, 2, 3)), via("192.0.2.1")),
			"announce 203.0.113.0/24 incomplete [1 set 2 3] via 192.0.2.1"},
		{"path identifiers", paths(), updateOf(net("1#198.51.100.0/24"), [][]byte{usual()}, net("7#203.0.113.0/24", "8#203.0.113.0/24")),
			"withdraw 1#198.51.100.0/24; announce 7#203.0.113.0/24 8#203.0.113.0/24 igp [64501 64502] via 192.0.2.1"},
		{"large communities that repeat are told once", both(), announces(usual(), attr(0xc0, 32, u32(1), u32(2), u32(3), u32(1), u32(2), u32(3), u32(1), u32(2), u32(4))),
			announced + " 32=000000010000000200000003000000010000000200000004"},
		{"extended communities of odd kinds stay out", both(), announces(usual(), attr(0xc0, 16, []byte{0x80, 6, 0, 1, 0, 0, 0, 2}, []byte{2, 2, 0, 1, 0, 0, 0, 2}, []byte{0x06, 0, 0, 0, 0, 0, 0, 0})),
			announced + " 16=0202000100000002"},
		{"no extended community is left", both(), announces(usual(), attr(0xc0, 16, []byte{3, 12, 0, 0, 0, 0, 0, 8})), announced},
		{"End-of-RIB of IPv4", both(), updateOf(nil, nil, nil), "end-of-rib 1"},
		{"End-of-RIB of IPv6", both(), updateOf(nil, [][]byte{unreach(2, 1, nil)}, nil), "end-of-rib 2"},
		{"End-of-RIB of IPv4 in the other form", both(), updateOf(nil, [][]byte{unreach(1, 1, nil)}, nil), "end-of-rib 1"},
		{"End-of-RIB of a family that was not agreed on", both(), updateOf(nil, [][]byte{unreach(1, 128, nil)}, nil), "keepalive | dropped=1 foreign-family"},
		{"attributes without routes are no End-of-RIB", both(), updateOf(nil, [][]byte{usual()}, nil), "keepalive"},
		{"attributes that are dropped leave no End-of-RIB", both(), updateOf(nil, [][]byte{attr(0xc0, 40, []byte{1})}, nil), "keepalive | dropped=1"},
		{"IPv4 was not agreed on", with(func(s *Session) { s.IPv4.Agreed = false }), updateOf(net("198.51.100.0/24"), [][]byte{usual()}, net("203.0.113.0/24")),
			"keepalive | foreign-family"},
	}
}

func frameErrors() []updateCase {
	return []updateCase{
		{"withdrawn routes longer than the message", both(), message(2, u16(3), u16(0)), "notify 3/1 | attribute-list"},
		{"attributes longer than the message", both(), message(2, u16(0), u16(1)), "notify 3/1 | attribute-list"},
		{"a withdrawn prefix of 33 bits", both(), updateOf([]byte{33, 1, 2, 3, 4, 5}, nil, nil), "notify 3/10 | prefix"},
		{"a withdrawn prefix cut off", both(), updateOf([]byte{24, 1, 2}, nil, nil), "notify 3/10 | prefix"},
		{"a prefix of 33 bits", both(), updateOf(nil, [][]byte{usual()}, []byte{33, 1, 2, 3, 4, 5}), "notify 3/10 | prefix"},
		{"a prefix cut off", both(), updateOf(nil, [][]byte{usual()}, []byte{24, 203, 0}), "notify 3/10 | prefix"},
		{"a path identifier cut off", paths(), updateOf(nil, [][]byte{usual()}, []byte{0, 0, 0}), "notify 3/10 | prefix"},
		{"a prefix cut off after a malformed attribute", both(), updateOf(nil, [][]byte{origin(9)}, []byte{24, 203, 0}), "notify 3/10 | prefix"},
		{"an attribute longer than all attributes", both(), announces(usual(), []byte{0xc0, 8, 8, 0, 0, 0, 1}), withdrawn + " | withdrawn=1 attribute-list"},
		{"a stray octet after the attributes", both(), announces(usual(), []byte{0x40}), withdrawn + " | withdrawn=1 attribute-list"},
		{"half an extended header", both(), announces(usual(), []byte{0x50, 1, 0}), withdrawn + " | withdrawn=1 attribute-list"},
		{"a stray octet and no prefix", both(), updateOf(net("203.0.113.0/24"), [][]byte{{0x40}}, nil), "notify 3/1 | attribute-list"},
		{"a truncated MP_REACH_NLRI", both(), announces(usual(), []byte{0x80, 14, 60, 0, 2, 1, 16}), "notify 3/9 | multiprotocol"},
		{"an MP_REACH_NLRI without a length", both(), announces(usual(), []byte{0x80, 14}), "notify 3/9 | multiprotocol"},
		{"an MP_UNREACH_NLRI with half a length", both(), announces(usual(), []byte{0x90, 15, 0}), "notify 3/9 | multiprotocol"},
	}
}

func attributeErrors() []updateCase {
	gone := withdrawn + " | withdrawn=1 "
	return []updateCase{
		{"ORIGIN of two octets", both(), announces(attr(0x40, 1, []byte{0, 0}), without(1)), gone + "attribute-length"},
		{"ORIGIN empty", both(), announces(attr(0x40, 1), without(1)), gone + "attribute-length"},
		{"ORIGIN undefined", both(), announces(origin(3), without(1)), gone + "origin"},
		{"ORIGIN with the flags of MED", both(), announces(attr(0x80, 1, []byte{0}), without(1)), gone + "attribute-flags"},
		{"ORIGIN missing", both(), announces(without(1)), gone + "missing-attribute"},
		{"AS_PATH missing", both(), announces(without(2)), gone + "missing-attribute"},
		{"NEXT_HOP missing", both(), announces(without(3)), gone + "missing-attribute"},
		{"NEXT_HOP of three octets", both(), announces(without(3), attr(0x40, 3, []byte{192, 0, 2})), gone + "attribute-length"},
		{"NEXT_HOP of sixteen octets", both(), announces(without(3), attr(0x40, 3, addr("2001:db8::1"))), gone + "attribute-length"},
		{"NEXT_HOP zero", both(), announces(without(3), via("0.0.0.0")), gone + "next-hop"},
		{"NEXT_HOP of ours", own("192.0.2.53"), announces(without(3), via("192.0.2.53")), gone + "next-hop"},
		{"NEXT_HOP that is not ours", own("192.0.2.53"), announces(usual()), announced},
		{"NEXT_HOP multicast", both(), announces(without(3), via("224.0.0.1")), gone + "next-hop"},
		{"NEXT_HOP broadcast", both(), announces(without(3), via("255.255.255.255")), gone + "next-hop"},
		{"NEXT_HOP loopback", both(), announces(without(3), via("127.0.0.9")), "announce 203.0.113.0/24 igp [64501 64502] via 127.0.0.9"},
		{"MED of three octets", both(), announces(usual(), attr(0x80, 4, []byte{0, 0, 1})), gone + "attribute-length"},
		{"MED transitive", both(), announces(usual(), attr(0xc0, 4, u32(1))), gone + "attribute-flags"},
		{"LOCAL_PREF of an external peer", both(), announces(usual(), attr(0x40, 5, u32(200))), announced + " | dropped=1 internal-attribute"},
		{"LOCAL_PREF of an external peer, malformed", both(), announces(usual(), attr(0xc0, 5, []byte{1})), announced + " | dropped=1 internal-attribute"},
		{"LOCAL_PREF of an internal peer, malformed", internal(), announces(usual(), attr(0x40, 5, []byte{1})), gone + "attribute-length"},
		{"ORIGINATOR_ID of an external peer, malformed", both(), announces(usual(), attr(0x80, 9, []byte{1})), announced + " | dropped=1 internal-attribute"},
		{"ORIGINATOR_ID of an internal peer", internal(), announces(usual(), attr(0x80, 9, u32(1))), announced + " | dropped=1"},
		{"ORIGINATOR_ID of an internal peer, malformed", internal(), announces(usual(), attr(0x80, 9, []byte{1})), withdrawn + " | withdrawn=1 dropped=1 attribute-length"},
		{"CLUSTER_LIST of an internal peer, empty", internal(), announces(usual(), attr(0x80, 10)), withdrawn + " | withdrawn=1 dropped=1 attribute-length"},
		{"COMMUNITIES of five octets", both(), announces(usual(), attr(0xc0, 8, []byte{1, 2, 3, 4, 5})), gone + "attribute-length"},
		{"COMMUNITIES empty", both(), announces(usual(), attr(0xc0, 8)), gone + "attribute-length"},
		{"COMMUNITIES not transitive", both(), announces(usual(), attr(0x80, 8, u32(1))), gone + "attribute-flags"},
		{"EXTENDED COMMUNITIES of seven octets", both(), announces(usual(), attr(0xc0, 16, make([]byte, 7))), gone + "attribute-length"},
		{"EXTENDED COMMUNITIES empty", both(), announces(usual(), attr(0xc0, 16)), gone + "attribute-length"},
		{"ONLY_TO_CUSTOMER", both(), announces(usual(), attr(0xc0, 35, u32(64501))), announced + " | dropped=1"},
		{"ONLY_TO_CUSTOMER of three octets", both(), announces(usual(), attr(0xc0, 35, make([]byte, 3))), withdrawn + " | withdrawn=1 dropped=1 attribute-length"},
		{"ONLY_TO_CUSTOMER not transitive", both(), announces(usual(), attr(0x80, 35, u32(64501))), withdrawn + " | withdrawn=1 attribute-flags"},
		{"IPv6 EXTENDED COMMUNITIES of ten octets", both(), announces(usual(), attr(0xc0, 25, make([]byte, 10))), withdrawn + " | withdrawn=1 dropped=1 attribute-length"},
		{"LARGE COMMUNITIES of eleven octets", both(), announces(usual(), attr(0xc0, 32, make([]byte, 11))), gone + "attribute-length"},
		{"LARGE COMMUNITIES empty", both(), announces(usual(), attr(0xc0, 32)), gone + "attribute-length"},
		{"an unknown optional attribute", both(), announces(usual(), attr(0xc0, 99, make([]byte, 300))), announced + " | dropped=1"},
		{"a malformed Prefix-SID", both(), announces(usual(), attr(0xc0, 40, []byte{1, 0, 255})), announced + " | dropped=1"},
		{"an unknown well-known attribute", both(), announces(usual(), attr(0x40, 99, []byte{1})), "notify 3/2 | unknown-well-known"},
		{"an attribute twice: the first counts", both(), announces(usual(), origin(2), attr(0xc0, 99), attr(0xc0, 99)), announced + " | dropped=3 duplicate-attribute"},
		{"an attribute twice: the first is malformed", both(), announces(origin(7), usual()), withdrawn + " | withdrawn=1 dropped=1 origin"},
		{"the strongest approach wins", both(), announces(attr(0x40, 6, []byte{1}), origin(7), attr(0x40, 99), without(1)), "notify 3/2 | unknown-well-known"},
		{"of two errors of one approach the first is told", both(), announces(attr(0x80, 4), origin(7), without(1)), gone + "attribute-length"},
		{"an error where no prefix is announced", both(), updateOf(net("203.0.113.0/24"), [][]byte{origin(7)}, nil), "notify 3/6 | origin"},
		{"a discarded attribute where no prefix is announced", both(), updateOf(net("203.0.113.0/24"), [][]byte{attr(0x40, 6, []byte{1})}, nil),
			withdrawn + " | dropped=1 attribute-length"},
		{"withdrawals stay when announcements join them", both(), updateOf(net("198.51.100.0/24"), [][]byte{origin(9), without(1)}, net("203.0.113.0/24")),
			"withdraw 198.51.100.0/24; " + gone + "origin"},
	}
}

func pathErrors() []updateCase {
	gone := withdrawn + " | withdrawn=1 as-path"
	pathed := func(p ...[]byte) []byte { return announces(without(2), path(p...)) }
	return []updateCase{
		{"AS_PATH with a segment of type 0", both(), pathed(segment4(0, 1)), gone},
		{"AS_PATH with a segment of type 5", both(), pathed(segment4(5, 1)), gone},
		{"AS_PATH with an empty segment", both(), pathed(segment4(asSequence, 1), segment4(asSequence)), gone},
		{"AS_PATH overrun", both(), pathed([]byte{2, 2}, u32(1)), gone},
		{"AS_PATH underrun", both(), pathed(segment4(asSequence, 1), []byte{2}), gone},
		{"AS_PATH with AS numbers of two octets", both(), pathed(segment2(asSequence, 64501)), gone},
		{"AS_PATH with AS numbers of four octets", twoOctet(), pathed(segment4(asSequence, 64501)), gone},
		{"AS_PATH with a confederation sequence", both(), pathed(segment4(confedSequence, 1), segment4(asSequence, 1)), gone},
		{"AS_PATH with a confederation set", internal(), pathed(segment4(confedSet, 1)), gone},
		{"AS_PATH with AS 0", both(), pathed(segment4(asSequence, 1, 0)), gone},
		{"AS_PATH optional", both(), announces(without(2), attr(0xc0, 2)), withdrawn + " | withdrawn=1 attribute-flags"},
	}
}

func aggregateErrors() []updateCase {
	return []updateCase{
		{"ATOMIC_AGGREGATE is not needed", both(), announces(usual(), attr(0x40, 6)), announced + " | dropped=1"},
		{"ATOMIC_AGGREGATE of one octet", both(), announces(usual(), attr(0x40, 6, []byte{1})), announced + " | dropped=1 attribute-length"},
		{"ATOMIC_AGGREGATE optional", both(), announces(usual(), attr(0xc0, 6)), withdrawn + " | withdrawn=1 attribute-flags"},
		{"AGGREGATOR is not needed", both(), announces(usual(), attr(0xc0, 7, u32(1), addr("192.0.2.1"))), announced + " | dropped=1"},
		{"AGGREGATOR of six octets among four-octet speakers", both(), announces(usual(), attr(0xc0, 7, u16(1), addr("192.0.2.1"))), announced + " | dropped=1 attribute-length"},
		{"AGGREGATOR with AS 0", both(), announces(usual(), attr(0xc0, 7, u32(0), addr("192.0.2.1"))), announced + " | dropped=1 aggregator"},
	}
}
