package steer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Word is one key=value of a line of reasons, or a bare word, which stands for itself.
type Word struct{ Key, Value string }

// bare is the value of a word that is only a key.
const bare = "\x00"

// Line is one line of reasons: words in their order.
type Line []Word

func (l *Line) add(key string, value any) {
	*l = append(*l, Word{key, fmt.Sprint(value)})
}

// Get gives the value of a key, or "".
func (l Line) Get(key string) string {
	for _, w := range l {
		if w.Key == key {
			return w.Value
		}
	}
	return ""
}

// String writes the line as dig shows it: words apart by one space, values with anything but
// plain characters quoted.
func (l Line) String() string {
	words := make([]string, len(l))
	for i, w := range l {
		words[i] = w.Key
		if w.Value != bare {
			words[i] += "=" + quoted(w.Value)
		}
	}
	return strings.Join(words, " ")
}

func quoted(value string) string {
	plain := value != "" && strings.IndexFunc(value, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) < 0
	if plain {
		return value
	}
	return strconv.QuoteToASCII(value)
}

// MarshalJSON writes the line as an object whose keys keep their order; a bare word is true.
func (l Line) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, w := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(w.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(w.Value)
		if err != nil {
			return nil, err
		}
		if w.Value == bare {
			value = []byte("true")
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Line) UnmarshalJSON(text []byte) error {
	in := json.NewDecoder(bytes.NewReader(text))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return errors.New("line of reasons: not an object")
	}
	*l = nil
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return fmt.Errorf("line of reasons: %w", err)
		}
		value, err := in.Token()
		if err != nil {
			return fmt.Errorf("line of reasons: %w", err)
		}
		switch value := value.(type) {
		case string:
			*l = append(*l, Word{key.(string), value}) // keys of objects are strings
		case bool:
			*l = append(*l, Word{key.(string), bare})
		default:
			return fmt.Errorf("line of reasons: %s: neither a text nor true", key)
		}
	}
	return nil
}

// Ago writes a span of time by its largest unit, as "40s", "4m", "3h" or "12d".
func Ago(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}
