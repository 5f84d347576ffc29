package config

import (
	"net/netip"
	"sync"
	"time"
)

// table is [configForm], made once: a form never changes.
var table = sync.OnceValue(configForm)

// configForm is the whole table: every key that an operator can write, what may stand there, what
// holds without it, and where it is kept. [Load] reads by it and [Schema] prints it.
func configForm() form[Config] {
	return object("the configuration",
		key("server", "Where DNS questions are answered.", serverForm(), func(c *Config) *Server { return &c.Server }),
		key("admin", "The operator's HTTP API, metrics and web page.", adminForm(), func(c *Config) *Admin { return &c.Admin }),
		key("geo", "The databases that place an address on the globe.", geoForm(), func(c *Config) *Geo { return &c.Geo }),
		key("checks", "How endpoints are probed, by name.", checksForm(), func(c *Config) *[]Check { return &c.Checks }),
		key("brake", "Hold all verdicts when at least this part of the endpoints, at least 4 in 2 places, begin to fail at once: the fault is then more likely ours.", brakeForm(), func(c *Config) *Brake { return &c.Brake }).or("100%"),
		key("datacenters", "Places that every client may be sent to, by name.", placesForm(Datacenter), allPlaces),
		key("sites", "CDN sites, by name: offered only to clients matched to them.", placesForm(Site), allPlaces),
		key("bgp", "Our side of every BGP session.", bgpForm(), func(c *Config) *BGP { return &c.BGP }),
		key("partners", "Networks that want their clients on the site inside them, by name.", partnersForm(), func(c *Config) *[]Partner { return &c.Partners }),
		key("maps", "Named lists of geo rules; in each the first match wins.", mapsForm(), func(c *Config) *[]Map { return &c.Maps }),
		key("services", "What clients want and places give, by name.", servicesForm(), func(c *Config) *[]Service { return &c.Services }),
		key("zones", "Zones that this server is authoritative for, by domain name.", zonesForm(), func(c *Config) *[]Zone { return &c.Zones }),
		key("drains", "Places that the operator keeps out of the answers.", drainsForm(), func(c *Config) *[]Drain { return &c.Drains }),
	)
}

func allPlaces(c *Config) *[]Place { return &c.Places }

func serverForm() form[Server] {
	return object("listen, workers, coalesce, state, journal, nsid, explain, cookies, cookie_secrets, tsig_keys, tls, https, quic, proxies, rate_limit",
		key("listen", "UDP and TCP addresses of the DNS server.", setOf("addresses and ports", 1, addrPort()),
			func(s *Server) *[]netip.AddrPort { return &s.Listen }).or(`[127.0.0.1:5353, "[::1]:5353"]`),
		key("workers", "UDP sockets of each address, each with a worker that answers; holds for addresses that are opened from then on. Default: one for each core.", number[int](1, 256), func(s *Server) *int { return &s.Workers }),
		key("coalesce", "Pause in which queries gather to be answered together, such as 200us, as long as at least one comes in each pause: less work for an answer, and as much more latency. Default: none.",
			duration(0, time.Millisecond), func(s *Server) *time.Duration { return &s.Coalesce }),
		key("state", "File that holds what survives a restart: verdicts, learned prefixes, the journal.", filePath("the path of a file"),
			func(s *Server) *string { return &s.State }).or("./gslb.state.db"),
		key("journal", "How much is remembered of what happened: withdrawals, drains, sessions, changes of the configuration.", journalForm(), func(s *Server) *Journal { return &s.Journal }),
		key("nsid", "Name of this server in answers (RFC 5001). Default: the host name.", freeText("a name of at most 128 letters", `^[!-~]{1,128}$`),
			func(s *Server) *string { return &s.NSID }),
		key("explain", "Networks that may ask for reasons.", setOf("networks", 0, prefix()),
			func(s *Server) *[]netip.Prefix { return &s.Explain }).or(`[127.0.0.0/8, "::1/128"]`),
		key("cookies", "Give DNS cookies to clients that ask for one (RFC 7873).", boolean(), func(s *Server) *bool { return &s.Cookies }).or("true"),
		key("cookie_secrets", "File of secrets that servers of the same address share, each a line of 32 hexadecimal digits: the first makes cookies, all are accepted. Default: a new secret at each start.",
			filePath("the path of a file"), func(s *Server) *string { return &s.CookieFile }),
		key("tsig_keys", "File of keys that requests can be signed with (RFC 8945), as tsig-keygen prints them.", filePath("the path of a file"),
			func(s *Server) *string { return &s.TSIGFile }),
		key("tls", "DNS over TLS (RFC 7858).", secureForm("TCP", "853"), func(s *Server) **Secure { return &s.TLS }),
		key("https", "DNS over HTTPS (RFC 8484), by HTTP/2 and HTTP/1.1.", secureForm("TCP", "443", pathField()), func(s *Server) **Secure { return &s.HTTPS }),
		key("quic", "DNS over QUIC (RFC 9250).", secureForm("UDP", "853"), func(s *Server) **Secure { return &s.QUIC }),
		key("proxies", "Networks of proxies: what comes from there by UDP, TCP, TLS or HTTPS begins with a header of the PROXY protocol, version 2, which names the client; without the header it is not answered. Whoever can send from there can claim to be any client.",
			setOf("networks", 0, prefix()), func(s *Server) *[]netip.Prefix { return &s.Proxies }),
		key("log", "How the server tells what it does, on its standard error. The flags of gslb serve count before it.", logForm(), func(s *Server) *Log { return &s.Log }),
		key("query_log", "A file that gets a line for some of the questions, with what was decided. Default: none.", queryLogForm(), func(s *Server) **QueryLog { return &s.QueryLog }),
		key("dnstap", "A reader of dnstap that gets questions and answers, with what was decided in the extra field. Default: none.", dnstapForm(), func(s *Server) **Dnstap { return &s.Dnstap }),
		key("rate_limit", "Limit the replies over UDP to one block of clients (/24 or /56), so that nobody can flood others by way of this server. Default: no limit.", rateLimitForm(),
			func(s *Server) **RateLimit { return &s.RateLimit }),
	)
}

// secureForm keeps nil where the key is not given.
func secureForm(below, port string, more ...field[Secure]) form[*Secure] {
	fields := append([]field[Secure]{
		key("listen", below+" addresses where it is spoken; the usual port is "+port+".", setOf("addresses and ports", 1, addrPort()), func(s *Secure) *[]netip.AddrPort { return &s.Listen }).required(),
		key("certificate", "File of the certificate with its chain (PEM); read again when it changes.", filePath("the path of a file"), func(s *Secure) *string { return &s.Certificate }).required(),
		key("key", "File of its key (PEM).", filePath("the path of a file"), func(s *Secure) *string { return &s.Key }).required(),
	}, more...)
	noun := "listen, certificate, key"
	if len(more) > 0 {
		noun += ", path"
	}
	return optional(object(noun, fields...))
}

// pathField is where questions are asked by HTTPS.
func pathField() field[Secure] {
	return key("path", "Path of the URL where questions are asked.", text("a path that begins with /, without a query", `^/[A-Za-z0-9._~/-]{0,200}$`), func(s *Secure) *string { return &s.Path }).or("/dns-query")
}

// rateLimitForm keeps nil where the key is not given.
func rateLimitForm() form[*RateLimit] {
	rate := number[int](0, 1_000_000)
	return optional(object("answers, denials, errors, slip, exempt, dry_run",
		key("answers", "Answers a second for one name (a wildcard, delegation or DNAME counts as one), one type and one client subnet; 0: no limit.", rate, func(l *RateLimit) *int { return &l.Answers }).or("1000"),
		key("denials", "Answers a second that a name does not exist, for all names of a zone; 0: no limit.", rate, func(l *RateLimit) *int { return &l.Denials }).or("250"),
		key("errors", "Errors a second of one kind, such as REFUSED; 0: no limit.", rate, func(l *RateLimit) *int { return &l.Errors }).or("250"),
		key("slip", "Of the replies that are held back, one in so many is sent cut to its question, so that real clients ask again by TCP; 0: none.", number[int](0, 10), func(l *RateLimit) *int { return &l.Slip }).or("2"),
		key("exempt", "Networks without a limit. Clients with a valid cookie have none either.", setOf("networks", 0, prefix()), func(l *RateLimit) *[]netip.Prefix { return &l.Exempt }),
		key("dry_run", "Only count what would be held back.", boolean(), func(l *RateLimit) *bool { return &l.DryRun }).or("false"),
	))
}

func journalForm() form[Journal] {
	return object("keep, events",
		key("keep", "How long an event is remembered.", duration(time.Hour, 10*365*24*time.Hour), func(j *Journal) *time.Duration { return &j.Keep }).or("720h"),
		key("events", "How many events are remembered at most: the newest ones.", number[int](100, 10_000_000), func(j *Journal) *int { return &j.Events }).or("100000"),
	)
}

func geoForm() form[Geo] {
	return object("database, asn",
		key("database", "builtin, or a Country or City .mmdb file (GeoIP2, GeoLite2, DB-IP); watched and reloaded.", filePath("builtin or the path of a .mmdb file", "builtin"),
			func(g *Geo) *string { return &g.Database }).or("builtin"),
		key("asn", "An ASN .mmdb file; watched and reloaded.", filePath("the path of a .mmdb file"),
			func(g *Geo) *string { return &g.ASN }),
	)
}

func placesForm(kind PlaceKind) form[[]Place] {
	place := object("location, weight, check, address, state, ramp, capacity …",
		key("location", "Latitude and longitude in degrees.", location(), func(p *Place) *Place { return p }),
		key("weight", "Share of this place among the equals of a tier; 0: only when nothing else of the tier serves.", weight(),
			func(p *Place) *int { return &p.Weight }).or("100"),
		key("degraded_weight", "Weight while all endpoints of this place are degraded, that is, some of their last checks failed; where only some endpoints are, the weight is between the two. Default: weight.", weight(),
			func(p *Place) *int { return &p.DegradedWeight }),
		key("check", "Check, or checks, of the place as a whole: while one of them is withdrawn, so are all endpoints of the place.", checksOf(), func(p *Place) *[]string { return &p.Checks }),
		key("address", "Address, or addresses, at which the place as a whole is probed. One of a family stands for the endpoints of this family, where both families are given.", addressOrList(),
			func(p *Place) *[]netip.Addr { return &p.Addresses }),
		key("state", "State by hand of the endpoints of this place, whatever their checks say: up, down, or auto.", stateForm(), func(p *Place) *State { return &p.State }).or("auto"),
		key("partners_only", "Geography never picks this place, only the networks of its partners do.", boolean(),
			func(p *Place) *bool { return &p.PartnersOnly }).or("false"),
		key("ramp", "How long a place that comes back takes to get all of its clients: it gets a growing part of their networks. Default: all at once.", ramp(),
			func(p *Place) *time.Duration { return &p.Ramp }),
		key("capacity", "What this place can carry, in any unit that all places and demands share, such as requests a second: gslb check tells what a loss does to the others.",
			amount(), func(p *Place) *float64 { return &p.Capacity }),
	)
	return named("places by name", ownName, func(n *node) Place { return Place{Name: n.name, Kind: kind, DegradedWeight: noWeight} }, place)
}

// amount is a load or a capacity, in whatever unit the operator counts by.
func amount() form[float64] { return decimal(0.001, 1e12) }

// ramp is the time that a return takes; 0 is at once.
func ramp() form[time.Duration] { return duration(0, 7*24*time.Hour) }

func weight() form[int] { return number[int](0, 10000) }

// location is a pair of degrees.
func location() form[Place] {
	latitude, longitude := decimal(-90, 90), decimal(-180, 180)
	const noun = "latitude and longitude, as [55.75, 37.62]"
	return form[Place]{
		takes: isList, noun: noun,
		schema: schema{Type: jsonTypes(isList), PrefixItems: []schema{latitude.schema, longitude.schema}, MinItems: 2, MaxItems: 2},
		read: func(r *reader, n *node, to *Place) {
			if len(n.children) != 2 {
				r.fault(n, "holds %d values: it must be %s", len(n.children), noun)
				return
			}
			latitude.apply(r, n.children[0], &to.Latitude)
			longitude.apply(r, n.children[1], &to.Longitude)
			to.Located = !r.bad(n)
		},
	}
}
