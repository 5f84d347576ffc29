package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"
)

// readBody reads the one JSON value that the body of a request holds, of at most so many bytes and with no field that
// its type lacks. What it cannot read it refuses, in the words of whoever sent it, and gives false.
func readBody[T any](w http.ResponseWriter, r *http.Request, what string, most int64) (value T, ok bool) {
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, most))
	body.DisallowUnknownFields()
	err := body.Decode(&value)
	var large *http.MaxBytesError
	if err == nil {
		_, err = body.Token()
		switch {
		case errors.Is(err, io.EOF):
			return value, true
		case !errors.As(err, &large):
			err = errors.New("something follows the value: send one")
		}
	}
	code := http.StatusBadRequest
	if errors.As(err, &large) {
		code = http.StatusRequestEntityTooLarge
	}
	refuse(w, code, "%s: %s", what, unreadBody(err))
	return value, false
}

// unreadBody says what is wrong with a body.
func unreadBody(err error) string {
	var large *http.MaxBytesError
	var form *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var moment *time.ParseError
	switch {
	case errors.As(err, &large):
		return fmt.Sprintf("more than %d bytes", large.Limit)
	case errors.Is(err, io.EOF):
		return "the body is empty: send JSON"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON ends before it is complete"
	case errors.As(err, &form):
		return fmt.Sprintf("not JSON: byte %d: %v", form.Offset, form)
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Sprintf("must be %s, not %s", kindWord(kind.Type), articled(kind.Value))
	case errors.As(err, &kind):
		return fmt.Sprintf("%s: must be %s, not %s", kind.Field, kindWord(kind.Type), articled(kind.Value))
	case errors.As(err, &moment):
		return fmt.Sprintf("%q is not a time such as \"2026-12-24T06:00:00Z\"", strings.Trim(moment.Value, `"`))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// kindWord names what a field takes as JSON does.
func kindWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	}
	return "an object"
}

func articled(word string) string {
	switch {
	case word == "bool":
		return "true or false"
	case strings.HasPrefix(word, "number "): // with its digits
		return word
	case strings.ContainsAny(word[:1], "aeiou"):
		return "an " + word
	}
	return "a " + word
}
