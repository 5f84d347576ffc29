package admin

import (
	"encoding"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"gslb/dns/steer"
)

// schema is a JSON Schema (2020-12), as much of it as Go types need.
type schema struct {
	Ref                  string            `json:"$ref,omitempty"`
	Type                 string            `json:"type,omitempty"`
	Format               string            `json:"format,omitempty"`
	Enum                 []string          `json:"enum,omitempty"`
	AnyOf                []schema          `json:"anyOf,omitempty"`
	Items                *schema           `json:"items,omitempty"`
	MinItems             int               `json:"minItems,omitempty"`
	MaxItems             int               `json:"maxItems,omitempty"`
	Properties           map[string]schema `json:"properties,omitempty"`
	Required             []string          `json:"required,omitempty"`
	AdditionalProperties any               `json:"additionalProperties,omitempty"` // false, or the schema of them
}

// shapes makes the schemas of Go types as encoding/json writes them. Structs are kept once, by name.
type shapes struct {
	named map[string]schema
	types map[string]reflect.Type // of the names
}

func newShapes() *shapes { return &shapes{map[string]schema{}, map[string]reflect.Type{}} }

// formats are the types that write themselves as a string of a known form.
var formats = map[reflect.Type]string{
	reflect.TypeFor[time.Time]():      "date-time",
	reflect.TypeFor[netip.Addr]():     "",
	reflect.TypeFor[netip.AddrPort](): "",
	reflect.TypeFor[netip.Prefix]():   "",
}

// of gives the schema of a type, which a struct is referred to by.
func (s *shapes) of(t reflect.Type) schema {
	if format, ok := formats[t]; ok {
		return schema{Type: "string", Format: format}
	}
	if t == reflect.TypeFor[steer.Line]() { // an object that keeps the order of its keys
		return schema{Type: "object", AdditionalProperties: schema{AnyOf: []schema{{Type: "string"}, {Type: "boolean"}}}}
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return schema{Type: "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Slice:
		items := s.of(t.Elem())
		return schema{Type: "array", Items: &items}
	case reflect.Array:
		items := s.of(t.Elem())
		return schema{Type: "array", Items: &items, MinItems: t.Len(), MaxItems: t.Len()}
	case reflect.Map:
		if t.Elem().Kind() == reflect.Interface {
			return schema{Type: "object"}
		}
		return schema{Type: "object", AdditionalProperties: s.of(t.Elem())}
	case reflect.Struct:
		return s.object(t)
	case reflect.Bool:
		return schema{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return schema{Type: "number"}
	case reflect.String:
		return schema{Type: "string"}
	}
	return schema{Type: "integer"}
}

// object keeps the schema of a struct under its name, and gives the reference to it. Two types of one name, from two
// packages, get two names.
func (s *shapes) object(t reflect.Type) schema {
	name := t.Name()
	for known, ok := s.types[name]; ok && known != t; known, ok = s.types[name] {
		name += "Of" + strings.ToUpper(t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:])
	}
	ref := schema{Ref: "#/components/schemas/" + name}
	if s.types[name] == t {
		return ref
	}
	s.types[name] = t
	o := schema{Type: "object", Properties: map[string]schema{}, AdditionalProperties: false}
	s.fields(t, &o)
	s.named[name] = o
	return ref
}

// fields adds the fields of a struct, and those of the structs that stand in it without a name.
func (s *shapes) fields(t reflect.Type, o *schema) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			s.fields(f.Type, o)
			continue
		case name == "-" || !f.IsExported():
			continue
		}
		o.Properties[name] = s.of(f.Type)
		if !strings.Contains(options, "omit") {
			o.Required = append(o.Required, name)
		}
	}
}
