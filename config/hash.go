package config

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"slices"
	"strings"
)

// fingerprint is 8 hex digits over everything that decides an answer: the merged tree without server
// and admin, with keys in the order of their names, the texts of the zone files,
// and what the files of networks hold.
func fingerprint(root *node, c *Config) string {
	content := &node{shape: isMapping}
	for _, n := range root.children {
		if n.name != "server" && n.name != "admin" && n.shape != isNothing {
			content.children = append(content.children, n)
		}
	}
	sum := sha256.New()
	sum.Write(content.json(nil))
	byName := slices.SortedStableFunc(slices.Values(c.Zones), func(a, b Zone) int { return strings.Compare(a.Name, b.Name) })
	for _, z := range byName {
		if z.File != "" {
			sum.Write(quote(nil, z.Name))
			sum.Write(quote(nil, z.FileText))
		}
	}
	for _, m := range c.Maps {
		for _, r := range m.Rules {
			if r.NetworksFile != "" {
				sum.Write(networksContent(r.Networks))
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}

// networksContent is networks as bytes, and no others have the same.
func networksContent(networks []netip.Prefix) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(networks)))
	for _, p := range networks {
		b = append(append(b, byte(p.Addr().BitLen()), byte(p.Bits())), p.Addr().AsSlice()...)
	}
	return b
}
