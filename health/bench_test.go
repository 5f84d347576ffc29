package health

import (
	"net/netip"
	"testing"
)

// full gives a board of 20,000 endpoints, all up with a clean window, and its keys.
func full(b *testing.B) (*Board, []Key) {
	b.Helper()
	const endpoints = 20_000
	check := usualCheck
	check.Kind = HTTP{Port: 80, Method: "GET", Path: "/ping", Host: "www.ok.test", Body: Text{Plain: "OK"}, Status: mustStatus(b, "200-299")}
	var targets []Target
	for n := range endpoints {
		a := netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
		targets = append(targets, Target{Address: a, Name: "web", Check: check})
	}
	board := NewBoard()
	keys, _ := board.Apply(targets, epoch)
	for range check.Window {
		for _, k := range keys {
			board.Record(k, Result{OK: true}, epoch)
		}
	}
	board.Latest()
	return board, keys
}

func BenchmarkRecordClean(b *testing.B) {
	board, keys := full(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		board.Record(keys[n%len(keys)], Result{OK: true}, epoch)
		n++
	}
}

func BenchmarkRecordFailing(b *testing.B) {
	board, keys := full(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		board.Record(keys[n%len(keys)], Result{OK: n%3 == 0, Cause: "status 503"}, epoch)
		n++
	}
}

// BenchmarkReport is a change and the report of it, as when a publisher reads at once.
func BenchmarkReport(b *testing.B) {
	board, keys := full(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		board.Record(keys[n*7919%len(keys)], Result{OK: n%2 == 0, Cause: "status 503"}, epoch)
		if board.Latest().Len() != len(keys) {
			b.Fatal("endpoints are missing")
		}
		n++
	}
}

func BenchmarkSave(b *testing.B) {
	board, keys := full(b)
	b.ReportAllocs()
	for b.Loop() {
		if len(board.Save()) != len(keys) {
			b.Fatal("endpoints are missing")
		}
	}
}

func BenchmarkProbeHTTP(b *testing.B) {
	at := endpoint(b, "127.0.0.1", says(okHead+"Content-Length: 2\r\n\r\nOK"))
	check := usualCheck
	check.Kind = HTTP{Port: at.Port(), Body: Text{Plain: "OK"}, Status: mustStatus(b, "200")}
	b.ReportAllocs()
	for b.Loop() {
		if r := NewOutside().Probe(b.Context(), at.Addr(), check); !r.OK {
			b.Fatal(r.Cause)
		}
	}
}
