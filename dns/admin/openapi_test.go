package admin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gslb/bgp"
	"gslb/config"
	"gslb/config/state"
	"gslb/dns/admin"
)

// described is the OpenAPI document of a server, as its clients read it.
type described struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		ID        string `json:"operationId"`
		Responses map[string]struct {
			Content map[string]struct{ Schema any }
		}
	}
}

// validator checks answers by the document that the server itself gives.
type validator struct {
	t        *testing.T
	w        *world
	doc      described
	compiler *jsonschema.Compiler
	asked    map[string]bool // operations
}

func newValidator(t *testing.T, w *world) *validator {
	t.Helper()
	code, body := w.get("/v1/openapi.json")
	if code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	resource, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	v := &validator{t: t, w: w, doc: read[described](t, body), compiler: jsonschema.NewCompiler(), asked: map[string]bool{}}
	v.compiler.DefaultDraft(jsonschema.Draft2020)
	v.compiler.AssertFormat()
	if err := v.compiler.AddResource("http://gslb/openapi.json", resource); err != nil {
		t.Fatal(err)
	}
	return v
}

// ask makes a request of an operation, and checks the answer by what the document says of it.
func (v *validator) ask(method, template, target, body string, want int) {
	v.t.Helper()
	request := httptest.NewRequest(method, "http://127.0.0.1:8053"+target, strings.NewReader(body))
	request.RemoteAddr = "127.0.0.1:4711"
	request.Header.Set("Content-Type", "application/json")
	code, answer := v.w.ask(request)
	if code != want {
		v.t.Errorf("%s %s: got %d, want %d: %s", method, target, code, want, answer)
		return
	}
	operation, known := v.doc.Paths[template][strings.ToLower(method)]
	response, told := operation.Responses[fmt.Sprint(code)]
	v.asked[operation.ID] = true
	if !known || !told {
		v.t.Errorf("%s %s: the document knows no answer %d", method, template, code)
		return
	}
	if _, isJSON := response.Content["application/json"]; !isJSON {
		return
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	pointer := fmt.Sprintf("http://gslb/openapi.json#/paths/%s/%s/responses/%d/content/application~1json/schema", escape.Replace(template), strings.ToLower(method), code)
	schema, err := v.compiler.Compile(pointer)
	if err != nil {
		v.t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(answer))
	if err != nil {
		v.t.Fatalf("%s: %v in %s", target, err, answer)
	}
	if err := schema.Validate(value); err != nil {
		v.t.Errorf("%s %s: %#v\n%s", method, target, err, answer)
	}
}

// TestEveryAnswerIsAsTheDocumentSays asks for everything, and holds the answers against the schemas of the document,
// which allow no field that they do not name.
func TestEveryAnswerIsAsTheDocumentSays(t *testing.T) {
	p := newPeering(t)
	p.announce(0, now, "203.0.113.0/24")
	p.views[0].Refused = map[string]uint64{"attribute": 1}
	for _, w := range []*world{newWorld(t), p.world} {
		v := newValidator(t, w)
		v.w.events = func(time.Time, int) ([]state.Event, error) {
			return []state.Event{{ID: strings.Repeat("0", 24), Time: now, Kind: "drain", Text: "msk drained", Fields: map[string]string{"place": "msk"}}}, nil
		}
		w.server.Config.Refused = &admin.Refusal{Time: now, Problems: []string{"gslb.yaml:1:1: …"}}
		w.reload = func() (admin.Reload, error) {
			return admin.Reload{Outcome: admin.Refused, Problems: []string{"x"}}, nil
		}
		w.deps.Drain = func(_ context.Context, d config.Drain) (admin.Drained, error) {
			return admin.Drained{Place: d.Target, Until: d.Until, File: "drain-msk.yaml", Holding: []string{}}, nil
		}
		w.deps.Undrain = func(_ context.Context, place, _ string) (admin.Drained, error) {
			return admin.Drained{}, &admin.NotThere{Message: "there is no drain of " + place}
		}
		w.deps.Reset = func(netip.Addr) bool { return true }
		for _, path := range []string{"/v1/status", "/v1/services", "/v1/places", "/v1/endpoints", "/v1/partners", "/v1/routes", "/v1/config", "/v1/version",
			"/v1/events", "/v1/drains", "/v1/openapi.json", "/metrics", "/healthz", "/readyz"} {
			v.ask("GET", path, path, "", 200)
		}
		v.ask("GET", "/v1/services/{service}", "/v1/services/www", "", 200)
		v.ask("GET", "/v1/services/{service}", "/v1/services/wwx", "", 404)
		v.ask("GET", "/v1/explain", "/v1/explain?name=www.ok.test&client=203.0.113.7", "", 200)
		v.ask("GET", "/v1/explain", "/v1/explain", "", 400)
		v.ask("GET", "/v1/explain", "/v1/explain?name=other.test", "", 404)
		v.ask("GET", "/v1/endpoints", "/v1/endpoints?from=nobody", "", 400)
		v.ask("GET", "/v1/drain", "/v1/drain?place=msk", "", 200)
		v.ask("POST", "/v1/reload", "/v1/reload", "", 422)
		v.ask("POST", "/v1/drains", "/v1/drains", `{"place":"msk","for":"2h","by":"nikita"}`, 201)
		v.ask("POST", "/v1/drains", "/v1/drains", `{"place":"msk","for":"soon"}`, 400)
		v.ask("GET", "/v1/drains/{place}", "/v1/drains/nsk", "", 200)
		v.ask("GET", "/v1/drains/{place}", "/v1/drains/nks", "", 404)
		v.ask("DELETE", "/v1/drains/{place}", "/v1/drains/msk", "", 404)
		v.ask("POST", "/v1/partners/reset", "/v1/partners/reset?partner=nobody", "", 404)
		v.ask("POST", "/v1/push/{check}", "/v1/push/web", "[]", 401)
		if w == p.world {
			v.ask("POST", "/v1/partners/reset", "/v1/partners/reset?partner=sibtel", "", 200)
			p.views[0].State = bgp.Established
			v.ask("GET", "/v1/partners", "/v1/partners", "", 200)
			v.everythingWasAsked("getEventsStream") // see stream_test.go
		}
	}
}

func (v *validator) everythingWasAsked(but ...string) {
	ids := map[string]bool{}
	for path, methods := range v.doc.Paths {
		for method, o := range methods {
			if ids[o.ID] {
				v.t.Errorf("%s %s: another operation is called %s too", method, path, o.ID)
			}
			ids[o.ID] = true
			if !v.asked[o.ID] && !slices.Contains(but, o.ID) {
				v.t.Errorf("%s %s: was never asked", method, path)
			}
		}
	}
}

func TestOperationsAreNamedByTheirPaths(t *testing.T) {
	v := newValidator(t, newWorld(t))
	if got := v.doc.Paths["/v1/services/{service}"]["get"].ID; v.doc.OpenAPI != "3.1.0" || got != "getServicesService" {
		t.Errorf("%s, and the service is %s", v.doc.OpenAPI, got)
	}
}
