package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// routers are the addresses of the partners' routers.
var routers = [...]string{"127.0.9.1", "127.0.9.2", "127.0.9.3", "127.0.9.4"}

// routing is the routers of all partners.
type routing []*router

// router is a partner's: it announces its networks over BGP, and lets them come and go. It knows just
// enough of RFC 4271 for a session with us.
type router struct {
	number   int // of the partner
	door     net.Listener
	sessions chan net.Conn // the session, once it is established; one slot
	conn     net.Conn
	next     uint32 // the network whose turn it is
}

const (
	routerASN = 64501
	hold      = 180 // seconds
)

// Types of BGP messages.
const (
	bgpOpen      = 1
	bgpUpdate    = 2
	bgpKeepalive = 4
)

func newRouting(port int) (all routing, err error) {
	for i, address := range routers {
		door, err := net.Listen("tcp4", net.JoinHostPort(address, fmt.Sprint(port)))
		if err != nil {
			all.close()
			return nil, err
		}
		r := &router{number: i, door: door, sessions: make(chan net.Conn, 1)}
		all = append(all, r)
		go r.accept()
	}
	return all, nil
}

func (all routing) close() {
	for _, r := range all {
		_ = r.door.Close()
	}
}

// accept makes a session of every connection; the newest counts.
func (r *router) accept() {
	for {
		conn, err := r.door.Accept()
		if err != nil {
			return
		}
		if err := r.establish(conn); err != nil {
			_ = conn.Close()
			continue
		}
		select {
		case <-r.sessions:
		default:
		}
		r.sessions <- conn
	}
}

// establish opens the session and announces every network.
func (r *router) establish(conn net.Conn) error {
	open := binary.BigEndian.AppendUint16([]byte{4}, routerASN)
	open = binary.BigEndian.AppendUint16(open, hold)
	open = append(open, 192, 0, 2, byte(91+r.number))
	capabilities := []byte{1, 4, 0, 1, 0, 1, 65, 4, 0, 0, routerASN >> 8, routerASN & 255}
	open = append(open, byte(2+len(capabilities)), 2, byte(len(capabilities)))
	open = append(open, capabilities...)
	if _, err := conn.Write(append(framed(bgpOpen, open), framed(bgpKeepalive, nil)...)); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	for established := false; !established; {
		kind, err := readBGP(in)
		if err != nil {
			return err
		}
		established = kind == bgpKeepalive
	}
	const together = 200 // in one message
	for i := uint32(0); i < routes/uint32(len(routers)); i += together {
		if _, err := conn.Write(r.update(i, together, false)); err != nil {
			return err
		}
	}
	if _, err := conn.Write(framed(bgpUpdate, make([]byte, 4))); err != nil { // end of RIB (RFC 4724 section 2)
		return err
	}
	go func() { // until the connection ends
		for {
			if kind, err := readBGP(in); err != nil || kind == bgpKeepalive && write(conn, framed(bgpKeepalive, nil)) != nil {
				return
			}
		}
	}()
	return nil
}

func write(conn net.Conn, b []byte) error {
	_, err := conn.Write(b)
	return err
}

// churn has the routers send so many UPDATEs a second, each of which takes a network away or gives it back.
func (all routing) churn(ctx context.Context, perSecond int) error {
	for _, r := range all {
		if r.conn != nil {
			continue
		}
		select {
		case r.conn = <-r.sessions:
		case <-time.After(30 * time.Second):
			return errors.New("the BGP session with our server did not come up")
		}
	}
	const beat = 10 * time.Millisecond
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
		if err := all[n%len(all)].flap(perSecond / int(time.Second/beat)); err != nil {
			return err
		}
	}
}

// flap sends n UPDATEs: half of them take a network away, the others give it back.
func (r *router) flap(n int) error {
	var updates []byte
	for range n {
		updates = append(updates, r.update(r.next/2%(routes/uint32(len(routers))), 1, r.next%2 == 0)...)
		r.next++
	}
	if err := write(r.conn, updates); err != nil {
		return fmt.Errorf("send updates: %w", err)
	}
	return nil
}

// update is an UPDATE message for n networks of this partner from the i-th on.
func (r *router) update(i, n uint32, withdraw bool) []byte {
	var networks []byte
	for k := i; k < i+n; k++ {
		network := routeBase + k*uint32(len(routers)) + uint32(r.number)
		networks = append(networks, 24, byte(network>>16), byte(network>>8), byte(network))
	}
	if withdraw {
		body := binary.BigEndian.AppendUint16(nil, uint16(len(networks)))
		return framed(bgpUpdate, append(append(body, networks...), 0, 0))
	}
	attributes := []byte{
		0x40, 1, 1, 0, // ORIGIN: IGP
		0x40, 2, 6, 2, 1, 0, 0, routerASN >> 8, routerASN & 255, // AS_PATH: a sequence of one
		0x40, 3, 4, 127, 0, 9, byte(1 + r.number), // NEXT_HOP
	}
	body := binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(len(attributes)))
	return framed(bgpUpdate, append(append(body, attributes...), networks...))
}

const bgpHeader = 19

// framed is a message behind its header.
func framed(kind byte, body []byte) []byte {
	var b []byte
	for range 16 {
		b = append(b, 0xff)
	}
	b = append(binary.BigEndian.AppendUint16(b, uint16(bgpHeader+len(body))), kind)
	return append(b, body...)
}

// readBGP reads one message and gives its type.
func readBGP(r io.Reader) (kind byte, err error) {
	var header [bgpHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, err
	}
	length := int64(binary.BigEndian.Uint16(header[16:])) - bgpHeader
	_, err = io.CopyN(io.Discard, r, length)
	return header[18], err
}
