package dns

// Transport is how a request came, and its answer goes back.
type Transport uint8

// The transports. The zero value is UDP.
const (
	UDP   Transport = iota
	TCP             // RFC 7766
	TLS             // RFC 7858
	HTTPS           // RFC 8484
	QUIC            // RFC 9250
	transports
)

func (t Transport) String() string {
	return [...]string{"udp", "tcp", "tls", "https", "quic"}[t]
}

// door is what a door for a transport is called.
func (t Transport) door() string {
	if t == UDP {
		return "udp and tcp"
	}
	return t.String()
}

// stream tells whether an answer may be as long as it is, and whether the client's address is its own: a
// connection is not opened under the address of another.
func (t Transport) stream() bool { return t != UDP }

// transfers tells whether a whole zone can go out: many messages for one request.
func (t Transport) transfers() bool { return t.stream() && t != HTTPS }

// secure tells whether nobody else sees more of an answer than its length.
func (t Transport) secure() bool { return t >= TLS }

// keptAlive tells whether it is DNS that says how long a connection may be silent (RFC 7828): HTTP and QUIC have words
// of their own for that.
func (t Transport) keptAlive() bool { return t == TCP || t == TLS }
