package health

// TLS makes a handshake, and closes.
type TLS struct {
	Port  uint16
	Host  string // server name; empty: the address
	Trust Trust
	ALPN  List // protocols that are offered (RFC 7301), of which the endpoint must choose one; empty: none
}

// String is the word of the config.
func (TLS) String() string { return "tls" }

func (t TLS) tell(add func(field, value string)) {
	add("port", number(t.Port))
	add("host", t.Host)
	t.Trust.tell(add)
	for _, protocol := range t.ALPN.Texts() {
		add("alpn", protocol)
	}
}

func (t TLS) ask(v *visit) error {
	conn, err := v.dial(t.Port)
	if err != nil {
		return err
	}
	defer conn.Close()
	secure, err := v.handshake(conn, t.Trust, serverName(v.at, t.Host), t.ALPN.Texts()...)
	if err != nil {
		return err
	}
	if secure.ConnectionState().NegotiatedProtocol == "" && t.ALPN != (List{}) {
		return fault("tls: no application protocol")
	}
	_ = secure.Close() // the endpoint may have left first
	return nil
}
