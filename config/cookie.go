package config

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// CookieSecret is a secret that servers which answer for each other share, so that a client may show one's
// cookie to another (RFC 9018). Its text never tells it.
type CookieSecret [16]byte

// String gives no more than that it is a secret.
func (CookieSecret) String() string { return "(secret)" }

// GoString gives no more than [CookieSecret.String].
func (CookieSecret) GoString() string { return "(secret)" }

// maxCookieSecrets bounds the secrets of a file: more than the last few are of no use.
const maxCookieSecrets = 8

// parseCookieSecrets reads a file of secrets: one a line, in 32 hexadecimal digits; empty lines and what stands
// behind # count for nothing. Cookies are made with the first, and believed by all: so a new secret is first
// given to all servers in the second place, and then in the first.
func parseCookieSecrets(text string) ([]CookieSecret, error) {
	var secrets []CookieSecret
	for number, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		b, err := hex.DecodeString(line)
		if err != nil || len(b) != len(CookieSecret{}) {
			return nil, fmt.Errorf("line %d is not 32 hexadecimal digits", number+1)
		}
		if len(secrets) == maxCookieSecrets {
			return nil, fmt.Errorf("it has more than %d secrets", maxCookieSecrets)
		}
		secrets = append(secrets, CookieSecret(b))
	}
	if len(secrets) == 0 {
		return nil, fmt.Errorf("it has no secret")
	}
	return secrets, nil
}

// readCookieSecrets brings in the secrets of cookies.
func (c *Config) readCookieSecrets() Problems {
	return c.readSecrets("server.cookie_secrets", c.Server.CookieFile, func(text string) (err error) {
		c.Server.CookieSecrets, err = parseCookieSecrets(text)
		return err
	})
}
