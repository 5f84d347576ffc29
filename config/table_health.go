package config

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// brakeForm is a share of the endpoints, or a mapping with more about it.
func brakeForm() form[Brake] {
	full := object("share, reference",
		key("share", "Part of the endpoints that must fail at once, such as 80%, or off.", brakeShare(), func(b *Brake) *int { return &b.Percent }).or("100%"),
		key("reference", "Addresses that are not endpoints, by the check that probes them: while one of them answers, the endpoints are down and not our own network, so verdicts are not held.",
			named("checks and addresses", ownName, func(n *node) Reference { return Reference{Check: n.name} },
				of(addresses(), func(list []netip.Addr, to *Reference) { to.Addresses = list })),
			func(b *Brake) *[]Reference { return &b.Reference }),
	)
	brake := either(part(brakeShare(), func(b *Brake) *int { return &b.Percent }), full)
	brake.fill = full.fill
	return brake
}

func brakeShare() form[int] {
	return parsed("a part such as 80%, or off", schema{Pattern: `^(off|([1-9][0-9]?|100)%)$`}, func(s string) (int, error) {
		if s == "off" {
			return 0, nil
		}
		digits, isPart := strings.CutSuffix(s, "%")
		n, err := strconv.Atoi(digits)
		if err != nil || !isPart || n < 1 || n > 100 || s[0] == '0' {
			return 0, fmt.Errorf("must be a part of the endpoints from 1%% to 100%%, or off, not the text %q", cut(s))
		}
		return n, nil
	})
}

// checksOf is the name of a check, or several, of which the worst counts.
func checksOf() form[[]string] {
	name := reference("the name of a check")
	one := of(name, func(s string, to *[]string) { *to = []string{s} })
	return either(one, setOf("names of checks", 1, name))
}

// addressOrList is an address, or several.
func addressOrList() form[[]netip.Addr] {
	one := of(address(), func(a netip.Addr, to *[]netip.Addr) { *to = []netip.Addr{a} })
	return either(one, addresses())
}

// stateForm is what an operator's hand says of an endpoint.
func stateForm() form[State] {
	return word(choice[State]{"auto", StateAuto}, choice[State]{"up", StateUp}, choice[State]{"down", StateDown})
}
