package config

import "net/netip"

// Zone is a zone that this server is authoritative for.
type Zone struct {
	Path       string // dotted path of its key, as [Config.At] takes it
	Name       string // lower case, with a final dot
	TTL        uint32 // seconds: default of records without one
	SOA        *SOA   // nil: the key is not given; the zone may bring its own
	NS         []string
	File       string // path of the master file; empty: none
	FileText   string // its content
	Records    string // master-file text from the config
	RecordsPos Pos    // where the first line of Records stands
	Services   []ZoneService
	Transfer   *Transfer // nil: to nobody
	DNSSEC     *DNSSEC   // nil: the zone is not signed
}

// Transfer says who may have a zone as a whole: who comes from an allowed network, and has signed with a key, as
// far as there are such.
type Transfer struct {
	Allow []netip.Prefix // none: from anywhere
	Keys  []string       // names in [Server.TSIGKeys], in lower case and with a final dot; none: unsigned

	Notify []Secondary // who is told when the zone changes; none: nobody
}

// Secondary is a server that is told when a zone has changed.
type Secondary struct {
	Address netip.AddrPort
	Key     string     // by which the message is signed: as one of [Transfer]; empty: it is not signed
	Source  netip.Addr // from which it is told; zero: from one of [Server.Listen]
}

// SOA is the start of authority as the config gives it.
type SOA struct {
	MName, RName string // empty: the first name server, "hostmaster"
	Auto         bool   // serial: auto
	Serial       uint32
	Refresh      uint32 // seconds, as the three that follow
	Retry        uint32
	Expire       uint32
	Minimum      uint32
}

// ZoneService binds a name of a zone to a service.
type ZoneService struct {
	Name    string // relative to the zone; "@" is the apex
	Service string
}
