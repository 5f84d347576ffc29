package config

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"net/netip"
	"slices"
	"strings"
)

// sumTree begins a fingerprint with the merged tree without server and admin, with keys in the order of their names.
func sumTree(root *node) hash.Hash {
	content := slices.DeleteFunc(slices.Clone(root.children), func(n *node) bool {
		return n.name == "server" || n.name == "admin" || n.shape == isNothing
	})
	slices.SortFunc(content, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	sum, b := sha256.New(), []byte("{")
	for i, n := range content {
		b = n.json(append(quote(comma(b, i), n.name), ':'))
		sum.Write(b)
		b = b[:0]
	}
	sum.Write(append(b, '}'))
	return sum
}

// fingerprint is 8 hex digits over everything that decides an answer: the tree, of which sum has been told, the texts of
// the zone files, and what the files of networks hold.
func fingerprint(sum hash.Hash, c *Config) string {
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
