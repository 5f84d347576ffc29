package config

import (
	"cmp"
	"fmt"
	"path/filepath"
)

// writtenFiles says which files are to be written that are something else: another file that is written, or one that is
// read, the configuration among them. What stands there would be moved aside or added to.
func (c *Config) writtenFiles() Problems {
	is := map[string]string{}
	for path, file := range map[string]string{"geo.database": c.Geo.Database, "geo.asn": c.Geo.ASN} {
		is[whole(file)] = path
	}
	for path, s := range map[string]*Secure{"server.tls": c.Server.TLS, "server.https": c.Server.HTTPS, "server.quic": c.Server.QUIC} {
		if s != nil {
			is[whole(s.Certificate)], is[whole(s.Key)] = path+".certificate", path+".key"
		}
	}
	if t := c.Admin.TLS; t != nil {
		is[whole(t.Certificate)], is[whole(t.Key)] = "admin.tls.certificate", "admin.tls.key"
	}
	for _, file := range c.Files {
		is[whole(file)] = "a file of this configuration"
	}
	delete(is, "")
	var problems Problems
	for _, w := range c.written() {
		at := whole(w[1])
		switch other := is[at]; {
		case at == "":
		case other != "":
			problems = append(problems, Problem{Pos: c.At(w[0]), Path: w[0], Message: fmt.Sprintf("%s is %s, too, and would be written over", w[1], other)})
		default:
			is[at] = w[0]
		}
	}
	return problems
}

// written are the keys of files that are written, and the files.
func (c *Config) written() [][2]string {
	all := [][2]string{{"server.state", c.Server.State}}
	if q := c.Server.QueryLog; q != nil {
		all = append(all, [2]string{"server.query_log.file", q.File})
	}
	if d := c.Server.Dnstap; d != nil {
		all = append(all, [2]string{"server.dnstap.file", d.File})
	}
	return all
}

// whole is a path from the root on, so that one file has one path; "" of none.
func whole(file string) string {
	if file == "" {
		return ""
	}
	at, _ := filepath.Abs(file) // fails only where there is no working directory: then paths are compared as they are
	return cmp.Or(at, filepath.Clean(file))
}
