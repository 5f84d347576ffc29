package dns

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// client asks one server by one socket and one connection.
type client struct {
	t       *testing.T
	at      netip.AddrPort
	packets net.Conn
	stream  net.Conn
	id      int
}

func newClient(t *testing.T, at netip.AddrPort) *client {
	t.Helper()
	packets, err := net.Dial("udp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { packets.Close() })
	return &client{t: t, at: at, packets: packets}
}

// close ends the connection, if there is one.
func (c *client) close() {
	if c.stream != nil {
		c.stream.Close()
		c.stream = nil
	}
}

// next gives an ID that was not used just now.
func (c *client) next() int {
	c.id = c.id%60_000 + 1
	return c.id
}

// ask sends a packet and gives what comes back. A good question is sent behind it: when that is answered alone, the
// packet gets no answer.
func (c *client) ask(packet []byte, stream bool) []byte {
	c.t.Helper()
	if stream {
		return c.askStream(packet)
	}
	first, behind := c.next(), c.next()
	sentinel := new(dns.Msg)
	sentinel.SetQuestion("ns1.alpha.test.", dns.TypeA)
	good, err := sentinel.Pack()
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(numbered(packet, first))
	c.send(numbered(good, behind))
	var answer []byte
	for {
		reply := c.receive()
		switch int(binary.BigEndian.Uint16(reply)) {
		case first:
			answer = reply
		case behind:
			return answer
		}
	}
}

func (c *client) send(packet []byte) {
	c.t.Helper()
	if _, err := c.packets.Write(packet); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receive() []byte {
	c.t.Helper()
	buffer := make([]byte, 65535)
	if err := c.packets.SetReadDeadline(time.Now().Add(rig.Soon)); err != nil {
		c.t.Fatal(err)
	}
	n, err := c.packets.Read(buffer)
	if err != nil {
		c.t.Fatalf("%s: %v", c.at, err)
	}
	return buffer[:n]
}

// askStream asks over TCP. A server that closes the connection in place of an answer, or of the next, gives none.
func (c *client) askStream(packet []byte) []byte {
	c.t.Helper()
	for try := range 2 {
		if c.stream == nil {
			conn, err := net.Dial("tcp", c.at.String())
			if err != nil {
				c.t.Fatal(err)
			}
			c.t.Cleanup(func() { conn.Close() })
			c.stream = conn
		}
		reply, err := exchange(c.stream, numbered(packet, c.next()))
		if err == nil {
			return reply
		}
		c.close()
		if try == 1 && err != io.EOF {
			c.t.Fatalf("%s over TCP: %v", c.at, err)
		}
	}
	return nil
}

func exchange(conn net.Conn, packet []byte) ([]byte, error) {
	if err := conn.SetDeadline(time.Now().Add(rig.Soon)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)); err != nil {
		return nil, err
	}
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	reply := make([]byte, binary.BigEndian.Uint16(length[:]))
	_, err := io.ReadFull(conn, reply)
	return reply, err
}

// heard is a reply in parts that can be compared. Sections are sets: sorted lines, names in lower case.
type heard struct {
	silent                                bool
	rcode, flags, question                string
	answer, authority, additional, option []string
}

func (h heard) String() string {
	if h.silent {
		return "silence"
	}
	text := fmt.Sprintf("%s%s %s %q", h.rcode, h.flags, strings.ReplaceAll(h.question, "\t", " "), h.option)
	for _, section := range [][]string{h.answer, h.authority, h.additional} {
		text += fmt.Sprintf("\n    %q", section)
	}
	return text
}

// hear reads a reply.
func hear(reply []byte) (heard, error) {
	if reply == nil {
		return heard{silent: true}, nil
	}
	m := new(dns.Msg)
	if err := m.Unpack(reply); err != nil {
		return heard{}, err
	}
	h := heard{rcode: dns.RcodeToString[m.Rcode], answer: lines(m.Answer), authority: lines(m.Ns)}
	if m.Rcode == dns.RcodeBadVers {
		h.rcode = "BADVERS" // the library knows it by the name that TSIG gives to the same number
	}
	var extra []dns.RR
	for _, rr := range m.Extra {
		if o, ok := rr.(*dns.OPT); ok {
			h.option = append(h.option, options(o)...)
			continue
		}
		extra = append(extra, rr)
	}
	h.additional = lines(extra)
	for _, f := range []struct {
		set  bool
		word string
	}{{m.Authoritative, "aa"}, {m.Truncated, "tc"}, {m.RecursionDesired, "rd"}, {m.RecursionAvailable, "ra"}, {m.Zero, "z"}, {m.AuthenticatedData, "ad"}, {m.CheckingDisabled, "cd"}} {
		if f.set {
			h.flags += " " + f.word
		}
	}
	for _, q := range m.Question {
		h.question += q.String()
	}
	return h, nil
}

func lines(records []dns.RR) (lines []string) {
	for _, rr := range records {
		line := strings.Join(strings.Fields(rr.String()), " ")
		switch rr.Header().Rrtype {
		case dns.TypeTXT, dns.TypeHINFO, dns.TypeURI, dns.TypeCAA, dns.TypeNAPTR, dns.TypeHTTPS, dns.TypeSVCB:
			owner, rest, _ := strings.Cut(line, " ")
			line = strings.ToLower(owner) + " " + rest
		default:
			line = strings.ToLower(line)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// options is what an OPT record says, but for the size that each server chooses for itself.
func options(o *dns.OPT) []string {
	words := []string{fmt.Sprintf("version=%d", o.Version())}
	if o.Do() {
		words = append(words, "do")
	}
	if o.Hdr.Ttl&0x7fff != 0 {
		words = append(words, "flags")
	}
	for _, option := range o.Option {
		switch option := option.(type) {
		case *dns.EDNS0_NSID:
			words = append(words, "nsid="+option.Nsid)
		case *dns.EDNS0_SUBNET:
			words = append(words, fmt.Sprintf("subnet=%s/%d/%d", option.Address, option.SourceNetmask, option.SourceScope))
		case *dns.EDNS0_EDE:
			words = append(words, fmt.Sprintf("ede=%d", option.InfoCode))
		case *dns.EDNS0_TCP_KEEPALIVE:
			words = append(words, "keepalive")
		case *dns.EDNS0_COOKIE:
			words = append(words, fmt.Sprintf("cookie=%.16s+%d", option.Cookie, len(option.Cookie)/2))
		default:
			words = append(words, fmt.Sprintf("option=%d", option.Option()))
		}
	}
	slices.Sort(words)
	return words
}
