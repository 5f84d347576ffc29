// Package screen answers one question: which bytes of a peer may reach the BGP speaker?
//
// The speaker trusts what it parses, and a single odd UPDATE can end its process. So the relay
// hands every message of a peer to the screen first, and passes on only what comes out of it:
//
//	var v screen.Verdict
//	s := screen.Expect(ours) // ours: what our OPEN offers
//	v, s = s.Screen(message) // for each message, framed by screen.Length
//	if v.Notify != nil {
//		// send v.Notify.Message() to the peer and close both sides
//	}
//	// write v.Forward to the speaker
//
// A [Session] is the state of one connection, a plain value; an [Offer] is what one OPEN says; a
// [Verdict] is what becomes of one message. Nothing here reads a clock or a socket.
//
// The verdict on an UPDATE follows RFC 7606: of all errors in it the one with the strongest
// approach decides, from attribute discard over treat-as-withdraw to session reset. What is left
// is written anew in one canonical form: each UPDATE does one thing for one family (withdrawals
// first, as RFC 4271 section 4.3 asks where a prefix is both withdrawn and announced), IPv4 in the
// fields of RFC 4271, IPv6 in the attributes of RFC 4760, attributes in ascending order after
// these, flags as specified, host bits of prefixes cleared, AS numbers of four octets always.
//
// The screen lets nothing through that nobody behind it needs: no attributes and capabilities that
// steering has no use for, no address families other than IPv4 and IPv6 unicast, and nothing that it
// does not know, however well-formed. It does not judge routes: whether a prefix is believed is for
// package bgp to say.
package screen
