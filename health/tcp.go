package health

import (
	"io"
	"net/netip"
)

// TCP connects, and sends and expects something where the check wants it.
type TCP struct {
	Port   uint16
	Send   string // what is said at once; empty: nothing
	Expect Text   // in what the endpoint says, as soon as it is there
}

// String is the word of the config.
func (TCP) String() string { return "tcp" }

func (t TCP) tell(add func(field, value string)) {
	add("port", number(t.Port))
	add("send", t.Send)
	add("expect", t.Expect.Plain)
	add("expect_regex", t.Expect.Regex)
}

func (t TCP) ask(v *visit) error {
	s, err := connect(netip.AddrPortFrom(v.at, t.Port))
	if err != nil {
		return err
	}
	conn := v.bound(s)
	defer conn.Close()
	if err := s.established(); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, t.Send); err != nil {
		return err
	}
	if !t.Expect.Wants() {
		return nil
	}
	return t.Expect.search(conn, "answer", false)
}
