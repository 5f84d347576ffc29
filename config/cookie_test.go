package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestCookieSecretsAreReadInOrder(t *testing.T) {
	c := loaded(t, "testdata/good/cookie-secrets.yaml")
	var first []byte
	for _, s := range c.Server.CookieSecrets {
		first = append(first, s[0])
	}
	if string(first) != "\xe5\xdd" {
		t.Errorf("secrets begin with %x", first)
	}
}

func TestCookieSecretsAreNeverTold(t *testing.T) {
	c := loaded(t, "testdata/good/cookie-secrets.yaml")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, c.Server); strings.Contains(text, "229") || strings.Contains(text, "0xe5") || strings.Contains(text, "e5e9") {
			t.Errorf("%s tells %s", verb, text)
		}
	}
}

func FuzzCookieSecrets(f *testing.F) {
	f.Add("e5e973e5a6b2a43f48e7dc849e37bfcf # in use\n\ndd3bdf9344b678b185a6f5cb60fca715\r\n")
	f.Add("#\n")
	f.Fuzz(func(t *testing.T, text string) {
		secrets, err := parseCookieSecrets(text)
		if (err == nil) != (len(secrets) > 0) || len(secrets) > maxCookieSecrets {
			t.Errorf("%d secrets, %v", len(secrets), err)
		}
	})
}
