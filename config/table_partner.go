package config

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func bgpForm() form[BGP] {
	return object("asn, router_id, listen, rpki",
		key("asn", "Number of our autonomous system.", asn(), func(b *BGP) *uint32 { return &b.ASN }),
		key("router_id", "Our BGP identifier, an IPv4 address.", routerID(), func(b *BGP) *netip.Addr { return &b.RouterID }),
		key("listen", "Addresses for sessions that partners open. Default: none.", setOf("addresses and ports", 0, addrPort()),
			func(b *BGP) *[]netip.AddrPort { return &b.Listen }),
		key("rpki", "Where validated ROA payloads come from: routes that they call invalid are refused. Default: nowhere.", rpkiForm(),
			func(b *BGP) *RPKI { return &b.RPKI }),
	)
}

func rpkiForm() form[RPKI] {
	cache := text("a host and port such as rpki.example:8282", `^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$`)
	return object("rtr, file",
		key("rtr", "Caches that speak RPKI-to-Router (RFC 8210).", setOf("caches", 0, cache), func(r *RPKI) *[]string { return &r.RTR }),
		key("file", "JSON file of a validator, watched.", filePath("the path of a file"), func(r *RPKI) *string { return &r.File }),
	)
}

func routerID() form[netip.Addr] {
	const noun = "an IPv4 address such as 192.0.2.53"
	return parsed(noun, schema{Format: "ipv4"}, func(s string) (netip.Addr, error) {
		a, err := netip.ParseAddr(s)
		if err != nil || !a.Is4() || a.IsUnspecified() {
			return a, fmt.Errorf("must be %s, not the text %q", noun, cut(s))
		}
		return a, nil
	})
}

func partnersForm() form[[]Partner] {
	partner := object("site, peers, networks, accept, communities, stale, shadow",
		key("site", "The site inside this network.", reference("the name of a site"), func(p *Partner) *string { return &p.Site }).required(),
		key("peers", "BGP sessions with this partner.", listOf("peers", 0, peerForm()), func(p *Partner) *[]Peer { return &p.Peers }),
		key("networks", "Static prefixes, beside or instead of peers: preference 100, path length 0.", setOf("networks", 0, prefix()),
			func(p *Partner) *[]netip.Prefix { return &p.Networks }),
		key("accept", "What is believed of this partner's peers.", acceptForm(), func(p *Partner) *Accept { return &p.Accept }),
		key("communities", `What BGP communities mean: "64501:50": prefer 50, or ignore.`, communitiesForm(), func(p *Partner) *[]Community { return &p.Communities }),
		key("stale", "How long learned prefixes outlive a lost session.", duration(0, 30*24*time.Hour), func(p *Partner) *time.Duration { return &p.Stale }).or("15m"),
		key("shadow", "Learn and report, but do not steer.", boolean(), func(p *Partner) *bool { return &p.Shadow }).or("false"),
	)
	return named("partners by name", ownName, func(n *node) Partner { return Partner{Name: n.name} }, partner)
}

func peerForm() form[Peer] {
	family := word(choice[Family]{"ipv4", FamilyIPv4}, choice[Family]{"ipv6", FamilyIPv6})
	return object("address, port, asn, passive, password_file, local, ttl_security, hold, keepalive, add_path, families",
		key("address", "Address of the peer.", address(), func(p *Peer) *netip.Addr { return &p.Address }).required(),
		key("port", "Port of the peer.", number[uint16](1, 65535), func(p *Peer) *uint16 { return &p.Port }).or("179"),
		key("asn", "Number of the peer's autonomous system.", asn(), func(p *Peer) *uint32 { return &p.ASN }).required(),
		key("passive", "Wait for the peer to open the session.", boolean(), func(p *Peer) *bool { return &p.Passive }).or("false"),
		key("password_file", "File that holds the TCP MD5 password (RFC 2385).", filePath("the path of a file"), func(p *Peer) *string { return &p.PasswordFile }),
		key("local", "Our address in sessions that we open. Default: as the system chooses.", address(), func(p *Peer) *netip.Addr { return &p.Local }),
		key("ttl_security", "How many hops away the peer may be, 1 for a direct neighbour (RFC 5082). Default: any number.", number[int](1, 254),
			func(p *Peer) *int { return &p.TTLSecurity }),
		key("hold", "Hold time that is offered.", duration(3*time.Second, 65535*time.Second), func(p *Peer) *time.Duration { return &p.Hold }).or("90s"),
		key("keepalive", "Time between keepalives. Default: a third of the hold time.", duration(time.Second, 65535*time.Second),
			func(p *Peer) *time.Duration { return &p.Keepalive }),
		key("add_path", "Take several paths of one prefix (RFC 7911).", boolean(), func(p *Peer) *bool { return &p.AddPath }).or("false"),
		key("families", "Families that the session carries.", setOf("families", 1, family), func(p *Peer) *[]Family { return &p.Families }).or("[ipv4, ipv6]"),
	)
}

func acceptForm() form[Accept] {
	ranges := object("ipv4, ipv6",
		key("ipv4", "Prefix lengths of IPv4.", lengths(32), func(a *Accept) *Lengths { return &a.IPv4 }).or("8-24"),
		key("ipv6", "Prefix lengths of IPv6.", lengths(128), func(a *Accept) *Lengths { return &a.IPv6 }).or("16-48"),
	)
	return object("within, origins, lengths, max_prefixes",
		key("within", "Only prefixes inside these networks. Default: any.", setOf("networks", 0, prefix()), func(a *Accept) *[]netip.Prefix { return &a.Within }),
		key("origins", "Only prefixes whose AS_PATH ends in one of these. Default: any.", setOf("AS numbers", 0, asn()), func(a *Accept) *[]uint32 { return &a.Origins }),
		key("lengths", "Only prefixes of these lengths.", ranges, func(a *Accept) *Accept { return a }),
		key("max_prefixes", "Above this many, counted as received, the session is closed.", number[int](1, 10_000_000), func(a *Accept) *int { return &a.MaxPrefixes }).or("100000"),
	)
}

// communitiesForm reads standard (RFC 1997) and large (RFC 8092) communities.
func communitiesForm() form[[]Community] {
	values := naming{`a community such as "64501:50" or "64501:1:50"`, regexp.MustCompile(`^[0-9]{1,10}:[0-9]{1,10}(:[0-9]{1,10})?$`), 0}
	const noun = `"prefer N" or "ignore"`
	meaning := parsed(noun, schema{Pattern: `^(ignore|prefer [0-9]{1,10})$`}, func(s string) (Community, error) {
		if s == "ignore" {
			return Community{Ignore: true}, nil
		}
		preference, ok := strings.CutPrefix(s, "prefer ")
		n, err := strconv.ParseUint(preference, 10, 32)
		if !ok || err != nil {
			return Community{}, fmt.Errorf("must be %s with N a local preference up to 4294967295, not the text %q", noun, cut(s))
		}
		return Community{Prefer: uint32(n)}, nil
	})
	read := meaning.read
	meaning.read = func(r *reader, n *node, to *Community) {
		read(r, n, to)
		to.Value = n.name
		if most := communityPart(n.name); most != "" && values.pattern.MatchString(n.name) {
			r.fault(n, "%q is not a community: a part is larger than %s", n.name, most)
		}
	}
	return named("communities and their meanings", values, func(n *node) Community { return Community{} }, meaning)
}

// communityPart gives the bound that a part of a community breaks, or "".
func communityPart(value string) string {
	parts := strings.Split(value, ":")
	bits, most := 16, "65535"
	if len(parts) == 3 {
		bits, most = 32, "4294967295"
	}
	for _, p := range parts {
		if _, err := strconv.ParseUint(p, 10, bits); err != nil {
			return most
		}
	}
	return ""
}
