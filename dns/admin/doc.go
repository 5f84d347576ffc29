// Package admin answers the question of the operator's browser and tools: how does this server
// stand, and why does it answer as it does?
//
// [New] makes the one HTTP handler, from a struct of functions by which it looks at the server:
//
//	handler := admin.New(admin.Deps{Snapshot: publisher.Latest, …})
//
// Everything that it can be asked is in one table, operations. The handler is made from this table, and so is the OpenAPI
// document that GET /v1/openapi.json gives, with schemas of the Go types that are written. So the document cannot differ
// from what is served, and a test holds every answer against it. Every answer is made from one snapshot and names its
// version; what can be long comes page by page. Errors are JSON objects with one key, "error".
//
// GET /v1/events/stream tells what happens as it happens. Its queue is the journal, so a slow client keeps nobody waiting,
// and one that was cut off goes on where it was.
//
// Without tokens in the configuration there is no log-in, and the address is meant to be a loopback one. Requests under a
// foreign host name and posts from other sites are refused, so that no web page that an operator happens to read can use
// the operator's browser to get in.
//
// The package decides nothing: a drain that is asked for here becomes a file of the configuration, the same file that the
// command writes.
package admin
