// Package admin answers the question of the operator's browser and tools: how does this server
// stand, and why does it answer as it does?
//
// [New] makes the one HTTP handler, from a struct of functions by which it looks at the server:
//
//	handler := admin.New(admin.Deps{Snapshot: publisher.Latest, …})
//
// GET /v1/status tells how the server and every service stand, GET /v1/explain why a client gets
// what it gets, GET /v1/events what happened, GET /v1/drain what a drain would leave bare, GET
// /v1/partners what the partners' sessions bring, and GET /v1/routes who announces what, page by page.
// POST /v1/reload reads the configuration again and waits for the outcome, POST
// /v1/partners/reset begins a partner's sessions anew, and POST /v1/push/CHECK takes the results of a push
// check, from those who know its token. /healthz, /readyz and /metrics are for
// machines. Errors are JSON objects with one key, "error".
//
// Else it has no log-in: the door is meant for loopback. So that no web page that an operator happens to
// read can come in by it, requests under a foreign host name and posts from other sites are refused.
//
// The package decides nothing: a drain is a file of the configuration, not a request.
package admin
