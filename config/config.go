package config

// Config is what the operator said, typed, checked and with every default filled in. It is
// immutable once [Load] or [Parse] has returned it. Lists keep the order of the files.
type Config struct {
	File  string   // the main file, as it was named
	Files []string // every file that was read, and the drop-in folder: what a watcher watches

	Server   Server
	Admin    Admin
	Geo      Geo
	Checks   []Check
	Brake    Brake
	Places   []Place // datacenters first, then sites
	BGP      BGP
	Partners []Partner
	Maps     []Map
	Services []Service
	Zones    []Zone
	Drains   []Drain

	positions *positions
	hash      string
}

// At gives the position of the key at a dotted path, as "services.video.at.nsk" or
// "drains[0].target"; the zero Pos when nothing stands there.
func (c *Config) At(path string) Pos {
	pos, _ := c.positions.of(path)
	return pos
}

// Hash is 8 hex digits of the content: two servers with the same are configured alike. It
// covers every key but server and admin, which differ by nature, and the files of zones and networks.
func (c *Config) Hash() string { return c.hash }
