package proxy

import (
	"bytes"
	"io"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
)

// Pieces of headers.
const (
	begun = "\r\n\r\n\x00\r\nQUIT\n"
	four  = "\xc0\x00\x02\x01\xc0\x00\x02\x02\x10\x00\x00\x35"
	six   = "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02" + "\x10\x00\x00\x35"
	both  = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xc0\x00\x02\x01" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xc0\x00\x02\x02" + "\x10\x00\x00\x35"
	tlv   = "\x04\x00\x02ab"
)

func TestHeaders(t *testing.T) {
	for _, tc := range []struct{ name, header, want string }{
		{"IPv4 over TCP", begun + "\x21\x11\x00\x0c" + four, "192.0.2.1:4096"},
		{"IPv4 over UDP", begun + "\x21\x12\x00\x0c" + four, "192.0.2.1:4096"},
		{"IPv6", begun + "\x21\x21\x00\x24" + six, "[2001:db8::1]:4096"},
		{"IPv4 in IPv6 form", begun + "\x21\x22\x00\x24" + both, "192.0.2.1:4096"},
		{"with more behind the addresses", begun + "\x21\x11\x00\x11" + four + tlv, "192.0.2.1:4096"},
		{"with what is no more of anything", begun + "\x21\x11\x00\x0e" + four + "\xff\xff", "192.0.2.1:4096"},
		{"of an unspecified protocol", begun + "\x21\x10\x00\x0c" + four, "192.0.2.1:4096"},
		{"for itself", begun + "\x20\x00\x00\x00", "itself"},
		{"for itself, with addresses", begun + "\x20\x11\x00\x0c" + four, "itself"},
		{"for itself, with more", begun + "\x20\x00\x00\x05" + tlv, "itself"},
		{"of an unspecified family", begun + "\x21\x00\x00\x05" + tlv, "itself"},
		{"of a local socket", begun + "\x21\x31\x00\xd8" + strings.Repeat("x", 216), "itself"},
		{"of a local socket, too short", begun + "\x21\x31\x00\xd7" + strings.Repeat("x", 215), "too few"},
		{"too short for IPv4", begun + "\x21\x11\x00\x0b" + four[:11], "too few"},
		{"too short for IPv6", begun + "\x21\x21\x00\x0c" + four, "too few"},
		{"of another family", begun + "\x21\x41\x00\x0c" + four, "family and protocol 0x41"},
		{"of another protocol", begun + "\x21\x13\x00\x0c" + four, "family and protocol 0x13"},
		{"of another command", begun + "\x22\x11\x00\x0c" + four, "version and command 0x22"},
		{"of another version", begun + "\x11\x11\x00\x0c" + four, "version and command 0x11"},
		{"of version 1", "PROXY TCP4 192.0.2.1 192.0.2.2 4096 53\r\n", "no PROXY header"},
		{"none", strings.Repeat("\x00", 30), "no PROXY header"},
		{"cut", begun + "\x21\x11\x00\x0c" + four[:11], "unexpected EOF"},
	} {
		packet := tc.header
		if tc.want != "unexpected EOF" {
			packet += "what follows"
		}
		h, err := Parse([]byte(packet))
		check(t, tc.name, h, err, tc.want)
		if err == nil && packet[h.Length:] != "what follows" {
			t.Errorf("%s: %q follows", tc.name, packet[h.Length:])
		}
		r := iotest.OneByteReader(strings.NewReader(packet))
		h, err = Read(r)
		check(t, tc.name+", from a stream", h, err, tc.want)
		if rest, _ := io.ReadAll(r); err == nil && string(rest) != "what follows" {
			t.Errorf("%s: %q follows in the stream", tc.name, rest)
		}
	}
}

func check(t *testing.T, name string, h Header, err error, want string) {
	t.Helper()
	got := "itself"
	switch {
	case err == io.EOF:
		got = "unexpected EOF" // to a stream that ends between two parts
	case err != nil:
		got = err.Error()
	case h.Client.IsValid():
		got = h.Client.String()
	}
	if !strings.Contains(got, want) {
		t.Errorf("%s: %s, want %s", name, got, want)
	}
}

// FuzzHeader reads anything in both ways, which agree; and what is read is a header as it can be written.
func FuzzHeader(f *testing.F) {
	for _, seed := range []string{
		"", begun, begun + "\x21\x11\x00\x0c" + four + "x", begun + "\x21\x21\x00\x29" + six + tlv, begun + "\x20\x00\x00\x00", begun + "\x21\x31\x00\xd8" + strings.Repeat("x", 216),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		h, err := Parse(packet)
		r := bytes.NewReader(packet)
		other, otherErr := Read(r)
		if (err == nil) != (otherErr == nil) || h != other {
			t.Fatalf("a packet gives %v, %v; a stream %v, %v", h, err, other, otherErr)
		}
		if err != nil {
			return
		}
		if left := len(packet) - h.Length; left < 0 || r.Len() != left {
			t.Fatalf("%d octets are left, %d in the stream", left, r.Len())
		}
		if h.Client.IsValid() && !bytes.HasPrefix(packet, written(h.Client, packet[12:16])) {
			t.Fatalf("%x is not of %v", packet, h.Client)
		}
	})
}

// written is a header's beginning, up to its source address.
func written(client netip.AddrPort, kind []byte) []byte {
	b := append([]byte(begun), kind...)
	if kind[1]>>4 == 2 {
		a := client.Addr().As16()
		return append(b, a[:]...)
	}
	a := client.Addr().As4()
	return append(b, a[:]...)
}
