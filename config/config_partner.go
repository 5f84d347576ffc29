package config

import (
	"net/netip"
	"time"
)

// BGP is our side of every session.
type BGP struct {
	ASN      uint32
	RouterID netip.Addr
	Listen   []netip.AddrPort
	RPKI     RPKI
}

// RPKI says where validated ROA payloads come from, by which origins are judged. Empty: not at all.
type RPKI struct {
	RTR  []string // caches, as host:port (RFC 8210)
	File string   // path of a JSON file that a validator writes
}

// Partner is a network that wants its clients on the site inside it.
type Partner struct {
	Name        string
	Site        string
	Peers       []Peer
	Networks    []netip.Prefix
	Accept      Accept
	Communities []Community
	Stale       time.Duration
	Shadow      bool
}

// Peer is one BGP session of a partner.
type Peer struct {
	Address      netip.Addr
	Port         uint16
	ASN          uint32
	Passive      bool
	PasswordFile string
	Local        netip.Addr    // source address of the sessions that we open; the zero value: as the kernel chooses
	TTLSecurity  int           // routers that the peer may be away (RFC 5082); 0: however far
	Hold         time.Duration // offered
	Keepalive    time.Duration // 0: a third of the hold time
	AddPath      bool
	Families     []Family
}

// Family is an address family that a session may carry.
type Family uint8

// The families of unicast prefixes.
const (
	FamilyIPv4 Family = iota
	FamilyIPv6
)

// Accept bounds what is believed of a partner's announcements.
type Accept struct {
	Within      []netip.Prefix // empty: anything
	Origins     []uint32       // empty: any origin
	IPv4        Lengths
	IPv6        Lengths
	MaxPrefixes int
}

// Lengths is an inclusive range of prefix lengths.
type Lengths struct{ Min, Max int }

// Community maps one BGP community to what it means for steering.
type Community struct {
	Value  string // "64501:50" or large "64501:1:50"
	Ignore bool
	Prefer uint32 // local preference, when not Ignore
}
