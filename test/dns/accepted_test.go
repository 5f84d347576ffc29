package dns

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// accepted is a difference that is none to mend: where it may show, and why.
type accepted struct {
	whose string   // "NSD", "Knot" or "both"
	parts []string // of the reply, in the words of differences
	when  func(q asked, ours, theirs heard) bool
	why   string
}

// acceptable is everything in which the three servers may differ.
var acceptable = []accepted{
	{"both", all, classAny,
		"RFC 1035 section 3.2.5: class * is asked for by nobody; they answer it as IN, one with AA and one without, we refuse it"},
	{"both", []string{"rcode", "flags", "answer"}, reasons,
		"class CHAOS gives reasons to those who may ask: that is ours"},
	{"both", []string{"edns"}, keepalive,
		"RFC 7828: they do not tell how long a connection may be silent"},
	{"both", []string{"answer"}, circle,
		"RFC 2181 section 5: a CNAME that points to itself through a wildcard is given once, not twice"},
	{"both", []string{"rcode", "flags", "answer", "authority", "additional"}, truncated,
		"RFC 2181 section 9: a reply with TC is empty with us, for nobody may use what is in it; they send what fits"},
	{"both", []string{"flags", "answer"}, endless,
		"RFC 6672 section 3.2: a DNAME into itself has no end; each gives up after a number of steps of its own"},
	{"both", []string{"answer", "additional"}, asksFor(dns.TypeANY),
		"RFC 8482 section 4.1: any one RRset will do, with as little beside it as can be"},
	{"both", []string{"additional"}, bindings,
		"RFC 9460 section 4.1: addresses of what HTTPS and SVCB point to, which these versions do not know yet"},
	{"both", []string{"flags", "edns"}, badVersion,
		"RFC 6891 section 6.1.3: nothing but the version matters; NSD gives bits back that mean nothing, Knot a subnet that may have another form"},
	{"NSD", []string{"edns"}, asksWith("+subnet"),
		"RFC 7871 section 7.2.1: NSD knows no client subnet; we say scope 0 of what is the same for all"},
	{"NSD", []string{"additional"}, onlyOurs,
		"RFC 1034 section 4.3.2 step 6: NSD leaves out addresses that save a question, when it keeps replies minimal"},
	{"NSD", []string{"question", "edns"}, otherClass,
		"RFC 8914: NSD gives no question back when it knows the class not, and an extended error of another number"},
	{"NSD", []string{"flags", "authority", "additional"}, glueDoesNotFit,
		"RFC 9471 section 3.1: TC when not all glue fits, of which this version does not know yet"},
	{"NSD", []string{"rcode", "answer", "authority", "additional"}, acrossZones,
		"RFC 2181 section 5.4.1: NSD follows an alias into its other zones, which no resolver believes; Knot and we do not"},
	{"NSD", []string{"rcode", "answer", "authority", "additional"}, asksFor(dns.TypeNSEC3),
		"RFC 5155 section 7.2.8: NSD denies NSEC3 without a look at the name"},
	{"both", []string{"rcode", "edns"}, apexTransfer,
		"RFC 5936 section 2.2.1: who may not have a zone is REFUSED, and told so by an extended error; Knot says NOTAUTH"},
	{"Knot", []string{"edns"}, asksWith("+cookie"),
		"RFC 7873: Knot has no cookies without a module; NSD and we give them with errors, too"},
	{"Knot", []string{"rcode", "flags", "answer", "authority", "additional", "edns"}, asksFor(dns.TypeNone),
		"RFC 6895 section 3.1: type 0 is in no zone; Knot says NOTIMP, NSD and we that there is none"},
	{"Knot", []string{"rcode", "answer", "authority"}, asksFor(dns.TypeRRSIG, dns.TypeNSEC),
		"RFC 4034 section 3: RRSIG and NSEC may stand beside a CNAME, so Knot does not follow it; in a zone without them NSD and we do"},
	{"Knot", []string{"additional"}, wildcardHost,
		"RFC 1034 section 4.3.2 step 6: Knot adds addresses that a wildcard gives to a host, which only save a question"},
	{"Knot", []string{"additional"}, tooLong,
		"RFC 2181 section 9: Knot adds such addresses as fit, we add all or none"},
	{"Knot", []string{"answer", "authority"}, longChain,
		"RFC 1034 section 3.6.2: aliases should not form chains; Knot ends at five, NSD and we go on"},
	{"Knot", []string{"flags", "answer"}, longTarget,
		"RFC 1035 section 4.1.4: Knot compresses the target of a CNAME by that of a DNAME before, which just fits 512 octets; NSD and we do not"},
}

// acceptableOfBroken is the same for packets that no client should send.
var acceptableOfBroken = []accepted{
	{"both", append([]string{"silence"}, all...), bothRefuse,
		"RFC 1035 section 4.1.1: which error it is, how much of the request comes back with it, and whether it is told at all, is left open"},
	{"both", []string{"rcode", "flags", "answer"}, named("a cookie of"),
		"RFC 7873 section 5.2.2: a malformed cookie is FORMERR; NSD takes it for none, Knot has no cookies without a module"},
	{"NSD", []string{"rcode", "flags", "answer", "edns"}, named("a subnet", "two subnets", "chance 462:"),
		"RFC 7871 section 7.1.2: a malformed client subnet is FORMERR; NSD does not look at it (chance made one, too)"},
	{"NSD", []string{"rcode", "flags", "question", "edns"}, notify,
		"RFC 1996: NOTIFY is for secondaries, and NOTIMP here; NSD says NXDOMAIN of a zone that it is none of"},
	{"Knot", []string{"rcode", "flags", "answer", "edns"}, named("a subnet with a scope", "a subnet with an octet too many", "a subnet with bits behind", "two subnets"),
		"RFC 7871 section 6: a scope, octets or bits that must not be there are FORMERR; Knot mends the first three and takes the last of two"},
	{"Knot", []string{"rcode", "flags", "answer", "edns"}, named("a subnet of family 0"),
		"RFC 7871 section 7.1.2: family 0 of length 0 is how BIND's dig says that nothing is to depend on the client; Knot does not know it"},
	{"Knot", []string{"rcode", "flags", "answer", "edns"}, named("OPT with a name"),
		"RFC 6891 section 6.1.2: the owner of an OPT record must be the root; Knot does not look"},
	{"NSD", []string{"rcode", "flags", "question", "answer", "edns"}, named("a record"),
		"RFC 9619 section 2: only the question section of a query has a bounded number; NSD takes no records beside OPT and TSIG, Knot and we pass over them"},
	{"NSD", []string{"rcode", "flags", "answer"}, named("octets behind"),
		"RFC 1035 section 4.1: a message ends with its last record; NSD passes over what follows, Knot and we say FORMERR"},
	{"both", append([]string{"silence"}, all...), stranger,
		"RFC 3597 section 4: what a record holds that a question has no use for is not read; Knot reads it, NSD takes no such record"},
	{"NSD", append([]string{"silence"}, all...), rcodeInQuestion,
		"RFC 1035 section 4.1.1: an RCODE means nothing in a request; NSD takes none that has one"},
}

var all = []string{"rcode", "flags", "question", "answer", "authority", "additional", "edns"}

func classAny(q asked, _, _ heard) bool { return q.class == dns.ClassANY }

func otherClass(q asked, _, theirs heard) bool {
	return q.class != dns.ClassINET && theirs.rcode == "REFUSED"
}

func reasons(q asked, ours, _ heard) bool {
	return q.class == dns.ClassCHAOS && len(ours.answer) > 0
}

func asksWith(word string) func(asked, heard, heard) bool {
	return func(q asked, ours, theirs heard) bool {
		return slices.ContainsFunc(q.words, func(w string) bool { return strings.HasPrefix(w, word) })
	}
}

func asksFor(types ...uint16) func(asked, heard, heard) bool {
	return func(q asked, _, _ heard) bool { return slices.Contains(types, q.rrtype) }
}

func bindings(q asked, ours, theirs heard) bool {
	return (q.rrtype == dns.TypeHTTPS || q.rrtype == dns.TypeSVCB) && len(theirs.additional) == 0 && slices.Equal(ours.answer, theirs.answer)
}

func wildcardHost(q asked, ours, theirs heard) bool {
	line := strings.Join(ours.answer, "\n")
	return ours.additional == nil && (strings.Contains(line, " mx 10 any.mailers.") || strings.Contains(line, " mx 10 lost."))
}

func apexTransfer(q asked, ours, _ heard) bool {
	return (q.rrtype == dns.TypeAXFR || q.rrtype == dns.TypeIXFR) && ours.rcode == "REFUSED"
}

func tooLong(q asked, ours, _ heard) bool {
	return q.rrtype == dns.TypeMX && len(ours.answer) == 12 && ours.additional == nil
}

func longChain(q asked, ours, theirs heard) bool {
	return len(ours.answer) > 5 && strings.HasPrefix(ours.answer[0], "chain1.") && len(theirs.answer) == 5
}

func longTarget(q asked, ours, _ heard) bool {
	return strings.Contains(ours.flags, "tc") && dns.IsSubDomain("dnamelong.alpha.test.", q.name)
}

func keepalive(q asked, ours, theirs heard) bool {
	without := slices.DeleteFunc(slices.Clone(ours.option), func(word string) bool { return word == "keepalive" || strings.HasPrefix(word, "subnet") })
	return slices.Contains(ours.option, "keepalive") && slices.Equal(without, slices.DeleteFunc(slices.Clone(theirs.option), func(word string) bool { return strings.HasPrefix(word, "subnet") }))
}

func circle(_ asked, ours, theirs heard) bool {
	return len(ours.answer) == 1 && slices.Equal(ours.answer, slices.Compact(slices.Clone(theirs.answer)))
}

func onlyOurs(_ asked, ours, theirs heard) bool {
	return len(ours.answer) > 0 && len(theirs.additional) == 0
}

func glueDoesNotFit(q asked, ours, _ heard) bool {
	return strings.Contains(ours.flags, "tc") && ours.answer == nil && dns.IsSubDomain("many.alpha.test.", q.name)
}

func truncated(_ asked, ours, theirs heard) bool {
	return strings.Contains(ours.flags, "tc") && strings.Contains(theirs.flags, "tc")
}

// acrossZones finds an answer that ends in an alias into another zone of the masters.
func acrossZones(q asked, ours, theirs heard) bool {
	owners := map[string]bool{}
	for _, line := range ours.answer {
		owners[strings.Fields(line)[0]] = true
	}
	for _, line := range ours.answer {
		words := strings.Fields(line)
		if end := words[len(words)-1]; words[3] == "cname" && !owners[end] && zoneOf(end) != zoneOf(strings.ToLower(q.name)) {
			return true
		}
	}
	return false
}

// zoneOf is the closest of the masters that has a name, or "".
func zoneOf(name string) (closest string) {
	for _, zone := range masters {
		if dns.IsSubDomain(zone+".", name) && len(zone) > len(closest) {
			closest = zone
		}
	}
	return closest
}

func endless(q asked, _, _ heard) bool { return dns.IsSubDomain("dnameloop.alpha.test.", q.name) }

func badVersion(_ asked, ours, theirs heard) bool {
	return ours.rcode == "BADVERS" && theirs.rcode == "BADVERS"
}

// bothRefuse finds two errors of whatever kind, or one and silence.
func bothRefuse(_ asked, ours, theirs heard) bool {
	refused := func(h heard) bool { return h.silent || h.rcode != "NOERROR" && h.rcode != "NXDOMAIN" }
	return refused(ours) && refused(theirs)
}

// named finds broken packets by how their names begin.
func named(names ...string) func(asked, heard, heard) bool {
	return func(q asked, _, _ heard) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(q.name, name) })
	}
}

// stranger finds packets in which chance made another record of the OPT.
func stranger(q asked, ours, theirs heard) bool {
	if !strings.HasPrefix(q.name, "chance") || !theirs.silent && theirs.rcode != "FORMERR" {
		return false
	}
	return binary.BigEndian.Uint16(q.packet[optAt+1:]) != dns.TypeOPT
}

func rcodeInQuestion(q asked, _, theirs heard) bool {
	return q.packet[3]&0xf != 0 && (theirs.silent || theirs.rcode == "FORMERR")
}

func notify(q asked, _, _ heard) bool { return q.packet[2]>>3&0xf == dns.OpcodeNotify }
