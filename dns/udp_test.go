package dns

import (
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAnswersAreNotBoundToTheInterfaceTheyWereAskedOn(t *testing.T) {
	for _, tc := range []struct {
		listen, asked string
		index, size   int // of the interface in the packet information
	}{{"0.0.0.0", "127.9.9.9", 0, unix.SizeofInet4Pktinfo}, {"::", "::1", 16, unix.SizeofInet6Pktinfo}} {
		t.Run(tc.listen, func(t *testing.T) {
			control := controlOf(t, tc.listen, tc.asked)
			messages, err := unix.ParseSocketControlMessage(control)
			if err != nil || len(messages) != 1 || len(messages[0].Data) != tc.size {
				t.Fatalf("control messages %v: %v", messages, err)
			}
			data := messages[0].Data
			before := append([]byte(nil), data...)
			if [4]byte(before[tc.index:]) == [4]byte{} {
				t.Fatal("the kernel told no interface")
			}
			anyInterface(control)
			if got := [4]byte(data[tc.index:]); got != [4]byte{} {
				t.Errorf("interface %v is left", got)
			}
			copy(data[tc.index:], before[tc.index:tc.index+4])
			if string(data) != string(before) {
				t.Errorf("more than the interface was taken: %x of %x", data, before)
			}
		})
	}
}

func TestLinkLocalAnswersKeepTheirInterface(t *testing.T) {
	control := controlOf(t, "::", "::1")
	a := netip.MustParseAddr("fe80::1").As16()
	copy(control[unix.CmsgLen(0):], a[:])
	before := string(control)
	if anyInterface(control); string(control) != before {
		t.Errorf("%x became %x", before, control)
	}
}

func TestNoPacketInformation(t *testing.T) {
	anyInterface(nil)
	anyInterface(make([]byte, unix.CmsgLen(0)))
}

// controlOf gives the control message that comes with a packet to an address of this machine.
func controlOf(t *testing.T, listen, asked string) []byte {
	t.Helper()
	conns, err := bindUDP(t.Context(), netip.AddrPortFrom(netip.MustParseAddr(listen), 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range conns[1:] { // each has a port of its own
		_ = other.Close()
	}
	conn := conns[0]
	t.Cleanup(func() { _ = conn.Close() })
	port := conn.LocalAddr().(*net.UDPAddr).Port
	to, err := net.Dial("udp", netip.AddrPortFrom(netip.MustParseAddr(asked), uint16(port)).String())
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if _, err := to.Write([]byte("?")); err != nil {
		t.Fatal(err)
	}
	packet, control := make([]byte, 16), make([]byte, 128)
	_, n, _, _, err := conn.ReadMsgUDP(packet, control)
	if err != nil {
		t.Fatal(err)
	}
	return control[:n]
}
