package config

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

func zonesForm() form[[]Zone] {
	zone := object("ttl, soa, ns, file, records, services, transfer, dnssec",
		key("ttl", "TTL in seconds of records that give none.", seconds(0, maxTTL), func(z *Zone) *uint32 { return &z.TTL }).or("3600"),
		key("soa", "Start of authority. The SOA record may stand in the file or in records instead; both is an error.", soaForm(), func(z *Zone) **SOA { return &z.SOA }),
		key("ns", "Name servers, relative to the zone without a final dot; one inside the zone needs an address.", setOf("name servers", 1, domain("the name of a name server such as ns1")),
			func(z *Zone) *[]string { return &z.NS }),
		key("file", "Master file (RFC 1035); watched and reloaded.", filePath("the path of a master file"), func(z *Zone) *string { return &z.File }),
		key("records", "Records as in a master file.", recordsForm(), func(z *Zone) *Zone { return z }),
		key("services", "Names of the zone and the services that answer them; @ is the zone itself, *.vid a wildcard.", zoneServicesForm(), func(z *Zone) *[]ZoneService { return &z.Services }),
		key("transfer", "Who may transfer the zone (RFC 5936). Default: nobody.", transferForm(), func(z *Zone) **Transfer { return &z.Transfer }),
		key("dnssec", "Sign the zone (RFC 9364). Default: it is not signed.", dnssecForm(), func(z *Zone) **DNSSEC { return &z.DNSSEC }),
	)
	return named("zones by domain name", zoneNames, func(n *node) Zone {
		return Zone{Name: strings.ToLower(strings.TrimSuffix(n.name, ".")) + ".", Path: n.path()}
	}, zone)
}

// transferForm keeps nil where the key is not given.
func transferForm() form[*Transfer] {
	transfer := object("allow, keys, notify",
		key("allow", "Networks that may transfer the zone. Default: any, with a key.", setOf("networks", 1, prefix()), func(t *Transfer) *[]netip.Prefix { return &t.Allow }),
		key("keys", "Names of keys in server.tsig_keys; a transfer must be signed with one. Default: by address alone.", setOf("names of keys", 1, domain("the name of a key")),
			func(t *Transfer) *[]string { return &t.Keys }),
		key("notify", "Secondaries that are told when the zone has another serial (RFC 1996). Default: none.", secondaries(), func(t *Transfer) *[]Secondary { return &t.Notify }),
	)
	transfer.takes = isMapping
	transfer.schema.Type = jsonTypes(isMapping)
	transfer.schema.MinProperties = 1
	return optional(transfer)
}

// secondaries is a list of secondaries, each an address, or a mapping with the key as well.
func secondaries() form[[]Secondary] {
	short := of(hostPort(), func(a netip.AddrPort, to *Secondary) { *to = Secondary{Address: a} })
	full := object("address, key, source",
		key("address", "Address of the secondary, and its port unless that is 53.", hostPort(), func(s *Secondary) *netip.AddrPort { return &s.Address }).required(),
		key("key", "Name of a key in server.tsig_keys by which the message is signed. Default: it is not signed.", domain("the name of a key"), func(s *Secondary) *string { return &s.Key }),
		key("source", "Address from which it is told. Default: one of server.listen.", address(), func(s *Secondary) *netip.Addr { return &s.Source }),
	)
	return setBy("secondaries", 1, either(short, full), func(s Secondary) netip.AddrPort { return s.Address })
}

// hostPort is where a name server answers: an address, and a port if it is not 53.
func hostPort() form[netip.AddrPort] {
	const noun = "the address of a name server such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353"
	f := parsed(noun, schema{}, func(s string) (netip.AddrPort, error) {
		ap, err := netip.ParseAddrPort(s)
		if a, bare := netip.ParseAddr(s); bare == nil {
			ap, err = netip.AddrPortFrom(a, 53), nil
		}
		switch {
		case err != nil || ap.Port() == 0 || ap.Addr().Zone() != "":
			return ap, fmt.Errorf("must be %s, not the text %q", noun, cut(s))
		case ap.Addr().IsUnspecified() || ap.Addr().IsMulticast():
			return ap, fmt.Errorf("%s is not the address of one machine", s)
		}
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
	})
	f.schema = schema{Type: f.schema.Type, AnyOf: []schema{{Format: "ipv4"}, {Format: "ipv6"}, {Pattern: addrPortPattern}}}
	return f
}

// optional keeps nil where the key is not given.
func optional[T any](f form[T]) form[*T] {
	return form[*T]{
		takes: f.takes, noun: f.noun, schema: f.schema,
		read: func(r *reader, n *node, to **T) {
			var value T
			f.read(r, n, &value)
			*to = &value
		},
	}
}

// soaForm keeps nil where the key is not given.
func soaForm() form[*SOA] {
	serial := either(
		of(word(choice[bool]{"auto", true}), func(auto bool, to *SOA) { to.Auto, to.Serial = auto, 0 }),
		of(number[uint32](0, 1<<32-1), func(n uint32, to *SOA) { to.Auto, to.Serial = false, n }),
	)
	soa := object("mname, rname, serial, refresh, retry, expire, minimum",
		key("mname", "Primary name server. Default: the first of ns.", domain("the name of a name server such as ns1"), func(s *SOA) *string { return &s.MName }),
		key("rname", "Mailbox of the operator, its @ written as a dot. Default: hostmaster in the zone.", text("a mailbox such as hostmaster or hostmaster.ok.test., with a dot for the @", mailboxPattern),
			func(s *SOA) *string { return &s.RName }),
		key("serial", "A number, or auto: a hash of the zone's content, equal on all servers.", serial, func(s *SOA) *SOA { return s }).or("auto"),
		key("refresh", "Seconds between a secondary's checks.", seconds(1, maxTTL), func(s *SOA) *uint32 { return &s.Refresh }).or("3600"),
		key("retry", "Seconds until a secondary tries again.", seconds(1, maxTTL), func(s *SOA) *uint32 { return &s.Retry }).or("600"),
		key("expire", "Seconds after which a secondary gives up.", seconds(1, maxTTL), func(s *SOA) *uint32 { return &s.Expire }).or("604800"),
		key("minimum", "TTL in seconds of denials (RFC 2308).", seconds(0, maxTTL), func(s *SOA) *uint32 { return &s.Minimum }).or("60"),
	)
	return optional(soa)
}

func recordsForm() form[Zone] {
	return form[Zone]{
		takes: isText, noun: "master-file text, best as a block after |",
		schema: schema{Type: jsonTypes(isText)},
		read:   func(_ *reader, n *node, to *Zone) { to.Records, to.RecordsPos = n.text, n.valuePos() },
	}
}

func zoneServicesForm() form[[]ZoneService] {
	bound := part(reference("the name of a service"), func(s *ZoneService) *string { return &s.Service })
	return named("names of the zone and services", ownerNames, func(n *node) ZoneService { return ZoneService{Name: n.name} }, bound)
}

func drainsForm() form[[]Drain] {
	drain := object("target, service, until, reason, by, hard, force",
		key("target", "The place that is drained.", reference("the name of a place"), func(d *Drain) *string { return &d.Target }).required(),
		key("service", "Only for this service. Default: for every one.", reference("the name of a service"), func(d *Drain) *string { return &d.Service }),
		key("until", "When the drain is over (RFC 3339). Default: when it is removed.", instant(), func(d *Drain) *time.Time { return &d.Until }),
		key("reason", "Why the place is drained; reasons show it.", anything("one line of text"), func(d *Drain) *string { return &d.Reason }),
		key("by", "Who drained it.", anything("one line of text"), func(d *Drain) *string { return &d.By }),
		key("hard", "Do not give the place even when nothing else serves.", boolean(), func(d *Drain) *bool { return &d.Hard }).or("false"),
		key("force", "Why it may leave a service fewer places than its min_places. Default: it may not.", anything("one line of text"), func(d *Drain) *string { return &d.Force }),
	)
	read := drain.read
	drain.read = func(r *reader, n *node, to *Drain) {
		read(r, n, to)
		to.Pos = n.keyPos()
	}
	return listOf("drains", 0, drain)
}

// instant is a point in time.
func instant() form[time.Time] {
	const noun = "a time such as 2026-12-24T06:00:00Z (RFC 3339)"
	const pattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$`
	return parsed(noun, schema{Pattern: pattern}, func(s string) (time.Time, error) {
		upper := strings.ToUpper(strings.Replace(s, " ", "T", 1))
		t, err := time.Parse(time.RFC3339, upper)
		if _, local := time.Parse("2006-01-02T15:04:05", upper); local == nil {
			return t, fmt.Errorf("%s lacks its offset from UTC: write %sZ for UTC, %s+03:00 for Moscow", s, upper, upper)
		}
		if err != nil {
			return t, fmt.Errorf("must be %s, not the text %q", noun, cut(s))
		}
		return t, nil
	})
}
