package config

import (
	"net/netip"
	"regexp"
)

// Admin says where the operator's HTTP door is.
type Admin struct {
	Listen netip.AddrPort // the zero value: off
	TLS    *AdminTLS      // nil: it is not spoken
	Tokens []AdminToken   // none: whoever reaches the door may ask
}

// AdminTLS is what the door shows inside TLS.
type AdminTLS struct {
	Certificate string // path of a file with the certificate and its chain (PEM)
	Key         string // path of the file with its key (PEM)
}

// AdminToken is one who may ask.
type AdminToken struct {
	Name string
	Hash string // SHA-256 of the token, in hex
	Role AdminRole
}

// AdminRole is what a token allows. Each allows what those before it do.
type AdminRole int

const (
	// AdminRead allows to look.
	AdminRead AdminRole = iota
	// AdminDrain allows to begin and end drains.
	AdminDrain
	// AdminOperate allows to reload and to reset sessions.
	AdminOperate
)

// adminBlock is the top-level key admin with all that belongs to it, in block style.
var adminBlock = regexp.MustCompile(`(?m)^admin[ \t]*:.*(?:\n(?:[ \t#].*)?)*`)

// LoadAdmin reads of a config's files the admin key alone, where it stands as a block of its own. It is
// for whoever looks for the running server while the rest of the text is no YAML. The second result
// tells whether the key was there and could be read.
func LoadAdmin(file string) (Admin, bool) {
	sources, _ := gather(file)
	for i, s := range sources {
		sources[i].Text = adminBlock.Find(s.Text)
	}
	c, problems := ParseWith(readNamedFile, sources...)
	_, given := c.positions.of("admin")
	return c.Admin, given && problems.Err() == nil
}
