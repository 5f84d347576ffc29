package config

import "net/netip"

// Map is a named list of geo rules; the first match wins.
type Map struct {
	Name  string
	Rules []Rule
}

// Rule sends the clients that fit every given key to tiers of places.
type Rule struct {
	Country, Region, Continent, City string         // empty: any
	ASN                              uint32         // 0: any
	Networks                         []netip.Prefix // those of NetworksFile, too; nil: any
	NetworksFile                     string         // path of a file of networks; empty: none
	Nearest                          bool           // to: nearest
	To                               [][]string     // tiers of place names; nil with Nearest
}
