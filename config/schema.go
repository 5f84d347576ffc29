package config

import (
	"bytes"
	"encoding/json"
)

// schema is the part of JSON Schema (draft 2020-12) that forms speak.
type schema struct {
	Dialect       string          `json:"$schema,omitempty"`
	Title         string          `json:"title,omitempty"`
	Description   string          `json:"description,omitempty"`
	Type          types           `json:"type,omitempty"`
	Enum          []string        `json:"enum,omitempty"`
	Format        string          `json:"format,omitempty"`
	Pattern       string          `json:"pattern,omitempty"`
	MaxLength     int             `json:"maxLength,omitempty"`
	Minimum       *float64        `json:"minimum,omitempty"`
	Maximum       *float64        `json:"maximum,omitempty"`
	Items         *schema         `json:"items,omitempty"`
	PrefixItems   []schema        `json:"prefixItems,omitempty"`
	MinItems      int             `json:"minItems,omitempty"`
	MaxItems      int             `json:"maxItems,omitempty"`
	UniqueItems   bool            `json:"uniqueItems,omitempty"`
	Properties    properties      `json:"properties,omitempty"`
	Names         *schema         `json:"propertyNames,omitempty"`
	Others        *others         `json:"additionalProperties,omitempty"`
	MinProperties int             `json:"minProperties,omitempty"`
	Required      []string        `json:"required,omitempty"`
	AnyOf         []schema        `json:"anyOf,omitempty"`
	OneOf         []schema        `json:"oneOf,omitempty"`
	Default       json.RawMessage `json:"default,omitempty"`
}

// types are the names of one JSON type or of several.
type types []string

// MarshalJSON writes one type as a word, several as a list.
func (t types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// property is a key of a mapping and what may stand there.
type property struct {
	name   string
	schema schema
}

// properties keep the order of the table, which is the order an operator thinks in.
type properties []property

// MarshalJSON writes the properties as an object, in their order.
func (ps properties) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, p := range ps {
		text, err := json.Marshal(p.schema)
		if err != nil {
			return nil, err
		}
		b = append(append(quote(comma(b, i), p.name), ':'), text...)
	}
	return append(b, '}'), nil
}

// others says what may stand at keys that are not named: nothing, or each a value of one schema.
type others struct{ schema *schema }

// MarshalJSON writes false where nothing may stand.
func (o others) MarshalJSON() ([]byte, error) {
	if o.schema == nil {
		return []byte("false"), nil
	}
	return json.Marshal(o.schema)
}

// jsonTypes names a set of shapes as JSON Schema does.
func jsonTypes(s shape) types {
	if s&isDecimal != 0 {
		s &^= isInteger // a number may be an integer
	}
	var names types
	for bit, word := range []string{"null", "string", "integer", "number", "boolean", "array", "object"} {
		if s&(1<<bit) != 0 {
			names = append(names, word)
		}
	}
	return names
}

// Schema gives the JSON Schema (draft 2020-12) of a config. It is made from the table that reads
// configs, so it accepts every config that loads; what it cannot say (that a name is known, that an
// address has no host bits) only loading refuses.
func Schema() []byte {
	s := table().schema
	s.Dialect = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "gslb configuration"
	text, err := json.Marshal(s)
	if err != nil {
		panic("the config table has no JSON form: " + err.Error())
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		panic("the config table's JSON is broken: " + err.Error())
	}
	b.WriteByte('\n')
	return b.Bytes()
}
