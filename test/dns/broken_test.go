package dns

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/miekg/dns"
)

// Offsets in the packets that are broken: a question for www.alpha.test with an OPT record behind it.
const (
	header     = 12
	nameOctets = len("\x03www\x05alpha\x04test\x00")
	optAt      = header + nameOctets + 4
	optFixed   = 11
)

// whole is a good question with an OPT record that has these options.
func whole(t *testing.T, options ...byte) []byte {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion("www.alpha.test.", dns.TypeA)
	m.RecursionDesired = false
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	packet[11] = 1
	packet = append(packet, 0, 0, 41, 4, 208, 0, 0, 0, 0)
	return append(binary.BigEndian.AppendUint16(packet, uint16(len(options))), options...)
}

// option is an EDNS option in wire form.
func option(code uint16, data ...byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, code)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(data))), data...)
}

// broken is packets that no client should send.
func broken(t *testing.T) (all []asked) {
	t.Helper()
	add := func(name string, packet []byte) {
		all = append(all, asked{name: name, packet: packet, class: dns.ClassINET, rrtype: dns.TypeA})
	}
	plain := whole(t)[:optAt]
	plain[11] = 0
	for name, packet := range headers(t, plain) {
		add(name, packet)
	}
	for name, packet := range records(t, plain) {
		add(name, packet)
	}
	for name, data := range malformedOptions() {
		add(name, whole(t, data...))
	}
	for n := header; n < len(plain); n++ {
		add(fmt.Sprintf("a question cut at %d", n), plain[:n])
	}
	full := whole(t, append(option(dns.EDNS0NSID), option(65001, 1, 2, 3)...)...)
	for n := optAt; n < len(full); n++ {
		add(fmt.Sprintf("an OPT cut at %d", n), full[:n])
	}
	luck := rand.New(rand.NewPCG(9, 6891))
	for i := range 1000 {
		packet := bytes.Clone(full)
		for range 1 + luck.IntN(3) {
			packet[2+luck.IntN(len(packet)-2)] = byte(luck.Uint32())
		}
		packet[2] &^= 0x80
		add(fmt.Sprintf("chance %d: %x", i, packet), packet)
	}
	slices.SortFunc(all, func(a, b asked) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	return all
}

// edited is a copy of a packet with octets set, given as pairs of offset and value.
func edited(packet []byte, pairs ...int) []byte {
	packet = bytes.Clone(packet)
	for i := 0; i < len(pairs); i += 2 {
		packet[pairs[i]] = byte(pairs[i+1])
	}
	return packet
}

// headers is packets with something wrong with the header or the question.
func headers(t *testing.T, plain []byte) map[string][]byte {
	t.Helper()
	question := plain[header:]
	packets := map[string][]byte{
		"no question":                      edited(plain[:header], 5, 0),
		"no question is said":              edited(plain, 5, 0),
		"two questions":                    append(edited(plain, 5, 2), question...),
		"two questions are said":           edited(plain, 5, 2),
		"a response":                       edited(plain, 2, 0x80),
		"answers are said":                 edited(plain, 7, 1),
		"authority is said":                edited(plain, 9, 1),
		"additional is said":               edited(plain, 11, 1),
		"TC in a question":                 edited(plain, 2, 2),
		"AA in a question":                 edited(plain, 2, 4),
		"RCODE in a question":              edited(plain, 3, 3),
		"octets behind the end":            append(bytes.Clone(plain), 0, 0, 0),
		"a pointer in the question":        append(append(bytes.Clone(plain[:header]), 0xc0, 12), question[nameOctets:]...),
		"a pointer behind a label":         append(append(bytes.Clone(plain[:header]), 3, 'w', 'w', 'w', 0xc0, 12), question[nameOctets:]...),
		"a label type of 01":               edited(plain, header, 0x43),
		"a label type of 10":               edited(plain, header, 0x83),
		"a label that is longer than that": edited(plain, header, 63),
		"a label in the middle too long":   edited(plain, header+4, 40),
	}
	for opcode := 1; opcode < 16; opcode++ {
		packets[fmt.Sprintf("opcode %d", opcode)] = edited(plain, 2, opcode<<3)
		packets[fmt.Sprintf("opcode %d with OPT", opcode)] = edited(whole(t), 2, opcode<<3)
	}
	long := bytes.Repeat([]byte("\x01a"), 127)
	packets["a name of 255 octets"] = append(append(append(bytes.Clone(plain[:header]), long...), 0), question[nameOctets:]...)
	packets["a name of 256 octets"] = append(append(append(bytes.Clone(plain[:header]), append([]byte("\x02aa"), long[2:]...)...), 0), question[nameOctets:]...)
	packets["a name of 300 octets"] = append(append(append(bytes.Clone(plain[:header]), bytes.Repeat([]byte("\x01a"), 150)...), 0), question[nameOctets:]...)
	return packets
}

// records is packets with something wrong behind the question.
func records(t *testing.T, plain []byte) map[string][]byte {
	t.Helper()
	good := whole(t)
	opt := good[optAt:]
	a := []byte("\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04\xc0\x00\x02\x01")
	packets := map[string][]byte{
		"two OPTs":                          append(edited(good, 11, 2), opt...),
		"OPT in the answer section":         edited(good, 7, 1, 11, 0),
		"OPT in the authority section":      edited(good, 9, 1, 11, 0),
		"OPT with a name":                   append(append(edited(plain, 11, 1), 0xc0, 12), opt[1:]...),
		"EDNS version 1":                    edited(good, optAt+6, 1),
		"EDNS version 255":                  edited(good, optAt+6, 255),
		"an extended RCODE in a question":   edited(good, optAt+5, 7),
		"EDNS flags":                        edited(good, optAt+7, 0x7f, optAt+8, 0xff),
		"octets behind the OPT":             append(bytes.Clone(good), 0, 0),
		"an OPT longer than the packet":     edited(good, optAt+10, 4),
		"a record in the answer section":    append(edited(plain, 7, 1), a...),
		"a record in the authority section": append(edited(plain, 9, 1), a...),
		"a record beside the OPT":           append(edited(good, 11, 2), a...),
		"a record before the OPT":           append(append(edited(plain, 11, 2), a...), opt...),
		"version 1 and two OPTs":            append(edited(good, 11, 2, optAt+6, 1), opt...),
	}
	return packets
}

// malformedOptions is options that are not as they should be, and such as only look so.
func malformedOptions() map[string][]byte {
	subnet := func(data ...byte) []byte { return option(dns.EDNS0SUBNET, data...) }
	cookie := func(n int) []byte { return option(dns.EDNS0COOKIE, make([]byte, n)...) }
	options := map[string][]byte{
		"half an option":                     {0, 3},
		"an option longer than the OPT":      {0, 3, 0, 9, 1},
		"NSID with data":                     option(dns.EDNS0NSID, 1, 2),
		"NSID twice":                         append(option(dns.EDNS0NSID), option(dns.EDNS0NSID)...),
		"a subnet without anything":          subnet(),
		"a subnet of family 0":               subnet(0, 0, 0, 0),
		"a subnet of family 0 with a length": subnet(0, 0, 24, 0, 203, 0, 113),
		"a subnet of family 3":               subnet(0, 3, 24, 0, 203, 0, 113),
		"a subnet with a scope":              subnet(0, 1, 24, 24, 203, 0, 113),
		"a subnet longer than IPv4":          subnet(0, 1, 33, 0, 203, 0, 113, 0, 0),
		"a subnet longer than IPv6":          subnet(append([]byte{0, 2, 129, 0}, make([]byte, 17)...)...),
		"a subnet with an octet too few":     subnet(0, 1, 24, 0, 203, 0),
		"a subnet with an octet too many":    subnet(0, 1, 24, 0, 203, 0, 113, 0),
		"a subnet with bits behind":          subnet(0, 1, 23, 0, 203, 0, 113),
		"a subnet that is cut":               subnet(0, 1, 24),
		"two subnets":                        append(subnet(0, 1, 24, 0, 203, 0, 113), subnet(0, 1, 24, 0, 203, 0, 113)...),
	}
	for _, n := range []int{0, 7, 9, 15, 41} {
		options[fmt.Sprintf("a cookie of %d octets", n)] = cookie(n)
	}
	return options
}
