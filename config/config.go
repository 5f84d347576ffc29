package config

import (
	"net/netip"
	"time"
)

// Config is what the operator said, typed, checked and with every default filled in. It is
// immutable once [Load] or [Parse] has returned it. Lists keep the order of the files.
type Config struct {
	File  string   // the main file, as it was named
	Files []string // every file that was read, and the drop-in folder: what a watcher watches

	Server   Server
	Admin    Admin
	Geo      Geo
	Checks   []Check
	Brake    Brake
	Places   []Place // datacenters first, then sites
	BGP      BGP
	Partners []Partner
	Maps     []Map
	Services []Service
	Zones    []Zone
	Drains   []Drain

	positions *positions
	hash      string
}

// Server says where DNS questions are answered.
type Server struct {
	Listen  []netip.AddrPort
	State   string // path of the bbolt file
	Journal Journal
	NSID    string // empty: the host name
	Explain []netip.Prefix

	Cookies       bool           // DNS cookies are given (RFC 7873)
	Workers       int            // sockets for UDP an address; 0: one a core
	Coalesce      time.Duration  // pause in which packets gather that come fast; 0: none
	CookieFile    string         // path of the file of secrets; empty: a secret of its own for each start
	CookieSecrets []CookieSecret // from that file; the first makes cookies, all are believed

	TLS       *Secure        // DNS over TLS (RFC 7858); nil: it is not spoken
	HTTPS     *Secure        // DNS over HTTPS (RFC 8484); likewise
	QUIC      *Secure        // DNS over QUIC (RFC 9250); likewise
	Proxies   []netip.Prefix // whose packets and connections begin with a header of the PROXY protocol, which is believed
	RateLimit *RateLimit     // nil: replies are not limited

	Log      Log
	QueryLog *QueryLog // nil: no question is told of
	Dnstap   *Dnstap   // nil: likewise

	TSIGFile string // path of the file of keys; empty: no request can be signed
	TSIGKeys []TSIGKey
}

// Secure is where DNS is answered by a transport that nobody listens in on.
type Secure struct {
	Listen      []netip.AddrPort
	Certificate string // path of a file with the certificate and its chain (PEM)
	Key         string // path of the file with its key (PEM)
	Path        string // of questions by HTTPS; of other transports empty
}

// RateLimit bounds the replies over UDP that one block of clients gets, in replies a second of one class; 0 is no bound.
type RateLimit struct {
	Answers int // for one name, type and client subnet; all names of a wildcard, delegation or DNAME are one
	Denials int // that names do not exist, for one zone
	Errors  int // of one kind
	Slip    int // of what is held back, one in so many goes out cut, so that real clients come by TCP; 0: none
	DryRun  bool
	Exempt  []netip.Prefix
}

// Journal bounds what is remembered of what happened.
type Journal struct {
	Keep   time.Duration // how long
	Events int           // how many at most: the newest
}

// Geo names the databases that place an address on the globe.
type Geo struct {
	Database string // "builtin" or a path
	ASN      string // a path, or empty
}

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

// State is what an operator's hand says of an endpoint, whatever its checks say.
type State uint8

const (
	// StateAuto leaves it to the checks.
	StateAuto State = iota
	// StateUp has it serve.
	StateUp
	// StateDown keeps it out.
	StateDown
)

// PlaceKind tells a datacenter from a site.
type PlaceKind uint8

const (
	// Datacenter is a place that every client may be sent to.
	Datacenter PlaceKind = iota
	// Site is a CDN site: offered only to clients matched to it.
	Site
)

// Place is a datacenter or a site.
type Place struct {
	Name                string
	Kind                PlaceKind
	Located             bool
	Latitude, Longitude float64
	Weight              int           // default 100
	DegradedWeight      int           // while all of its endpoints are degraded; default: Weight
	Checks              []string      // of the place as a whole: while one of them fails, none of its endpoints serves
	Addresses           []netip.Addr  // that these probe; those of a family stand for the endpoints of it
	State               State         // of all its endpoints that have none of their own
	PartnersOnly        bool          // only partners' networks lead here, never geography
	Ramp                time.Duration // how long it takes to get all of its clients back; 0: at once
	Capacity            float64       // what it can carry, in the unit of demands; 0: not known
}

// BGP is our side of every session.
type BGP struct {
	ASN      uint32
	RouterID netip.Addr
	Listen   []netip.AddrPort
	RPKI     RPKI
}

// RPKI says where validated ROA payloads come from, by which origins are judged. Empty: not at all.
type RPKI struct {
	RTR  []string // caches, as host:port (RFC 8210)
	File string   // path of a JSON file that a validator writes
}

// Partner is a network that wants its clients on the site inside it.
type Partner struct {
	Name        string
	Site        string
	Peers       []Peer
	Networks    []netip.Prefix
	Accept      Accept
	Communities []Community
	Stale       time.Duration
	Shadow      bool
}

// Peer is one BGP session of a partner.
type Peer struct {
	Address      netip.Addr
	Port         uint16
	ASN          uint32
	Passive      bool
	PasswordFile string
	Local        netip.Addr    // source address of the sessions that we open; the zero value: as the kernel chooses
	TTLSecurity  int           // routers that the peer may be away (RFC 5082); 0: however far
	Hold         time.Duration // offered
	Keepalive    time.Duration // 0: a third of the hold time
	AddPath      bool
	Families     []Family
}

// Family is an address family that a session may carry.
type Family uint8

// The families of unicast prefixes.
const (
	FamilyIPv4 Family = iota
	FamilyIPv6
)

// Accept bounds what is believed of a partner's announcements.
type Accept struct {
	Within      []netip.Prefix // empty: anything
	Origins     []uint32       // empty: any origin
	IPv4        Lengths
	IPv6        Lengths
	MaxPrefixes int
}

// Lengths is an inclusive range of prefix lengths.
type Lengths struct{ Min, Max int }

// Community maps one BGP community to what it means for steering.
type Community struct {
	Value  string // "64501:50" or large "64501:1:50"
	Ignore bool
	Prefer uint32 // local preference, when not Ignore
}

// Map is a named list of geo rules; the first match wins.
type Map struct {
	Name  string
	Rules []Rule
}

// Rule sends the clients that fit every given key to tiers of places.
type Rule struct {
	Country, Region, Continent, City string         // empty: any
	ASN                              uint32         // 0: any
	Networks                         []netip.Prefix // those of NetworksFile, too; nil: any
	NetworksFile                     string         // path of a file of networks; empty: none
	Nearest                          bool           // to: nearest
	To                               [][]string     // tiers of place names; nil with Nearest
}

// Stage is one step by which a service looks for places.
type Stage uint8

const (
	// StagePartners follows the networks that partners announce.
	StagePartners Stage = iota
	// StageGeo follows the service's map, or distance.
	StageGeo
	// StageDatacenters takes all datacenters as one tier.
	StageDatacenters
)

// Pick is how places are taken from a tier.
type Pick uint8

const (
	// PickWeighted draws at random by weight, for each query.
	PickWeighted Pick = iota
	// PickHash keeps one client network on one place (rendezvous hashing).
	PickHash
)

// AllDownMode says what is answered when nothing serves.
type AllDownMode uint8

const (
	// AllDownServe answers as if all were up.
	AllDownServe AllDownMode = iota
	// AllDownNodata answers with no data.
	AllDownNodata
	// AllDownServfail answers SERVFAIL.
	AllDownServfail
	// AllDownAddresses answers with a fixed list.
	AllDownAddresses
)

// AllDown is what is answered when nothing serves.
type AllDown struct {
	Mode      AllDownMode
	Addresses []netip.Addr // with AllDownAddresses
}

// MaxAddresses bounds max_addresses: so many addresses of either family fit an answer of 1232 bytes
// with a long name.
const MaxAddresses = 32

// Service is a thing that clients want and places give.
type Service struct {
	Name         string
	Checks       []string // of which the worst counts; none: always healthy
	TTL          uint32   // seconds
	TTLMin       uint32   // seconds
	Steer        []Stage
	Map          string // empty: nearest by distance
	Answer       int    // places in one answer; 0: all of the winning tier
	Pick         Pick
	AllDown      AllDown
	MaxAddresses int
	HTTPS        *HTTPS        // nil: the service answers no HTTPS questions
	Demand       float64       // what its clients ask for, in the unit of capacities; 0: not known
	MinPlaces    int           // so many places drains and states by hand must leave; 0: none
	Ramp         time.Duration // of the members that give none; 0 also where each place's own holds
	At           []Member
}

// HTTPS is what a service's HTTPS records tell beside the addresses (RFC 9460).
type HTTPS struct {
	ALPN []string // protocols, the preferred first
	Port uint16   // 0: the usual one
}

// Member is a place's part in a service.
type Member struct {
	Place      string
	Endpoints  []Endpoint
	Host       *Host      // in place of endpoints; nil: none
	Probe      netip.Addr // that is probed for the host
	Weight     int        // the place's weight where the member gives none
	Checks     []string   // the service's checks where the member gives none
	MinHealthy Share

	// DegradedWeight is the weight while all endpoints are degraded: the place's where the member gives
	// neither, else its own weight.
	DegradedWeight int

	Ramp time.Duration // the service's, else the place's, where the member gives none
}

// Endpoint is one server of a service in a place.
type Endpoint struct {
	Address netip.Addr // that clients get
	Probe   netip.Addr // that is probed: Address unless another is given
	State   State      // the place's where it is StateAuto
}

// Host is a member that is known by its name rather than by addresses.
type Host struct {
	Name string // a domain name, which is absolute with or without a final dot
	Port uint16 // of a SRV record; 0: the member is given by a CNAME record
}

// Share is a count or a percentage of a place's endpoints.
type Share struct {
	Count   int
	Percent int // used when not 0
}

// Of gives the number of endpoints that the share asks of n, rounded up, between 1 and n for n > 0.
func (s Share) Of(n int) int {
	k := s.Count
	if s.Percent > 0 {
		k = (n*s.Percent + 99) / 100
	}
	return max(1, min(k, n))
}

// Zone is a zone that this server is authoritative for.
type Zone struct {
	Path       string // dotted path of its key, as [Config.At] takes it
	Name       string // lower case, with a final dot
	TTL        uint32 // seconds: default of records without one
	SOA        *SOA   // nil: the key is not given; the zone may bring its own
	NS         []string
	File       string // path of the master file; empty: none
	FileText   string // its content
	Records    string // master-file text from the config
	RecordsPos Pos    // where the first line of Records stands
	Services   []ZoneService
	Transfer   *Transfer // nil: to nobody
	DNSSEC     *DNSSEC   // nil: the zone is not signed
}

// Transfer says who may have a zone as a whole: who comes from an allowed network, and has signed with a key, as
// far as there are such.
type Transfer struct {
	Allow []netip.Prefix // none: from anywhere
	Keys  []string       // names in [Server.TSIGKeys], in lower case and with a final dot; none: unsigned
}

// SOA is the start of authority as the config gives it.
type SOA struct {
	MName, RName string // empty: the first name server, "hostmaster"
	Auto         bool   // serial: auto
	Serial       uint32
	Refresh      uint32 // seconds, as the three that follow
	Retry        uint32
	Expire       uint32
	Minimum      uint32
}

// ZoneService binds a name of a zone to a service.
type ZoneService struct {
	Name    string // relative to the zone; "@" is the apex
	Service string
}

// Drain keeps a place out of the answers by the operator's will.
type Drain struct {
	Target  string // a place
	Service string // empty: every service
	Until   time.Time
	Reason  string
	By      string
	Hard    bool
	Force   string // why it may leave fewer places than min_places; empty: it may not
	Pos     Pos
}

// Over tells whether the drain has run out at the given time.
func (d Drain) Over(now time.Time) bool { return !d.Until.IsZero() && !now.Before(d.Until) }

// At gives the position of the key at a dotted path, as "services.video.at.nsk" or
// "drains[0].target"; the zero Pos when nothing stands there.
func (c *Config) At(path string) Pos {
	pos, _ := c.positions.of(path)
	return pos
}

// Hash is 8 hex digits of the content: two servers with the same are configured alike. It
// covers every key but server and admin, which differ by nature, and the files of zones and networks.
func (c *Config) Hash() string { return c.hash }
