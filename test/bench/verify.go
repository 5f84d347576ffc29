package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// askOnce asks the next query of a mix over UDP, as a client of a number.
func askOnce(m *mix, client int, server netip.AddrPort) ([]byte, error) {
	from := net.UDPAddr{IP: net.IPv4(127, byte(client), 0, 1)}
	conn, err := net.DialUDP("udp4", &from, net.UDPAddrFromAddrPort(server))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	packet := make([]byte, packetSize)
	if _, err := conn.Write(packet[:m.next(packet, 1)]); err != nil {
		return nil, err
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return nil, err
	}
	n, err := conn.Read(packet)
	return packet[:max(n, 0)], err
}

// verified is how many queries are compared.
const verified = 400

// verify asks all servers the same queries of a mix, and tells where an answer is not the first server's. All
// are to have the same rules and the same data.
func verify(kind string, servers []*running) error {
	const luck = 7
	var first []netip.Addr
	var errs []error
	for _, s := range servers {
		m, err := newMix(kind, luck)
		if err != nil {
			return err
		}
		wrong := 0
		for i := range verified {
			reply, _ := askOnce(m, i%clients+1, s.address)
			got := addressIn(reply)
			if s == servers[0] {
				first = append(first, got)
			}
			if got != first[i] || !got.IsValid() {
				wrong++
			}
		}
		if wrong > 0 {
			errs = append(errs, fmt.Errorf("%s: %d of %d answers of %s are not those of %s", kind, wrong, verified, s.name, servers[0].name))
		}
	}
	return errors.Join(errs...)
}

// addressIn gives the address of a reply's first record, where that is an A record whose owner is the question.
func addressIn(reply []byte) netip.Addr {
	at := 12
	for at < len(reply) && reply[at] != 0 {
		at += 1 + int(reply[at])
	}
	at += 5                   // the question is over
	const owner, head = 2, 10 // a pointer, and what stands before the data
	if at+owner+head+4 > len(reply) || reply[at] != 0xc0 || reply[at+3] != 1 {
		return netip.Addr{}
	}
	return netip.AddrFrom4([4]byte(reply[at+owner+head:]))
}
