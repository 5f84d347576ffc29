package config

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// fingerprint is 8 hex digits over everything that decides an answer: the merged tree without server
// and admin, with keys in the order of their names, and the texts of the zone files.
func fingerprint(root *node, zones []Zone) string {
	content := &node{shape: isMapping}
	for _, c := range root.children {
		if c.name != "server" && c.name != "admin" && c.shape != isNothing {
			content.children = append(content.children, c)
		}
	}
	sum := sha256.New()
	sum.Write(content.json(nil))
	byName := slices.SortedStableFunc(slices.Values(zones), func(a, b Zone) int { return strings.Compare(a.Name, b.Name) })
	for _, z := range byName {
		if z.File != "" {
			sum.Write(quote(nil, z.Name))
			sum.Write(quote(nil, z.FileText))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}
