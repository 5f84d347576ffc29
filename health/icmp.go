package health

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// ICMP sends an echo request and waits for the reply.
type ICMP struct{}

// String is the word of the config.
func (ICMP) String() string { return "icmp" }

func (ICMP) tell(func(field, value string)) {}

// pinger is a socket for echoes with one address.
type pinger interface {
	net.Conn
	// receive gives what came without the IP header.
	receive(room []byte) (int, error)
}

func (ICMP) ask(v *visit) error {
	p, err := openPinger(v.at)
	if err != nil {
		return err
	}
	conn := v.bound(p)
	defer conn.Close()
	// The payload, not the identifier, tells our reply from others: of an unprivileged socket the kernel
	// sets the identifier, and a raw one sees the replies of every process.
	token := make([]byte, 16)
	rand.Read(token)
	if _, err := conn.Write(echo(v.at, token)); err != nil {
		return err
	}
	room := make([]byte, 1500)
	for {
		n, err := p.receive(room)
		if err != nil {
			return err
		}
		if replies(v.at, room[:n], token) {
			return nil
		}
	}
}

// echo is an echo request (RFC 792, RFC 4443).
func echo(at netip.Addr, token []byte) []byte {
	m := icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &icmp.Echo{ID: int(binary.BigEndian.Uint16(token)), Seq: 1, Data: token}}
	if at.Is6() {
		m.Type = ipv6.ICMPTypeEchoRequest
	}
	packed, _ := m.Marshal(nil) // an echo always has a form; the kernel sums up that of IPv6
	return packed
}

// replies tells whether a message is the echo reply with this payload.
func replies(at netip.Addr, packed, token []byte) bool {
	protocol := 1
	if at.Is6() {
		protocol = 58
	}
	m, err := icmp.ParseMessage(protocol, packed)
	if err != nil || m.Type != ipv4.ICMPTypeEchoReply && m.Type != ipv6.ICMPTypeEchoReply {
		return false
	}
	body, ok := m.Body.(*icmp.Echo)
	return ok && bytes.Equal(body.Data, token)
}

// openPinger opens an unprivileged socket, or else a raw one.
func openPinger(at netip.Addr) (pinger, error) {
	network, local := "udp4", "0.0.0.0"
	if at.Is6() {
		network, local = "udp6", "::"
	}
	conn, err := icmp.ListenPacket(network, local)
	if err == nil {
		return unprivileged{conn, net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, 0))}, nil
	}
	return openRaw(at)
}

func openRaw(at netip.Addr) (pinger, error) {
	network := "ip4:icmp"
	if at.Is6() {
		network = "ip6:ipv6-icmp"
	}
	// Connected, so that the kernel keeps what others answer from us.
	conn, err := net.DialIP(network, nil, &net.IPAddr{IP: at.AsSlice(), Zone: at.Zone()})
	if err != nil {
		return nil, err
	}
	return raw{conn}, nil
}

// unprivileged is a socket for echoes that needs no right but the group's (net.ipv4.ping_group_range).
type unprivileged struct {
	*icmp.PacketConn
	to net.Addr
}

func (u unprivileged) RemoteAddr() net.Addr             { return u.to }
func (u unprivileged) Write(packed []byte) (int, error) { return u.WriteTo(packed, u.to) }
func (u unprivileged) Read(room []byte) (int, error)    { return u.receive(room) }
func (u unprivileged) receive(room []byte) (n int, err error) {
	n, _, err = u.ReadFrom(room)
	return n, err
}

// raw is a socket for all of ICMP with one address (CAP_NET_RAW).
type raw struct{ *net.IPConn }

func (r raw) receive(room []byte) (int, error) {
	n, _, err := r.ReadFromIP(room) // takes the IP header off
	return n, err
}

// ready says whether this process may send echoes at all; see [Ready].
func (ICMP) ready() (key string, err error) {
	p, err := openPinger(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	if errors.Is(err, os.ErrPermission) {
		return "", errors.New("no ICMP socket is allowed here: it takes a group in net.ipv4.ping_group_range, or CAP_NET_RAW")
	}
	if err != nil {
		return "", err
	}
	return "", p.Close()
}
