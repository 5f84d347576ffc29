package config

import (
	"net/netip"
	"time"
)

// CheckKind is the protocol a check speaks.
type CheckKind string

// The kinds of check that a config can name.
const (
	CheckHTTP  CheckKind = "http"
	CheckHTTPS CheckKind = "https"
	CheckTCP   CheckKind = "tcp"
	CheckTLS   CheckKind = "tls"
	CheckDNS   CheckKind = "dns"
	CheckGRPC  CheckKind = "grpc"
	CheckExec  CheckKind = "exec"
	CheckICMP  CheckKind = "icmp"
	CheckFile  CheckKind = "file"
	CheckPush  CheckKind = "push"
)

// Check says how an endpoint is probed and when the rule withdraws and restores it.
type Check struct {
	Name     string
	Kind     CheckKind
	Interval time.Duration
	Timeout  time.Duration
	Window   int
	Fall     int
	Rise     int
	Slow     time.Duration // a success that takes longer is a failure; 0: none is

	Port uint16
	Host string // http, https: Host header; these, tls and grpc: TLS server name; empty: the address
	TLS  Trust  // https, tls, grpc

	// http, https
	Method, Path string
	Headers      []Header
	Status       string // "200-299,304"
	Body         string // a text that the body must hold; empty: any body
	BodyRegex    string // an expression that must match in it
	Redirects    int    // that are followed
	KeepAlive    bool   // the connection is kept for the next probe
	Load         string // an expression whose group is the load, in the body; empty: it is not told

	// tcp
	Send, Expect, ExpectRegex string

	// dns
	Query     string   // the name that is asked for
	QueryType string   // the type that is asked for
	Rcode     string   // of a healthy answer
	Answer    []string // data that the answer must hold; empty: any
	OverTCP   bool

	// grpc
	Service string // whose health is asked for; empty: the server's as a whole
	InTLS   bool

	// exec
	Command      []string // the command and its arguments
	WarningFails bool

	// push: one of the two
	Token     string // SHA-256 of the token, in hex
	TokenFile string

	// file
	StateFile string        // in which {address} is filled in
	Stale     time.Duration // how old its state may be; 0: any age
}

// Header is a field of an HTTP request.
type Header struct{ Name, Value string }

// Trust says whose certificate a check accepts, and how it shows itself.
type Trust struct {
	Verify            bool
	ServerName        string // https; empty: the host's
	CAFile            string // empty: the system's authorities
	CertFile, KeyFile string // empty: no certificate of our own
	MinDays           int
	ALPN              []string // tls
}

// Brake says when failures are likelier ours than theirs, so that verdicts are held.
type Brake struct {
	Percent   int // of the endpoints that must fail at once; 0: never
	Reference []Reference
}

// Reference is addresses that tell whether the world can be seen from here.
type Reference struct {
	Check     string
	Addresses []netip.Addr
}
