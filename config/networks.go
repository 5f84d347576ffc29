package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// maxNetworksFile bounds the text of one file of networks, in bytes: that of some four million.
const maxNetworksFile = 64 << 20

// maxNetworksFaults is how many mistakes are told of one file of networks.
const maxNetworksFaults = 50

// readNetworksFiles adds to the networks of every rule those of the file that it names. Such a rule has
// a list of networks also when the file holds none: it fits nobody then.
func (c *Config) readNetworksFiles(read func(path string) (string, error)) Problems {
	var problems Problems
	for i := range c.Maps {
		for j := range c.Maps[i].Rules {
			r := &c.Maps[i].Rules[j]
			if r.NetworksFile == "" {
				continue
			}
			c.Files = append(c.Files, r.NetworksFile)
			path := itemPath(keyPath("maps", c.Maps[i].Name), j) + ".networks_file"
			networks, faults := readNetworks(path, r.NetworksFile, c.At(path), read)
			problems = append(problems, faults...)
			if len(networks) == 0 && len(r.Networks) == 0 && faults.Err() == nil {
				problems[len(problems)-1].Message += ": the rule fits nobody"
			}
			r.Networks = append(append([]netip.Prefix{}, r.Networks...), networks...) // never nil
			slices.SortFunc(r.Networks, netip.Prefix.Compare)
			r.Networks = slices.Compact(r.Networks)
		}
	}
	return problems
}

// readNetworks reads the file that stands at a path of the config.
func readNetworks(path, file string, at Pos, read func(path string) (string, error)) ([]netip.Prefix, Problems) {
	text, err := read(file)
	switch {
	case err != nil:
		return nil, Problems{{Pos: at, Path: path, Message: fmt.Sprintf("%s cannot be read: %s", file, cause(err))}}
	case len(text) > maxNetworksFile:
		return nil, Problems{{Pos: at, Path: path, Message: fmt.Sprintf("%s is larger than %d MiB", file, maxNetworksFile>>20)}}
	}
	networks, problems := parseNetworks(path, file, text)
	if len(networks) == 0 && len(problems) == 0 {
		problems = Problems{{Pos: at, Path: path, Warning: true, Message: file + " holds no networks"}}
	}
	return networks, problems
}

// parseNetworks reads a text with one network a line. What follows a # is a comment. A network may stand
// there more than once.
func parseNetworks(path, file, text string) (networks []netip.Prefix, problems Problems) {
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line, _, _ = strings.Cut(line, "#")
		word := strings.TrimSpace(line)
		if word == "" {
			continue
		}
		p, err := parsePrefix(word)
		if err == nil {
			networks = append(networks, p)
			continue
		}
		pos := Pos{File: file, Line: number, Column: strings.Index(line, word) + 1}
		if len(problems) == maxNetworksFaults {
			problems = append(problems, Problem{Pos: pos, Path: path, Message: fmt.Sprintf("more than %d lines cannot be read; the rest of this file was left out", maxNetworksFaults)})
			break
		}
		if strings.ContainsAny(word, " \t,;") {
			err = fmt.Errorf("holds more than one word: a line has one network, and comments begin with #")
		}
		problems = append(problems, Problem{Pos: pos, Path: path, Message: err.Error()})
	}
	return networks, problems
}
