package config

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// TSIGKey is a key that requests and their answers are signed with (RFC 8945).
type TSIGKey struct {
	Name      string // a domain name in lower case, with a final dot
	Algorithm string // a domain name: "hmac-sha256."
	Secret    TSIGSecret
}

// TSIGSecret is a key's secret, in base64. Its text never tells it: take it by a conversion.
type TSIGSecret string

// String gives no more than that it is a secret.
func (TSIGSecret) String() string { return "(secret)" }

// GoString gives no more than [TSIGSecret.String].
func (TSIGSecret) GoString() string { return "(secret)" }

// tsigAlgorithms are those that are safe to use; HMAC-MD5 is not (RFC 8945 section 6).
var tsigAlgorithms = [...]string{"hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"}

// maxTSIGKeys bounds the keys of a file.
const maxTSIGKeys = 1000

// parseTSIGKeys reads keys as tsig-keygen of BIND prints them:
//
//	key "transfer" {
//		algorithm hmac-sha256;
//		secret "fYxeGp+…=";
//	};
func parseTSIGKeys(text string) ([]TSIGKey, error) {
	words, err := keyWords(text)
	if err != nil {
		return nil, err
	}
	var keys []TSIGKey
	names := map[string]bool{}
	for len(words) > 0 {
		if len(words) < 4 || words[0].text != "key" || words[2].text != "{" {
			return nil, fmt.Errorf("line %d: a key begins with: key \"NAME\" {", words[0].line)
		}
		key := TSIGKey{Name: strings.ToLower(strings.TrimSuffix(words[1].text, ".")) + "."}
		line := words[1].line
		if words, err = key.clauses(words[3:]); err != nil {
			return nil, err
		}
		switch {
		case key.Algorithm == "" || key.Secret == "":
			return nil, fmt.Errorf("line %d: key %s lacks its algorithm or its secret", line, key.Name)
		case names[key.Name]:
			return nil, fmt.Errorf("line %d: key %s is given twice", line, key.Name)
		case len(keys) == maxTSIGKeys:
			return nil, fmt.Errorf("it has more than %d keys", maxTSIGKeys)
		}
		names[key.Name] = true
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("it has no key")
	}
	return keys, nil
}

// clauses reads what stands in a key's braces, and gives the words behind them.
func (k *TSIGKey) clauses(words []keyWord) (rest []keyWord, err error) {
	for len(words) >= 3 && words[0].text != "}" {
		name, value, end := words[0], words[1], words[2]
		if end.text != ";" {
			return nil, fmt.Errorf("line %d: %s lacks its ; at the end", value.line, name.text)
		}
		switch name.text {
		case "algorithm":
			algorithm := strings.ToLower(strings.TrimSuffix(value.text, "."))
			for _, known := range tsigAlgorithms {
				if algorithm == known {
					k.Algorithm = known + "."
				}
			}
			if k.Algorithm == "" {
				return nil, fmt.Errorf("line %d: algorithm %s is none of %s", value.line, cut(value.text), strings.Join(tsigAlgorithms[:], ", "))
			}
		case "secret":
			if b, err := base64.StdEncoding.DecodeString(value.text); err != nil || len(b) == 0 {
				return nil, fmt.Errorf("line %d: the secret is not base64", value.line)
			}
			k.Secret = TSIGSecret(value.text)
		default:
			return nil, fmt.Errorf("line %d: %s is neither algorithm nor secret", name.line, cut(name.text))
		}
		words = words[3:]
	}
	if len(words) < 2 || words[0].text != "}" || words[1].text != ";" {
		return nil, fmt.Errorf("key %s lacks its }; at the end", k.Name)
	}
	return words[2:], nil
}

// keyWord is a word of a file of keys, without its quotes.
type keyWord struct {
	text string
	line int
}

// keyWords splits a file of keys into words, without comments.
func keyWords(text string) ([]keyWord, error) {
	var words []keyWord
	line := 1
	for len(text) > 0 {
		switch c := text[0]; {
		case c == '\n':
			line++
			text = text[1:]
		case c == ' ' || c == '\t' || c == '\r':
			text = text[1:]
		case c == '#' || strings.HasPrefix(text, "//"):
			_, text, _ = strings.Cut(text, "\n")
			line++
		case strings.HasPrefix(text, "/*"):
			comment, rest, ended := strings.Cut(text, "*/")
			if !ended {
				return nil, fmt.Errorf("line %d: the comment has no end", line)
			}
			line += strings.Count(comment, "\n")
			text = rest
		case c == '{' || c == '}' || c == ';':
			words = append(words, keyWord{text[:1], line})
			text = text[1:]
		case c == '"':
			word, rest, ended := strings.Cut(text[1:], `"`)
			if !ended || strings.Contains(word, "\n") {
				return nil, fmt.Errorf("line %d: the quote has no end", line)
			}
			words = append(words, keyWord{word, line})
			text = rest
		default:
			end := strings.IndexAny(text, " \t\r\n{};\"#")
			if end < 0 {
				end = len(text)
			}
			words = append(words, keyWord{text[:end], line})
			text = text[end:]
		}
	}
	return words, nil
}

// readTSIGKeys brings in the keys.
func (c *Config) readTSIGKeys() Problems {
	return c.readSecrets("server.tsig_keys", c.Server.TSIGFile, func(text string) (err error) {
		c.Server.TSIGKeys, err = parseTSIGKeys(text)
		return err
	})
}

// maxSecrets bounds the text of a file of secrets, in bytes.
const maxSecrets = 1 << 20

// readSecrets reads a file of secrets that a key names.
func (c *Config) readSecrets(path, file string, parse func(text string) error) Problems {
	if file == "" {
		return nil
	}
	c.Files = append(c.Files, file)
	text, err := readFile(file, maxSecrets)
	if err == nil {
		err = parse(text)
	}
	if err == nil {
		return nil
	}
	return Problems{{Pos: c.At(path), Path: path, Message: fmt.Sprintf("%s cannot be used: %s", file, cause(err))}}
}
