package config

import "strings"

// check judges one check: its times, and whether the rule can hold.
func (k *checker) check(ch Check) {
	path := keyPath("checks", ch.Name)
	if k.sound(path, "interval", "timeout") && ch.Timeout > ch.Interval {
		k.error(path+".timeout", "%s is more than the interval of %s", Duration(ch.Timeout), Duration(ch.Interval))
	}
	switch {
	case ch.Slow == 0 || !k.sound(path, "slow", "timeout", "interval"):
	case ch.Kind == CheckPush:
		k.warn(path+".slow", "is not used: a push check takes as long as the reporter does")
	case ch.Slow >= ch.Timeout:
		k.error(path+".slow", "%s is not less than the timeout of %s", Duration(ch.Slow), Duration(ch.Timeout))
	}
	if k.sound(path, "window", "fall", "rise") {
		k.rule(path, ch)
	}
	k.kind(keyPath(path, string(ch.Kind)), ch)
}

// kind judges what a check asks.
func (k *checker) kind(path string, ch Check) {
	k.status(path+".status", ch.Status)
	k.headers(path+".headers", ch.Headers)
	k.credentials(path, ch.TLS)
	if ch.Kind == CheckGRPC && !ch.InTLS {
		k.unused(path, "without tls: true", "verify", "ca_file", "cert_file", "key_file", "min_days")
	}
	k.command(path, ch)
	if ch.Token == emptyToken {
		k.warn(path+".token", emptyTokenWords)
	}
	if ch.Kind == CheckPush && (ch.Token == "") == (ch.TokenFile == "") && k.sound(path, "token", "token_file") {
		k.error(path, "needs token or token_file, one of the two")
	}
}

// command judges the words of a command.
func (k *checker) command(path string, ch Check) {
	if len(ch.Command) == 0 || !k.sound(path, "command") {
		return
	}
	if program := ch.Command[0]; strings.Contains(program, "/") && !strings.HasPrefix(program, "/") {
		k.error(itemPath(path+".command", 0), "%q must be a path from the root, or a name that PATH has", program)
	}
	for i, word := range ch.Command {
		if strings.Contains(word, "{port}") && ch.Port == 0 && k.sound(path, "port") {
			k.error(itemPath(path+".command", i), "has {port}, and no port is given")
		}
	}
}

// unused warns of keys that have no effect.
func (k *checker) unused(path, why string, keys ...string) {
	for _, key := range keys {
		if here := keyPath(path, key); k.given(here) && k.sound(path, key) {
			k.warn(here, "is not used %s", why)
		}
	}
}

// headers refuses the fields that a probe sets itself.
func (k *checker) headers(path string, fields []Header) {
	for _, f := range fields {
		switch here := keyPath(path, f.Name); strings.ToLower(f.Name) {
		case "host":
			k.error(here, "has a key of its own: host")
		case "connection", "content-length", "transfer-encoding", "trailer":
			k.error(here, "is set by the probe itself")
		}
	}
}

// credentials judges the files of TLS.
func (k *checker) credentials(path string, t Trust) {
	switch {
	case !k.sound(path, "cert_file", "key_file"):
	case t.CertFile != "" && t.KeyFile == "":
		k.error(path+".cert_file", "needs the key_file of its key")
	case t.CertFile == "" && t.KeyFile != "":
		k.error(path+".key_file", "needs the cert_file of its certificate")
	}
	if t.CAFile != "" && !t.Verify && k.sound(path, "verify", "ca_file") {
		k.warn(path+".ca_file", "is not used: verify is false")
	}
}

// rule judges the numbers of the withdraw and restore rule.
func (k *checker) rule(path string, ch Check) {
	possible := true
	for _, bound := range []struct {
		key   string
		value int
	}{{"fall", ch.Fall}, {"rise", ch.Rise}} {
		if bound.value <= ch.Window {
			continue
		}
		possible = false
		if k.given(keyPath(path, bound.key)) {
			k.error(keyPath(path, bound.key), "%d is more than the window of %d", bound.value, ch.Window)
		} else {
			k.error(path+".window", "%s: %d (the default) is more than the window of %d: set %s with window", bound.key, bound.value, ch.Window, bound.key)
		}
	}
	if possible && ch.Fall+ch.Rise <= ch.Window {
		k.error(k.firstGiven(path, "fall", "rise", "window"), "fall %d and rise %d fit into the window of %d side by side, so both could hold at once: together they must be more than the window",
			ch.Fall, ch.Rise, ch.Window)
	}
}

// firstGiven is the path of the first key that the operator wrote, or of the mapping.
func (k *checker) firstGiven(path string, keys ...string) string {
	for _, key := range keys {
		if k.given(keyPath(path, key)) {
			return keyPath(path, key)
		}
	}
	return path
}

// status checks that no range of codes ends before it begins.
func (k *checker) status(path, status string) {
	for part := range strings.SplitSeq(status, ",") {
		if low, high, ok := strings.Cut(part, "-"); ok && low > high && k.sound(path) {
			k.error(path, "%s ends before it begins", part)
		}
	}
}
