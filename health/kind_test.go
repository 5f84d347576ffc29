package health

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
)

// everyKind is one of each kind, with nothing said.
var everyKind = []Kind{HTTP{}, TCP{}, TLS{}, DNS{}, GRPC{}, ICMP{}, Exec{}, File{}, Push{}}

// edits gives the value with each of its fields changed, by the name of the field.
func edits(t testing.TB, v reflect.Value) map[string]reflect.Value {
	t.Helper()
	all := map[string]reflect.Value{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		changed := func(to any) reflect.Value {
			c := reflect.New(v.Type()).Elem()
			c.Set(v)
			c.Field(i).Set(reflect.ValueOf(to).Convert(field.Type))
			return c
		}
		switch was := v.Field(i).Interface().(type) {
		case string:
			all[field.Name] = changed(was + "\"\nport=\"7")
		case int:
			all[field.Name] = changed(was + 1)
		case time.Duration:
			all[field.Name] = changed(was + 1)
		case uint16:
			all[field.Name] = changed(was + 1)
		case bool:
			all[field.Name] = changed(!was)
		case List:
			all[field.Name] = changed(ListOf(append(was.Texts(), "more")...))
		case StatusSet:
			all[field.Name] = changed(mustStatus(t, "204"))
		case Text, Trust:
			for name, inner := range edits(t, v.Field(i)) {
				all[field.Name+"."+name] = changed(inner.Interface())
			}
		case Kind, nil:
		default:
			t.Fatalf("field %s of %v: nobody knows how to edit it", field.Name, v.Type())
		}
	}
	return all
}

// A field that the fingerprint forgets would let an edited check go on with the window of the old one.
func TestFingerprintsTellChecksApart(t *testing.T) {
	seen := map[string]string{}
	note := func(what string, c Check) {
		if other, ok := seen[c.fingerprint()]; ok {
			t.Errorf("%s has the fingerprint of %s", what, other)
		}
		seen[c.fingerprint()] = what
	}
	for _, k := range everyKind {
		note(k.String(), Check{Kind: k})
		for name, edited := range edits(t, reflect.ValueOf(k)) {
			note(fmt.Sprintf("%s with another %s", k, name), Check{Kind: edited.Interface().(Kind)})
		}
	}
	for name, edited := range edits(t, reflect.ValueOf(usualCheck)) {
		note("a check with another "+name, edited.Interface().(Check))
	}
}

func TestKindsCanBeCompared(t *testing.T) {
	for _, k := range everyKind {
		if !reflect.TypeOf(k).Comparable() {
			t.Errorf("%s: not comparable, so no key of a map", k)
		}
	}
}

func TestListKeepsItsTexts(t *testing.T) {
	for _, texts := range [][]string{nil, {""}, {"a"}, {"", ""}, {"a", "", "b c"}} {
		if got := ListOf(texts...).Texts(); !slices.Equal(got, texts) {
			t.Errorf("%q came back as %q", texts, got)
		}
	}
	if got := ListOf("a\x00b").Texts(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("a text with a NUL came back as %q", got)
	}
}
