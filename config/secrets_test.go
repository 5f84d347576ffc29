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

func TestTSIGKeysAreReadAsTheirToolPrintsThem(t *testing.T) {
	c := loaded(t, "testdata/good/transfer.yaml")
	var keys []string
	for _, k := range c.Server.TSIGKeys {
		keys = append(keys, k.Name+" "+k.Algorithm+" "+string(k.Secret))
	}
	want := "xfr. hmac-sha256. OVW2QkuMSB4CtpkyFGEk1grdb5qHGjO1KBG6jJLC4vA=|b.example. hmac-sha512. AAAA"
	if got := strings.Join(keys, "|"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if text := fmt.Sprintf("%+v %#v", c.Server, c.Server); strings.Contains(text, "OVW2") {
		t.Errorf("a secret is told: %s", text)
	}
}

func FuzzTSIGKeys(f *testing.F) {
	f.Add("key \"xfr\" {\n\talgorithm hmac-sha256;\n\tsecret \"AAAA\";\n};\n")
	f.Add("/* */ key a { secret AAAA; algorithm hmac-sha1.; }; # end")
	f.Add("key a { secret AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := parseTSIGKeys(text)
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("%d keys, %v", len(keys), err)
		}
		for _, k := range keys {
			if k.Name == "" || k.Algorithm == "" || k.Secret == "" {
				t.Errorf("key %+v", k)
			}
		}
	})
}
