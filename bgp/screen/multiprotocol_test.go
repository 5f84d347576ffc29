package screen

func multiprotocolCases() []updateCase {
	base := cat(origin(0), sequence(64501, 64502))
	mp := func(attributes ...[]byte) []byte { return updateOf(nil, attributes, nil) }
	global, local := addr("2001:db8::1"), addr("fe80::1")
	extended := with(func(s *Session) { s.ExtendedNextHop = true })
	nlri := net("2001:db8:100::/40")
	return []updateCase{
		{"an IPv6 prefix", both(), mp(base, reach6()), announce6},
		{"an IPv6 prefix withdrawn", both(), mp(unreach(2, 1, nlri)), withdraw6},
		{"both families at once", both(), announces(usual(), reach6()), announced + "; " + announce6},
		{"withdrawals of both families", both(), updateOf(net("203.0.113.0/24"), [][]byte{unreach(2, 1, nlri)}, nil), withdrawn + "; " + withdraw6},
		{"IPv6 with path identifiers", paths(), mp(base, reach(2, 1, global, net("7#2001:db8:100::/40"))),
			"announce 7#2001:db8:100::/40 via 2001:db8::1 igp [64501 64502]"},
		{"a link-local next hop beside the global one", both(), mp(base, reach(2, 1, cat(global, local), nlri)), announce6},
		{"a link-local next hop alone", both(), mp(base, reach(2, 1, cat(make([]byte, 16), local), nlri)),
			"announce 2001:db8:100::/40 via fe80::1 igp [64501 64502]"},
		{"IPv4 in MP_REACH_NLRI goes to the fields", both(), mp(base, reach(1, 1, addr("192.0.2.1"), net("203.0.113.0/24"))), announced},
		{"IPv4 in MP_UNREACH_NLRI goes to the fields", both(), mp(unreach(1, 1, net("203.0.113.0/24"))), withdrawn},
		{"IPv4 by an IPv6 next hop", extended, mp(base, reach(1, 1, global, net("203.0.113.0/24"))),
			"announce 203.0.113.0/24 via 2001:db8::1 igp [64501 64502]"},
		{"IPv4 by an IPv6 next hop, not agreed on", both(), mp(base, reach(1, 1, global, net("203.0.113.0/24"))), "notify 3/9 | next-hop"},
		{"NEXT_HOP beside MP_REACH_NLRI is ignored, malformed as it is", both(), mp(base, attr(0x40, 3, []byte{1}), reach6()), announce6 + " | dropped=1"},
		{"a malformed attribute withdraws both families", both(), announces(usual(), attr(0x80, 4), reach6()),
			withdrawn + "; " + withdraw6 + " | withdrawn=2 attribute-length"},
		{"ORIGIN missing withdraws IPv6", both(), mp(sequence(1), reach6()), withdraw6 + " | withdrawn=1 missing-attribute"},
		{"an MP_REACH_NLRI without prefixes", both(), mp(base, reach(2, 1, global, nil)), "keepalive"},
		{"MP_UNREACH_NLRI without prefixes among others is no End-of-RIB", both(), mp(base, unreach(2, 1, nil)), "keepalive"},
		{"MP_REACH_NLRI of VPNv4", both(), mp(base, reach(1, 128, make([]byte, 12), []byte{88, 1})), "keepalive | dropped=1 foreign-family"},
		{"MP_REACH_NLRI of an unknown family", both(), announces(usual(), reach(77, 3, nil, []byte{1, 2, 3})), announced + " | dropped=1 foreign-family"},
		{"MP_UNREACH_NLRI of an unknown family", both(), announces(usual(), unreach(77, 3, []byte{1, 2, 3})), announced + " | dropped=1 foreign-family"},
		{"a malformed attribute beside prefixes of another family", both(), mp(origin(9), reach(1, 128, make([]byte, 12), nil)), "keepalive | dropped=1 origin"},
		{"IPv6 was not agreed on", with(func(s *Session) { s.IPv6.Agreed = false }), mp(base, reach6()), "keepalive | dropped=1 foreign-family"},
		{"MP_REACH_NLRI twice", both(), mp(base, reach6(), reach6()), "notify 3/1 | duplicate-attribute"},
		{"MP_UNREACH_NLRI twice", both(), mp(unreach(2, 1, nlri), unreach(2, 1, nlri)), "notify 3/1 | duplicate-attribute"},
		{"MP_REACH_NLRI of four octets", both(), mp(base, attr(0x80, 14, []byte{0, 2, 1, 0})), "notify 3/9 | multiprotocol"},
		{"MP_UNREACH_NLRI of two octets", both(), mp(attr(0x80, 15, []byte{0, 2})), "notify 3/9 | multiprotocol"},
		{"MP_REACH_NLRI transitive", both(), mp(base, attr(0xc0, 14, reach6()[3:])), withdraw6 + " | withdrawn=1 attribute-flags"},
		{"MP_REACH_NLRI transitive beside IPv4", both(), announces(usual(), attr(0xc0, 14, reach6()[3:])), withdrawn + "; " + withdraw6 + " | withdrawn=2 attribute-flags"},
		{"MP_REACH_NLRI transitive, of another family", both(), mp(base, attr(0xc0, 14, []byte{0, 77, 3, 0, 0})), "keepalive | dropped=1 attribute-flags"},
		{"MP_REACH_NLRI transitive with a prefix cut off", both(), mp(base, attr(0xc0, 14, reach(2, 1, global, []byte{64, 0x20})[3:])), "notify 3/9 | prefix"},
		{"MP_UNREACH_NLRI well-known", both(), mp(attr(0x40, 15, []byte{0, 2, 1}, nlri)), withdraw6 + " | attribute-flags"},
		{"MP_UNREACH_NLRI well-known without prefixes is no End-of-RIB", both(), mp(attr(0x40, 15, []byte{0, 2, 1})), "keepalive | attribute-flags"},
		{"MP_UNREACH_NLRI well-known, beside attributes of nothing", both(), mp(base, attr(0x40, 15, []byte{0, 2, 1}, nlri)), "notify 3/4 | attribute-flags"},
		{"a next hop of 12 octets", both(), mp(base, reach(2, 1, make([]byte, 12), nlri)), "notify 3/9 | next-hop"},
		{"an IPv6 next hop of four octets", both(), mp(base, reach(2, 1, addr("192.0.2.1"), nlri)), "notify 3/9 | next-hop"},
		{"a next hop beyond the attribute", both(), mp(base, attr(0x80, 14, []byte{0, 2, 1, 32}, global, []byte{0})), "notify 3/9 | multiprotocol"},
		{"a next hop that is no host", both(), mp(base, reach(2, 1, addr("::"), nlri)), withdraw6 + " | withdrawn=1 next-hop"},
		{"a next hop of ours", own("2001:db8::1"), mp(base, reach6()), withdraw6 + " | withdrawn=1 next-hop"},
		{"a next hop of ours with a link-local one", own("2001:db8::1"), mp(base, reach(2, 1, cat(global, local), nlri)), withdraw6 + " | withdrawn=1 next-hop"},
		{"a next hop that is multicast", both(), mp(base, reach(2, 1, addr("ff02::1"), nlri)), withdraw6 + " | withdrawn=1 next-hop"},
		{"an IPv6 prefix of 129 bits", both(), mp(base, reach(2, 1, global, append([]byte{129}, make([]byte, 17)...))), "notify 3/9 | prefix"},
		{"an IPv6 prefix cut off", both(), mp(base, reach(2, 1, global, []byte{64, 0x20})), "notify 3/9 | prefix"},
		{"a withdrawn IPv6 prefix cut off", both(), mp(unreach(2, 1, []byte{64, 0x20})), "notify 3/9 | prefix"},
		{"an IPv4 prefix of 33 bits in MP_REACH_NLRI", both(), mp(base, reach(1, 1, addr("192.0.2.1"), []byte{33, 1, 2, 3, 4, 5})), "notify 3/9 | prefix"},
	}
}

// fourOctetCases are those of RFC 6793.
func fourOctetCases() []updateCase {
	as2 := func(p ...[]byte) []byte { return cat(origin(0), path(p...), via("192.0.2.1")) }
	as4 := func(p ...[]byte) []byte { return attr(0xc0, 17, p...) }
	aggregator := func(asn int) []byte { return attr(0xc0, 7, u16(asn), addr("192.0.2.1")) }
	aggregator4 := attr(0xc0, 18, u32(70000), addr("192.0.2.1"))
	pathIs := func(p string) string { return "announce 203.0.113.0/24 igp [" + p + "] via 192.0.2.1" }
	return []updateCase{
		{"AS numbers of two octets become four", twoOctet(), announces(as2(segment2(asSequence, 64501, 64502))), announced},
		{"two segments that read as one of four octets", twoOctet(), announces(as2(segment2(asSequence, 1, 2), segment2(asSequence, 3))), pathIs("1 2 3")},
		{"AS4_PATH as long as AS_PATH", twoOctet(), announces(as2(segment2(asSequence, 64501, asTrans)), as4(segment4(asSequence, 64501, 70000))),
			pathIs("64501 70000") + " | dropped=1"},
		{"AS4_PATH shorter than AS_PATH", twoOctet(), announces(as2(segment2(asSequence, 5, asTrans, asTrans)), as4(segment4(asSequence, 70000, 70001))),
			pathIs("5 70000 70001") + " | dropped=1"},
		{"AS4_PATH longer than AS_PATH is ignored", twoOctet(), announces(as2(segment2(asSequence, asTrans)), as4(segment4(asSequence, 1, 70000))),
			pathIs("23456") + " | dropped=1"},
		{"a set counts for one", twoOctet(), announces(as2(segment2(asSequence, 5, asTrans), segment2(asSet, 7, 8)), as4(segment4(asSequence, 70000), segment4(asSet, 7, 8))),
			pathIs("5 70000 set 7 8") + " | dropped=1"},
		{"a set counts for one when AS4_PATH has none", twoOctet(), announces(as2(segment2(asSequence, 5, asTrans), segment2(asSet, 7, asTrans)), as4(segment4(asSequence, 70000, 9))),
			pathIs("5 70000 9") + " | dropped=1"},
		{"a set leads AS4_PATH", twoOctet(), announces(as2(segment2(asSet, 1, 2), segment2(asSequence, 3, asTrans)), as4(segment4(asSequence, 70000))),
			pathIs("set 1 2 3 70000") + " | dropped=1"},
		{"confederations in AS4_PATH are left out", twoOctet(), announces(as2(segment2(asSequence, 5, asTrans)), as4(segment4(confedSequence, 9), segment4(asSequence, 70000))),
			pathIs("5 70000") + " | dropped=1"},
		{"AS4_PATH malformed", twoOctet(), announces(as2(segment2(asSequence, asTrans)), as4([]byte{2, 9}, u32(1))),
			pathIs("23456") + " | dropped=1 as-path"},
		{"AS4_PATH too small", twoOctet(), announces(as2(segment2(asSequence, asTrans)), as4()), pathIs("23456") + " | dropped=1 as-path"},
		{"AS4_PATH with AS 0", twoOctet(), announces(as2(segment2(asSequence, asTrans)), as4(segment4(asSequence, 0))),
			pathIs("23456") + " | dropped=1 as-path"},
		{"AS4_PATH stale beside an AGGREGATOR", twoOctet(), announces(as2(segment2(asSequence, asTrans)), as4(segment4(asSequence, 70000)), aggregator(5), aggregator4),
			pathIs("23456") + " | dropped=3"},
		{"AS4_PATH fresh beside an AGGREGATOR", twoOctet(), announces(as2(segment2(asSequence, asTrans)), as4(segment4(asSequence, 70000)), aggregator(asTrans), aggregator4),
			pathIs("70000") + " | dropped=3"},
		{"AS4_AGGREGATOR malformed", twoOctet(), announces(as2(segment2(asSequence, asTrans)), as4(segment4(asSequence, 70000)), aggregator(5), attr(0xc0, 18, u32(1))),
			pathIs("70000") + " | dropped=3 attribute-length"},
		{"AGGREGATOR of eight octets from a two-octet speaker", twoOctet(), announces(as2(segment2(asSequence, 64501, 64502)), attr(0xc0, 7, u32(1), addr("192.0.2.1"))),
			announced + " | dropped=1 attribute-length"},
		{"AS4_PATH among four-octet speakers", both(), announces(usual(), as4([]byte{9})), announced + " | dropped=1"},
		{"AS4_AGGREGATOR among four-octet speakers", both(), announces(usual(), attr(0x40, 18)), announced + " | dropped=1"},
	}
}
