package admin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// document is an OpenAPI 3.1 document: as much of its form as we need.
type document struct {
	OpenAPI    string                          `json:"openapi"`
	Info       about                           `json:"info"`
	Servers    []address                       `json:"servers"`
	Paths      map[string]map[string]described `json:"paths"` // by path and method
	Components components                      `json:"components"`
}

type about struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type address struct {
	URL string `json:"url"`
}

type described struct {
	ID         string             `json:"operationId"`
	Summary    string             `json:"summary"`
	Role       Role               `json:"x-role"`
	Parameters []parameter        `json:"parameters,omitempty"`
	Body       *content           `json:"requestBody,omitempty"`
	Responses  map[string]content `json:"responses"` // by code
}

type parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Required    bool   `json:"required,omitempty"`
	Schema      schema `json:"schema"`
}

type content struct {
	Description string           `json:"description,omitempty"`
	Required    bool             `json:"required,omitempty"` // of a request's body
	Content     map[string]media `json:"content,omitempty"`  // by media type
}

type media struct {
	Schema schema `json:"schema"`
}

type components struct {
	Schemas map[string]schema `json:"schemas"`
}

func (h *handler) openapi(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, describe(h.Deps.Version, h.operations()))
}

// describe makes the document of a table of operations.
func describe(version string, all []operation) document {
	shapes := newShapes()
	doc := document{
		OpenAPI: "3.1.0",
		Info: about{"gslb", version, "How a gslb server stands, why it answers as it does, and its drains. Every answer with a field answers was made from " +
			"one snapshot, whose version that is. Lists are pages: next of one is from of the next."},
		Servers: []address{{"/"}},
		Paths:   map[string]map[string]described{},
	}
	failure := shapes.of(shape[Failure]())
	for _, o := range all {
		if doc.Paths[o.path] == nil {
			doc.Paths[o.path] = map[string]described{}
		}
		doc.Paths[o.path][strings.ToLower(o.method)] = o.describe(shapes, failure)
	}
	doc.Components.Schemas = shapes.named
	return doc
}

func (o operation) describe(shapes *shapes, failure schema) described {
	d := described{ID: o.id(), Summary: o.summary, Role: o.role, Responses: map[string]content{}}
	for _, p := range o.params {
		in := "query"
		if p.path {
			in = "path"
		}
		d.Parameters = append(d.Parameters, parameter{p.name, in, p.about, p.needed, schema{Type: p.kind, Enum: p.words}})
	}
	if o.takes != nil {
		d.Body = &content{Required: true, Content: map[string]media{"application/json": {shapes.of(o.takes)}}}
	}
	for _, code := range o.allRefusals() {
		d.Responses[strconv.Itoa(code)] = content{Description: http.StatusText(code), Content: map[string]media{"application/json": {failure}}}
	}
	for _, code := range append(o.same, o.codeOf()) {
		d.Responses[strconv.Itoa(code)] = o.answer(shapes, code)
	}
	return d
}

// allRefusals is its own refusals, that of parameters which it does not know, and those of the gate: where the
// configuration has tokens, whoever shows none, one that does not do, or bad ones too often.
func (o operation) allRefusals() []int {
	all := slices.Clone(o.refusals)
	if o.strict() {
		all = append(all, http.StatusBadRequest)
	}
	if o.role != RoleNone {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests)
	}
	return all
}

// answer describes what is answered with a code that is no refusal.
func (o operation) answer(shapes *shapes, code int) content {
	given := content{Description: http.StatusText(code)}
	switch {
	case o.gives != nil:
		given.Content = map[string]media{"application/json": {shapes.of(o.gives)}}
	case o.media != "":
		given.Content = map[string]media{o.media: {schema{Type: "string"}}}
	}
	return given
}

func (o operation) codeOf() int {
	if o.code == 0 {
		return http.StatusOK
	}
	return o.code
}

// id names the operation for programs that are made from the document: its method and the words of its path.
func (o operation) id() string {
	id := strings.ToLower(o.method)
	for word := range strings.FieldsFuncSeq(strings.TrimPrefix(o.path, "/v1"), func(r rune) bool { return !('a' <= r && r <= 'z') }) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return id
}
