// Package proxy answers the question of who stands behind a proxy: it reads the header that the PROXY protocol, version 2,
// puts before what a client sent.
//
//	signature (12) · version and command (1) · family and protocol (1) · length (2) · addresses · whatever else
//
// It reads strictly: what the protocol does not know is an error, for a header that was misread is a client that was.
// What may follow the addresses is passed over. It does not say whom to believe: anybody can write a header.
package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// signature begins every header. It was chosen so that no other protocol begins like it; as a DNS message it would be
// a query of a kind that there is no more.
const signature = "\r\n\r\n\x00\r\nQUIT\n"

// Sizes of a header: its fixed part, and the addresses of each family.
const (
	fixed     = len(signature) + 4
	inetSize  = 2*4 + 2*2
	inet6Size = 2*16 + 2*2
	unixSize  = 2 * 108
)

// Header says for whom a proxy speaks.
type Header struct {
	Client netip.AddrPort // the zero value: the proxy speaks for itself, or cannot tell
	Length int            // octets of the whole header
}

// errNone is for what begins otherwise.
var errNone = errors.New("no PROXY header")

// Parse reads the header at the beginning of a packet, which has to be there as a whole.
func Parse(packet []byte) (Header, error) {
	if len(packet) < fixed {
		return Header{}, errNone
	}
	h, size, err := begin(packet[:fixed])
	switch {
	case err != nil:
		return Header{}, err
	case len(packet) < h.Length:
		return Header{}, io.ErrUnexpectedEOF
	}
	h.Client = client(packet[fixed:fixed+size], size)
	return h, nil
}

// Read reads the header at the beginning of a stream, and not an octet more.
func Read(r io.Reader) (Header, error) {
	var room [fixed + inet6Size]byte
	if _, err := io.ReadFull(r, room[:fixed]); err != nil {
		return Header{}, err
	}
	h, size, err := begin(room[:fixed])
	if err != nil {
		return Header{}, err
	}
	if _, err := io.ReadFull(r, room[fixed:fixed+size]); err != nil {
		return Header{}, err
	}
	if _, err := io.CopyN(io.Discard, r, int64(h.Length-fixed-size)); err != nil {
		return Header{}, err
	}
	h.Client = client(room[fixed:fixed+size], size)
	return h, nil
}

// begin reads the fixed part, and gives how many octets of addresses that we can use follow.
func begin(b []byte) (h Header, size int, err error) {
	if string(b[:len(signature)]) != signature {
		return h, 0, errNone
	}
	command, kind, length := b[12], b[13], int(binary.BigEndian.Uint16(b[14:]))
	h.Length = fixed + length
	if command != 0x20 && command != 0x21 {
		return h, 0, fmt.Errorf("PROXY header: version and command %#x are not known", command)
	}
	if kind>>4 > 3 || kind&0xf > 2 {
		return h, 0, fmt.Errorf("PROXY header: family and protocol %#x are not known", kind)
	}
	if command == 0x20 { // LOCAL: nothing of it counts, whatever there is
		return h, 0, nil
	}
	least := [...]int{0, inetSize, inet6Size, unixSize}[kind>>4]
	if length < least {
		return h, 0, fmt.Errorf("PROXY header: %d octets are too few for its addresses", length)
	}
	if least == unixSize {
		return h, 0, nil
	}
	return h, least, nil
}

// client gives the source among the addresses.
func client(b []byte, size int) netip.AddrPort {
	switch size {
	case inetSize:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b)), binary.BigEndian.Uint16(b[8:]))
	case inet6Size:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b)).Unmap(), binary.BigEndian.Uint16(b[32:]))
	}
	return netip.AddrPort{}
}
