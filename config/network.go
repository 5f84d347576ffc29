package config

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

const (
	domainPattern   = `^([A-Za-z0-9_/-]{1,63}\.)*[A-Za-z0-9_/-]{1,63}\.?$`
	mailboxPattern  = `^(([A-Za-z0-9_+=/-]|\\\.){1,63}\.)*([A-Za-z0-9_+=/-]|\\\.){1,63}\.?$`
	ownerPattern    = `^(@|\*|(\*\.)?([A-Za-z0-9_/-]{1,63}\.)*[A-Za-z0-9_/-]{1,63}\.?)$`
	longestDomain   = 254 // letters, with the final dot: 255 octets on the wire (RFC 1035, 3.1)
	addrPortPattern = `^(\[[0-9A-Fa-f:.]+\]|[0-9.]+):[0-9]{1,5}$`
	prefixPattern   = `^[0-9A-Fa-f:.]+/[0-9]{1,3}$`
)

var (
	zoneNames  = naming{"a domain name such as ok.test", regexp.MustCompile(domainPattern), longestDomain}
	ownerNames = naming{"a name in the zone: relative such as www, @ for the zone itself, or *.vid", regexp.MustCompile(ownerPattern), longestDomain}
)

// domain is a domain name, relative without a final dot.
func domain(noun string) form[string] { return text(noun, domainPattern) }

// parsed is a text that a function reads; the function's error says what is wrong, with the text.
func parsed[T any](noun string, s schema, parse func(string) (T, error)) form[T] {
	s.Type = jsonTypes(isText)
	return form[T]{
		takes: isText, noun: noun, schema: s,
		read: func(r *reader, n *node, to *T) {
			value, err := parse(n.text)
			if err != nil {
				r.fault(n, "%s", err)
				return
			}
			*to = value
		},
	}
}

// address is an IPv4 or IPv6 address that something can answer at.
func address() form[netip.Addr] {
	const noun = "an IPv4 or IPv6 address"
	f := parsed(noun, schema{}, func(s string) (netip.Addr, error) {
		a, err := netip.ParseAddr(s)
		switch {
		case err != nil:
			return a, fmt.Errorf("must be %s, not the text %q", noun, cut(s))
		case a.Zone() != "":
			return a, fmt.Errorf("%s has a zone, which means nothing to others", s)
		case a.IsUnspecified() || a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
			return a, fmt.Errorf("%s is not the address of one machine", s)
		case a.Is4In6():
			return a, fmt.Errorf("%s is an IPv4 address in IPv6 form: write %s", s, a.Unmap())
		}
		return a, nil
	})
	f.schema = schema{Type: f.schema.Type, AnyOf: []schema{{Format: "ipv4"}, {Format: "ipv6"}}}
	return f
}

// addrPort is where a socket listens.
func addrPort() form[netip.AddrPort] {
	const noun = "an address and port such as 127.0.0.1:5353 or [::1]:5353"
	return parsed(noun, schema{Pattern: addrPortPattern}, parseAddrPort)
}

func parseAddrPort(s string) (netip.AddrPort, error) {
	ap, err := netip.ParseAddrPort(s)
	switch {
	case err != nil:
		return ap, notAddrPort(s)
	case ap.Port() == 0:
		return ap, fmt.Errorf("%s has port 0: a port is from 1 to 65535", s)
	case ap.Addr().Is4In6():
		return ap, fmt.Errorf("%s is an IPv4 address in IPv6 form: write %s", s, netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()))
	}
	return ap, nil
}

// notAddrPort says what a text lacks to be an address and port.
func notAddrPort(s string) error {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return fmt.Errorf("%s lacks a port: write %s", s, netip.AddrPortFrom(a, 53))
	}
	colon := strings.LastIndexByte(s, ':') + 1
	switch port, err := strconv.ParseUint(s[colon:], 10, 32); {
	case err != nil || colon == 0:
	case colon == 1:
		return fmt.Errorf("%s lacks the address: write 0.0.0.0%s for every IPv4 address, [::]%s for every IPv6 address", s, s, s)
	case port > 65535:
		return fmt.Errorf("%s has port %d: a port is from 1 to 65535", s, port)
	}
	return fmt.Errorf("must be an address and port such as 127.0.0.1:5353 or [::1]:5353, not the text %q", cut(s))
}

// prefix is a network in its masked form.
func prefix() form[netip.Prefix] {
	return parsed("a network such as 192.0.2.0/24", schema{Pattern: prefixPattern}, parsePrefix)
}

func parsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
			return p, fmt.Errorf("%s lacks a length: write %s for the one address", s, netip.PrefixFrom(a, a.BitLen()))
		}
		return p, fmt.Errorf("must be a network such as 192.0.2.0/24, not the text %q", cut(s))
	}
	if p.Addr().Is4In6() {
		return p, fmt.Errorf("%s is an IPv4 network in IPv6 form: write it as IPv4", s)
	}
	if p != p.Masked() {
		return p, fmt.Errorf("%s has bits set behind its length: write %s", s, p.Masked())
	}
	return p, nil
}

// asn is the number of an autonomous system.
func asn() form[uint32] { return number[uint32](1, 4294967295) }

// lengths is a range of prefix lengths, as 8-24.
func lengths(most int) form[Lengths] {
	noun := fmt.Sprintf("a range of prefix lengths such as 16-%d, within 0-%d", most*3/4, most)
	return parsed(noun, schema{Pattern: `^[0-9]{1,3}-[0-9]{1,3}$`}, func(s string) (Lengths, error) {
		low, high, _ := strings.Cut(s, "-")
		from, err1 := strconv.ParseUint(low, 10, 8)
		to, err2 := strconv.ParseUint(high, 10, 8)
		if err1 != nil || err2 != nil || from > to || to > uint64(most) {
			return Lengths{}, fmt.Errorf("must be %s, not the text %q", noun, cut(s))
		}
		return Lengths{int(from), int(to)}, nil
	})
}

// share is a count or, as 50%, a part of a place's endpoints.
func share() form[Share] {
	count := of(number[int](1, 10000), func(n int, to *Share) { *to = Share{Count: n} })
	const noun = "a part such as 50%"
	part := parsed(noun, schema{Pattern: `^([1-9][0-9]?|100)%$`}, func(s string) (Share, error) {
		n, err := strconv.Atoi(strings.TrimSuffix(s, "%"))
		if err != nil || !strings.HasSuffix(s, "%") || n < 1 || n > 100 || s[0] < '1' {
			return Share{}, fmt.Errorf("must be a number of endpoints or a part from 1%% to 100%%, not the text %q", cut(s))
		}
		return Share{Percent: n}, nil
	})
	return either(count, part)
}

// Overlap tells whether two sockets cannot be open side by side, since one is for all addresses of its
// family and the other for one of them, or both are for the same.
func Overlap(a, b netip.AddrPort) bool {
	if a.Port() != b.Port() || a.Addr().Is4() != b.Addr().Is4() {
		return false
	}
	return a.Addr() == b.Addr() || a.Addr().IsUnspecified() || b.Addr().IsUnspecified()
}
