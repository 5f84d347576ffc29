package admin

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"gslb/config/state"
)

// Role is what somebody may do here.
type Role string

const (
	// RoleView may look.
	RoleView Role = "read"
	// RoleDrain may also begin and end drains.
	RoleDrain Role = "drain"
	// RoleOperate may also have the configuration read again and sessions begun anew.
	RoleOperate Role = "operate"
	// RoleNone is for operations that need no role: they are open to everybody, or check by themselves who asks.
	RoleNone Role = "none"
)

// operation is one thing that can be asked of the server: the table of them is what is served and what the OpenAPI
// document describes.
type operation struct {
	method, path string
	role         Role
	summary      string
	params       []param
	takes        reflect.Type // what the body holds as JSON; nil: there is none
	gives        reflect.Type // what is answered as JSON; nil: see media
	code         int          // of an answer with what was asked for; 0: 200
	media        string       // of an answer that is no JSON
	same         []int        // other codes that are told in the same form
	refusals     []int        // and those that are told as a [Failure]
	serve        http.HandlerFunc
}

// param is one parameter of an operation.
type param struct {
	name, about string
	kind        string   // string, integer or boolean
	words       []string // what it can be; nil: anything of its kind
	path        bool     // a part of the path; else of the query
	needed      bool
}

func text(name, about string) param { return param{name: name, about: about, kind: "string"} }

// word is a parameter that is one of a few words.
func word(name, about string, words ...string) param {
	return param{name: name, about: about, kind: "string", words: words}
}

// checked refuses a request whose parameters are not those of the operation: who misspells one would get, or end, more
// than is meant.
func (o operation) checked(next http.HandlerFunc) http.HandlerFunc {
	if !o.strict() {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if err := o.check(r.URL.RawQuery); err != nil {
			refuse(w, http.StatusBadRequest, "%v", err)
			return
		}
		next(w, r)
	}
}

// strict tells whether the operation takes no parameters but its own. What asks for the others, such as Prometheus and
// load balancers, may have some.
func (o operation) strict() bool { return strings.HasPrefix(o.path, "/v1/") }

// check tells what is wrong with a query: that it is none, has a parameter that the operation does not know, has one
// twice, or says what is none of its words.
func (o operation) check(query string) error {
	given, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("query %q: %w", query, err)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(o.params, func(p param) bool { return p.name == name && !p.path })
		if i < 0 {
			return o.unknown(name)
		}
		switch words, values := o.params[i].words, given[name]; {
		case len(values) > 1:
			return fmt.Errorf("%s: is given %d times; once is all that is read", name, len(values))
		case words != nil && values[0] != "" && !slices.Contains(words, values[0]):
			return fmt.Errorf("%s %q: not one of %s", name, values[0], strings.Join(words, ", "))
		}
	}
	return nil
}

// unknown says that the operation has no parameter of this name, and which one may be meant.
func (o operation) unknown(name string) error {
	var known []string
	for _, p := range o.params {
		if !p.path {
			known = append(known, p.name)
		}
	}
	if len(known) == 0 {
		return fmt.Errorf("unknown parameter %q: %s %s takes none", name, o.method, o.path)
	}
	return fmt.Errorf("unknown parameter %q%s; known are %s", name, meant(name, known), strings.Join(known, ", "))
}

func need(p param) param {
	p.needed = true
	return p
}

func part(name, about string) param {
	return param{name: name, about: about, kind: "string", path: true, needed: true}
}

// paged are the parameters of what comes page by page.
func paged(params ...param) []param {
	return append(params,
		text("from", "Where the page begins: next of the page before."),
		param{name: "limit", about: "At most so many.", kind: "integer"})
}

func shape[T any]() reflect.Type { return reflect.TypeFor[T]() }

// operations is the whole table.
func (h *handler) operations() []operation {
	all := append(h.looks(), h.histories()...)
	all = append(all, h.deeds()...)
	return append(all, h.probes()...)
}

// looks tell how things stand.
func (h *handler) looks() []operation {
	service, place := text("service", "Only of this service."), text("place", "Only of this place.")
	return []operation{
		{method: "GET", path: "/v1/status", role: RoleView, summary: "How the server stands, and its services, page by page.", params: paged(service, place),
			gives: shape[Status](), refusals: []int{400, 404}, serve: h.status},
		{method: "GET", path: "/v1/services", role: RoleView, summary: "Services with their places and what each is given, page by page.",
			params: paged(text("match", "Only services with this text in their name, or in one of the names that lead to them."), place, word("standing", "Only services that have a place of this standing; or unserved: those that all_down answers for.",
				"serving", "unknown", "withdrawn", "drained", "unserved")),
			gives: shape[Services](), refusals: []int{400, 404}, serve: h.services},
		{method: "GET", path: "/v1/services/{service}", role: RoleView, summary: "One service with all its endpoints.", params: []param{part("service", "Its name.")},
			gives: shape[ServiceDetail](), refusals: []int{404}, serve: h.service},
		{method: "GET", path: "/v1/places", role: RoleView, summary: "Places: where they are, how they stand, what they are given.", params: paged(place),
			gives: shape[Places](), refusals: []int{400, 404}, serve: h.places},
		{method: "GET", path: "/v1/endpoints", role: RoleView, summary: "Endpoints with their windows, page by page.",
			params: paged(service, place, text("address", "Only with this address."), text("check", "Only with this check."), word("verdict", "Only with this verdict; or failing: with a failure in the window.", "up", "unknown", "withdrawn", "failing")),
			gives:  shape[Endpoints](), refusals: []int{400, 404}, serve: h.endpoints},
		{method: "GET", path: "/v1/partners", role: RoleView, summary: "Partners with their sessions and what these bring.", gives: shape[Partners](), serve: h.partners},
		{method: "GET", path: "/v1/routes", role: RoleView, summary: "Who announces what, and what wins, page by page.",
			params: paged(text("prefix", "Only this network, those inside it and those around it."), text("address", "Only networks with this address."), text("partner", "Only of this partner."),
				param{name: "refused", about: "Only what is refused.", kind: "boolean"}),
			gives: shape[Routes](), refusals: []int{400, 404}, serve: h.routes},
		{method: "GET", path: "/v1/explain", role: RoleView, summary: "Why a client gets what it gets.",
			params: []param{need(text("name", "The domain name.")), text("client", "An address or a network, as a resolver would send it, or, where it is private, where the question comes from; without it: this machine."), text("type", "A or AAAA; without it: both.")},
			gives:  shape[Explanation](), refusals: []int{400, 404}, serve: h.explain},
		{method: "GET", path: "/v1/config", role: RoleView, summary: "Which configuration is in force, and why a later one was refused.", gives: shape[ConfigInForce](), serve: h.config},
		{method: "GET", path: "/v1/version", role: RoleView, summary: "The version of the program.", gives: shape[Version](), serve: h.version},
	}
}

// histories tell what happened.
func (h *handler) histories() []operation {
	of := []param{text("place", "Only what happened to this place."), text("service", "Only what happened to this service."), word("kind", "Only of this kind: what it happened to.", state.Kinds()...)}
	return []operation{
		{method: "GET", path: "/v1/events", role: RoleView, summary: "What happened: the newest events of the journal, oldest first.",
			params: append(of[:len(of):len(of)], text("since", "A time, or a span before now such as 1h."), param{name: "limit", about: "At most so many.", kind: "integer"}),
			gives:  shape[[]Event](), refusals: []int{400, 404, 500}, serve: h.events},
		{method: "GET", path: "/v1/events/stream", role: RoleView, summary: "What happens, as it does: server-sent events, each with an Event as its data. Last-Event-ID goes on from there.",
			params: append(of[:len(of):len(of)], text("last", "Go on from this ID, as Last-Event-ID does.")), media: "text/event-stream", refusals: []int{400, 503}, serve: h.stream},
	}
}

// deeds change something.
func (h *handler) deeds() []operation {
	return []operation{
		{method: "GET", path: "/v1/drains", role: RoleView, summary: "The drains that hold.", gives: shape[Drains](), serve: h.drains},
		{method: "GET", path: "/v1/drains/{place}", role: RoleView, summary: "How far a place has been left: answers, caches, clients, load, and a forecast.", params: []param{part("place", "The place.")},
			gives: shape[Departure](), refusals: []int{404}, serve: h.departure},
		{method: "POST", path: "/v1/drains", role: RoleDrain, summary: "Drain a place on this server: writes the file that gslb drain writes, and waits until it is in force.",
			takes: shape[DrainOrder](), gives: shape[Drained](), code: http.StatusCreated, refusals: []int{400, 403, 404, 409, 413, 415, 422, 503}, serve: h.beginDrain},
		{method: "DELETE", path: "/v1/drains/{place}", role: RoleDrain, summary: "End a drain that gslb drain, or this API, began on this server.", params: []param{part("place", "The place."), text("service", "The drain for this service only.")},
			gives: shape[Drained](), refusals: []int{403, 404, 409, 422, 503}, serve: h.endDrain},
		{method: "GET", path: "/v1/drain", role: RoleView, summary: "Which services a drain would leave without a serving place.", params: []param{need(text("place", "The place.")), text("service", "For this service only.")},
			gives: shape[Drain](), refusals: []int{400, 404}, serve: h.drain},
		{method: "POST", path: "/v1/reload", role: RoleOperate, summary: "Read the configuration again, and wait for the outcome; 422 when it is refused.", gives: shape[Reload](), same: []int{422}, refusals: []int{503}, serve: h.reload},
		{method: "POST", path: "/v1/partners/reset", role: RoleOperate, summary: "Begin a partner's sessions anew that do not stand.",
			params: []param{need(text("partner", "The partner.")), {name: "all", about: "Also those that stand.", kind: "boolean"}}, gives: shape[Reset](), refusals: []int{400, 404}, serve: h.resetPartner},
		{method: "POST", path: "/v1/push/{check}", role: RoleNone, summary: "Report the state of endpoints of a push check, with its token as bearer.", params: []param{part("check", "The check.")},
			takes: shape[[]Report](), code: http.StatusNoContent, refusals: []int{400, 401, 413, 422, 429, 503}, serve: h.push},
	}
}

// probes are for machines.
func (h *handler) probes() []operation {
	metrics := metricsHandler(h)
	return []operation{
		{method: "GET", path: "/v1/openapi.json", role: RoleView, summary: "This document.", gives: shape[map[string]any](), serve: h.openapi},
		{method: "GET", path: "/metrics", role: RoleView, summary: "Metrics for Prometheus.", media: "text/plain", serve: metrics.ServeHTTP},
		{method: "GET", path: "/healthz", role: RoleNone, summary: "Whether the process lives.", media: "text/plain", serve: h.healthz},
		{method: "GET", path: "/readyz", role: RoleNone, summary: "Whether questions are answered; 503 before.", media: "text/plain", same: []int{503}, serve: h.readyz},
	}
}
