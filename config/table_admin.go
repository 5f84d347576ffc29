package config

import (
	"net/netip"
	"regexp"
)

func adminForm() form[Admin] {
	const noun = `an address and port such as 127.0.0.1:8053, or "off"`
	listen := parsed(noun, schema{Pattern: "^off$|" + addrPortPattern}, func(s string) (netip.AddrPort, error) {
		if s == "off" {
			return netip.AddrPort{}, nil
		}
		return parseAddrPort(s)
	})
	return object("listen, tls, tokens",
		key("listen", `Address of the HTTP API, /metrics and the web page; "off" closes it. Other machines can reach it only with tls and tokens.`, listen,
			func(a *Admin) *netip.AddrPort { return &a.Listen }).or("127.0.0.1:8053"),
		key("tls", "Speak TLS there.", adminTLSForm(), func(a *Admin) **AdminTLS { return &a.TLS }),
		key("tokens", "Who may ask, by name, shown as \"Authorization: Bearer TOKEN\". Default: whoever can reach the address.", tokensForm(),
			func(a *Admin) *[]AdminToken { return &a.Tokens }),
	)
}

// adminTLSForm keeps nil where the key is not given.
func adminTLSForm() form[*AdminTLS] {
	file := filePath("the path of a file")
	return optional(object("certificate, key",
		key("certificate", "File of the certificate with its chain (PEM); read again when it changes.", file, func(t *AdminTLS) *string { return &t.Certificate }).required(),
		key("key", "File of its key (PEM).", file, func(t *AdminTLS) *string { return &t.Key }).required(),
	))
}

func tokensForm() form[[]AdminToken] {
	names := naming{"the name of a token", regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]*$`), 63}
	return named("tokens by name", names, func(n *node) AdminToken { return AdminToken{Name: n.name} }, object("token, role",
		key("token", "The token, hashed: sha256: and what `printf %s TOKEN | sha256sum` prints. `openssl rand -hex 32` makes one.", tokenHash(),
			func(t *AdminToken) *string { return &t.Hash }).required(),
		key("role", "What it allows: read; drain: also to begin and end drains; operate: also to reload and to reset sessions.",
			word(choice[AdminRole]{"read", AdminRead}, choice[AdminRole]{"drain", AdminDrain}, choice[AdminRole]{"operate", AdminOperate}),
			func(t *AdminToken) *AdminRole { return &t.Role }).or("read"),
	))
}
