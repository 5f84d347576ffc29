package config

import "regexp"

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
	_, given := c.positions["admin"]
	return c.Admin, given && problems.Err() == nil
}
