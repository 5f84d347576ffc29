// Package admin answers the question of the operator's browser and tools: how does this server
// stand, and why does it answer as it does?
//
// [New] makes the one HTTP handler, from a struct of functions by which it looks at the server:
//
//	handler := admin.New(admin.Deps{Snapshot: publisher.Latest, …})
//
// What it can be asked is one table, operations: from it the handler is made, and the OpenAPI document that
// GET /v1/openapi.json gives, with schemas of the Go types that are written. So the document cannot differ from what
// is served, and a test holds every answer against it. Every answer is made from one snapshot, and names its version;
// what can be long comes page by page. Errors are JSON objects with one key, "error".
//
// GET /v1/events/stream tells what happens, as it does: the journal is its queue, so that a slow client keeps nobody
// waiting, and one that was cut off goes on where it was.
//
// Else it has no log-in: the door is meant for loopback. So that no web page that an operator happens to
// read can come in by it, requests under a foreign host name and posts from other sites are refused.
//
// The package decides nothing: a drain that is asked for here becomes a file of the configuration, the same that the
// command writes, and counts as one.
package admin
