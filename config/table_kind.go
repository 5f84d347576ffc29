package config

import (
	"regexp"
	"strings"
	"time"
)

// kindFields are the kinds of check, of which each check has one.
func kindFields() []field[Check] {
	return []field[Check]{
		kind(CheckHTTP, "An HTTP request, on a new connection unless keepalive is set.", requestFields("80")...),
		kind(CheckHTTPS, "An HTTPS request, on a new connection unless keepalive is set.", append(append(requestFields("443"),
			key("server_name", "Server name for TLS, where it is not that of host.", hostName(), func(c *Check) *string { return &c.TLS.ServerName })),
			trustFields()...)...),
		kind(CheckTCP, "A TCP connection, and what is sent and expected on it.", conversationFields()...),
		kind(CheckTLS, "A TLS handshake.", append([]field[Check]{
			port("443"), host("Server name that the certificate must hold. Default: the address."),
			key("alpn", "Protocols that are offered (RFC 7301); the endpoint must choose one. Default: none.",
				setOf("protocols such as h2", 1, text("a protocol such as h2", `^[!-~]{1,255}$`)), func(c *Check) *[]string { return &c.TLS.ALPN }),
		}, trustFields()...)...),
		kind(CheckDNS, "A DNS question, over UDP, and over TCP when the answer is truncated.", questionFields()...),
		kind(CheckGRPC, "A question to the gRPC health service.", append([]field[Check]{
			port("").required(),
			key("service", "Service whose health is asked for. Default: the server's as a whole.", anything("the name of a gRPC service"), func(c *Check) *string { return &c.Service }),
			host("Authority of the call, and server name for TLS. Default: the address."),
			key("tls", "Ask inside TLS.", boolean(), func(c *Check) *bool { return &c.InTLS }).or("false"),
		}, trustFields()...)...),
		kind(CheckExec, "A command with the exit codes of a monitoring plugin: 0 ok, 1 warning, 2 critical, 3 unknown. In the performance data behind a bar, load=NUMBER is what the endpoint carries: a drain shows it.", commandFields()...),
		kind(CheckICMP, "An ICMP echo request."),
		kind(CheckFile, "A state that somebody writes to a file: up or down, and in the same line a reason.",
			key("path", "The file, in which {address} is filled in.", filePath("the path of a file"), func(c *Check) *string { return &c.StateFile }).required(),
			key("stale", "The check fails when the file was not written for so long. Default: any age will do.", duration(time.Second, 366*24*time.Hour),
				func(c *Check) *time.Duration { return &c.Stale })),
		kind(CheckPush, "Results that an application or a balancer reports itself, by POST /v1/push/CHECK of the admin door.",
			key("token", "The token of reports, hashed: sha256: and what `printf %s TOKEN | sha256sum` prints.", tokenHash(), func(c *Check) *string { return &c.Token }),
			key("token_file", "A file with the token in its first line, read at each report.", filePath("the path of a file"), func(c *Check) *string { return &c.TokenFile })),
	}
}

func requestFields(ownPort string) []field[Check] {
	return []field[Check]{
		port(ownPort),
		key("method", "Method of the request.", words("GET", "HEAD", "OPTIONS", "POST"), func(c *Check) *string { return &c.Method }).or("GET"),
		key("path", "Path and query of the request.", text("a path that begins with /", `^/[!-~]*$`), func(c *Check) *string { return &c.Path }).or("/"),
		host("Host header, and server name for TLS. Default: the address."),
		key("headers", "Header fields that are added to the request, by name.", headersForm(), func(c *Check) *[]Header { return &c.Headers }),
		key("status", "Status codes of a healthy answer, as 200-299 or 200,204,300-302.", statusForm(), func(c *Check) *string { return &c.Status }).or("200-299"),
		key("body", "A text that the body must hold within its first 64 KB. Default: any body.", someText(), func(c *Check) *string { return &c.Body }),
		key("body_regex", "An expression (RE2) that must match in the first 64 KB of the body.", expression(), func(c *Check) *string { return &c.BodyRegex }),
		key("redirects", "How many redirects are followed, at the same address and for the same host; 0: their status is judged.",
			number[int](0, 10), func(c *Check) *int { return &c.Redirects }).or("0"),
		key("keepalive", "Keep the connection for the next probe, for 10 minutes at most; answers are then read to their end.",
			boolean(), func(c *Check) *bool { return &c.KeepAlive }).or("false"),
		key("load", "An expression (RE2) that finds what the endpoint carries in the first 64 KB of the body: its group is the number, as in \"Active connections: (\\\\d+)\". A drain shows it, and no verdict depends on it. Default: none is read.",
			measure(), func(c *Check) *string { return &c.Load }),
	}
}

func conversationFields() []field[Check] {
	return []field[Check]{
		port("").required(),
		key("send", "What is sent once connected, as \"PING\\r\\n\". Default: nothing.", someText(), func(c *Check) *string { return &c.Send }),
		key("expect", "A text that the first 64 KB of the answer must hold. Default: any answer, or none.", someText(), func(c *Check) *string { return &c.Expect }),
		key("expect_regex", "An expression (RE2) that must match in what has been answered so far, within the first 64 KB.", expression(), func(c *Check) *string { return &c.ExpectRegex }),
	}
}

func questionFields() []field[Check] {
	data := freeText("what a record holds, such as 192.0.2.1", `^[^\x00\r\n]+$`)
	return []field[Check]{
		port("53"),
		key("name", "Name that is asked for.", domain("a domain name such as ok.test"), func(c *Check) *string { return &c.Query }).required(),
		key("type", "Type that is asked for.", text("a type such as A or AAAA", `^[A-Z][A-Z0-9]{0,15}$`), func(c *Check) *string { return &c.QueryType }).or("A"),
		key("rcode", "Code that the answer must have.", text("a code such as NOERROR or NXDOMAIN", `^[A-Z]{2,15}$`), func(c *Check) *string { return &c.Rcode }).or("NOERROR"),
		key("answer", "Data that the answer must hold, all of it, written as in a master file. Default: any data, or none.",
			either(listOf("what records hold", 1, data), of(data, func(one string, to *[]string) { *to = []string{one} })), func(c *Check) *[]string { return &c.Answer }),
		key("tcp", "Ask over TCP only.", boolean(), func(c *Check) *bool { return &c.OverTCP }).or("false"),
	}
}

func commandFields() []field[Check] {
	return []field[Check]{
		key("command", "The program and its arguments, in which {address} and {port} are filled in; there is no shell.",
			listOf("words", 1, freeText("a word", `^[^\x00\r\n]+$`)), func(c *Check) *[]string { return &c.Command }).required(),
		port(""),
		key("warning", "What exit code 1 counts as.", word(choice[bool]{"healthy", false}, choice[bool]{"failed", true}),
			func(c *Check) *bool { return &c.WarningFails }).or("healthy"),
	}
}

// trustFields say whose certificate a probe accepts, and how it shows itself.
func trustFields() []field[Check] {
	file := filePath("the path of a PEM file")
	return []field[Check]{
		key("verify", "Whether the certificate must be signed by a known authority, and for the name.", boolean(), func(c *Check) *bool { return &c.TLS.Verify }).or("true"),
		key("ca_file", "Authorities that are trusted instead of the system's (PEM); read again when the file changes.", file, func(c *Check) *string { return &c.TLS.CAFile }),
		key("cert_file", "Our own certificate (PEM), for endpoints that ask for one; read again when it changes.", file, func(c *Check) *string { return &c.TLS.CertFile }),
		key("key_file", "Key of our own certificate (PEM).", file, func(c *Check) *string { return &c.TLS.KeyFile }),
		key("min_days", "Days for which the certificate must still be valid. Default: valid is enough.", number[int](1, 1000), func(c *Check) *int { return &c.TLS.MinDays }),
	}
}

func port(own string) field[Check] {
	f := key("port", "Port that is probed.", number[uint16](1, 65535), func(c *Check) *uint16 { return &c.Port })
	if own == "" {
		return f
	}
	return f.or(own)
}

func host(doc string) field[Check] {
	return key("host", doc, hostName(), func(c *Check) *string { return &c.Host })
}

func hostName() form[string] {
	return text("a host name such as www.ok.test", `^[A-Za-z0-9_.:\[\]-]{1,255}$`)
}

// someText is a text that is not empty.
func someText() form[string] { return freeText("a text", `^[^\x00]+$`) }

// measure is an expression with one group, which is a number.
func measure() form[string] {
	f := expression()
	read := f.read
	f.read = func(r *reader, n *node, to *string) {
		if regex, err := regexp.Compile(n.text); err == nil && regex.NumSubexp() != 1 {
			r.fault(n, "must have one group, which is the number, as \"load: ([0-9.]+)\"; it has %d", regex.NumSubexp())
			return
		}
		read(r, n, to)
	}
	return f
}

// expression is a regular expression as Go's regexp reads it.
func expression() form[string] {
	f := freeText("an expression", `^[^\x00]+$`)
	read := f.read
	f.read = func(r *reader, n *node, to *string) {
		if _, err := regexp.Compile(n.text); err != nil {
			r.fault(n, "is no expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			return
		}
		read(r, n, to)
	}
	return f
}

// tokenHash is the hash of a token, which in its place is not quoted in messages.
func tokenHash() form[string] {
	hash := secret(text("sha256: and 64 hex digits", `^sha256:[0-9a-f]{64}$`))
	return of(hash, func(s string, to *string) { *to = strings.TrimPrefix(s, "sha256:") })
}

// headersForm is header fields (RFC 9110, section 5) by their names. Their values may be secrets, and
// are not quoted in messages.
func headersForm() form[[]Header] {
	names := naming{"the name of a header field", regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"), 100}
	value := secret(freeText("the value of a header field in one line", `^[^\x00-\x08\x0a-\x1f\x7f]*$`))
	return named("header fields by name", names, func(n *node) Header { return Header{Name: n.name} },
		part(value, func(h *Header) *string { return &h.Value }))
}

func statusForm() form[string] {
	const pattern = `^[1-5][0-9]{2}(-[1-5][0-9]{2})?(,[1-5][0-9]{2}(-[1-5][0-9]{2})?)*$`
	const noun = "status codes such as 200-299 or 200,204,300-302"
	code := of(number[int](100, 599), func(int, *string) {})
	read := code.read
	code.read = func(r *reader, n *node, to *string) {
		if read(r, n, to); !r.bad(n) {
			*to = n.text
		}
	}
	return either(text(noun, pattern), code)
}
