// Package config answers the question: what did the operator say?
//
// It reads one YAML file and the drop-ins beside it (FILE.d/*.yaml) into a typed [Config] with every
// default filled in. It tells everything that is wrong with them at once, each mistake with the place
// where it stands, the path of its key and, if it looks like a slip of the finger, what was likely meant:
//
//	gslb.yaml:14:5: checks.web.intervall: unknown key (did you mean interval?)
//
// Its nouns: a [Source] is the text of a file; the sources become trees of nodes, which merge into one;
// the table of forms reads the tree into the Config; a [Problem] is a mistake or, as a warning, what is
// likely not meant. The same table prints the JSON Schema, so the two cannot disagree. Names, and values
// that must fit each other, are checked once everything has been read.
//
//	c, problems := config.Load("/etc/gslb/gslb.yaml")
//	if err := problems.Err(); err != nil {
//		return err // a line for each mistake
//	}
//	for _, s := range c.Services { … }
//
// To add a key, add one line to the table of its section (table_*.go) and a field to a type of that section
// (config_*.go).
//
// A drain is a config change like any other: [WriteDrain] and [RemoveDrain] keep it in a drop-in of its
// own, which a watcher sees as a whole or not at all.
//
// What it refuses to do: it watches nothing, resolves no host name, reads no database or password, and
// knows nothing of DNS records; zone texts are handed on with their positions.
package config
