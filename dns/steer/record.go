package steer

import (
	"encoding/binary"
	"net/netip"
)

// Keys of the parameters of HTTPS records (RFC 9460 section 14.3.2).
const (
	paramALPN = 1
	paramPort = 3
	paramIPv4 = 4
	paramIPv6 = 6
)

// AppendData appends the data of an HTTPS record in service mode, for its owner, with its parameters in the order of
// their keys (RFC 9460 section 2.2). It has no name that could be compressed.
func (b *Binding) AppendData(to []byte, ipv4, ipv6 []netip.Addr) []byte {
	to = append(to, 0, 1, 0) // priority 1; the root, which means the owner
	to = append(appendParam(to, paramALPN, len(b.ALPN)), b.ALPN...)
	if b.Port != 0 {
		to = binary.BigEndian.AppendUint16(appendParam(to, paramPort, 2), b.Port)
	}
	if len(ipv4) > 0 {
		to = appendParam(to, paramIPv4, 4*len(ipv4))
		for _, a := range ipv4 {
			octets := a.As4()
			to = append(to, octets[:]...)
		}
	}
	if len(ipv6) > 0 {
		to = appendParam(to, paramIPv6, 16*len(ipv6))
		for _, a := range ipv6 {
			octets := a.As16()
			to = append(to, octets[:]...)
		}
	}
	return to
}

// appendParam appends what stands before the value of a parameter: its key and length.
func appendParam(to []byte, key uint16, size int) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(to, key), uint16(size))
}

// AppendData appends the data of the record that gives the host: of CNAME, or of SRV, whose name is never compressed
// (RFC 2782).
func (h *Host) AppendData(to []byte) []byte {
	if h.Port == 0 {
		return append(to, h.Name...)
	}
	to = append(to, 0, 0) // the places of an answer are equals
	to = binary.BigEndian.AppendUint16(to, h.Weight)
	to = binary.BigEndian.AppendUint16(to, h.Port)
	return append(to, h.Name...)
}
