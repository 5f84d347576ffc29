package dns

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gslb/bgp"
	"gslb/config"
	"gslb/dns/steer"
	"gslb/geo"
	"gslb/health"
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
	conns, err := bindUDP(t.Context(), netip.AddrPortFrom(netip.MustParseAddr(listen), 0), 2)
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

// emptySnapshot is of a configuration that says nothing.
func emptySnapshot() *steer.Snapshot {
	cfg, _ := config.Parse(config.Source{File: "gslb.yaml"})
	policy, _ := steer.Compile(cfg)
	return steer.Build(steer.Inputs{
		Policy: policy, Health: health.NewBoard().Latest(), Routes: bgp.NewTable(1, nil), Geo: geo.NewMap(func(func(netip.Prefix, geo.Location) bool) {}),
	}, nil)
}

// TestBurstsAreAnsweredWhole sends more than a batch holds before anything is read, by both ways to read.
func TestBurstsAreAnsweredWhole(t *testing.T) {
	empty := emptySnapshot()
	for _, tc := range []struct {
		name, listen string
		serve        func(*Server, context.Context, *net.UDPConn, bool)
	}{
		{"batches", "127.0.0.1", func(s *Server, ctx context.Context, c *net.UDPConn, wildcard bool) {
			if !s.serveBatches(ctx, c, wildcard) {
				t.Error("no batches here")
			}
		}},
		{"batches on a wildcard address", "0.0.0.0", func(s *Server, ctx context.Context, c *net.UDPConn, wildcard bool) {
			if !s.serveBatches(ctx, c, wildcard) {
				t.Error("no batches here")
			}
		}},
		{"packets", "127.0.0.1", (*Server).servePackets},
		{"packets on a wildcard address", "0.0.0.0", (*Server).servePackets},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wildcard := tc.listen == "0.0.0.0"
			conns, err := bindUDP(t.Context(), netip.AddrPortFrom(netip.MustParseAddr(tc.listen), 0), 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range conns[1:] {
				_ = other.Close()
			}
			s := NewServer(NewResponder("ns1", "test"), func() *steer.Snapshot { return empty }, slog.New(slog.DiscardHandler))
			ctx, cancel := context.WithCancel(t.Context())
			var worker sync.WaitGroup
			defer worker.Wait()
			defer func() { _ = conns[0].Close() }()
			defer cancel()

			port := conns[0].LocalAddr().(*net.UDPAddr).Port
			client, err := net.Dial("udp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port)).String())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			const burst = 200
			for i := range burst {
				request := make([]byte, headerSize) // without a question
				binary.BigEndian.PutUint16(request, uint16(i))
				if _, err := client.Write(request); err != nil {
					t.Fatal(err)
				}
				if i == burst/2 {
					worker.Go(func() { tc.serve(s, ctx, conns[0], wildcard) })
				}
			}
			seen := map[uint16]bool{}
			reply := make([]byte, 512)
			for range burst {
				if err := client.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
				n, err := client.Read(reply)
				if err != nil || n != headerSize {
					t.Fatalf("%d octets: %v; %d of %d came", n, err, len(seen), burst)
				}
				seen[binary.BigEndian.Uint16(reply)] = true
			}
			if len(seen) != burst {
				t.Errorf("%d of %d requests were answered", len(seen), burst)
			}
		})
	}
}

// An error that an earlier answer left on the socket does not hide the packets that are there already.
func TestErrorOnTheSocketHidesNoPacket(t *testing.T) {
	conns, err := bindUDP(t.Context(), netip.MustParseAddrPort("127.0.0.1:0"), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range conns[1:] {
		_ = other.Close()
	}
	server := conns[0]
	raw, err := server.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var option error
	if err := raw.Control(func(fd uintptr) { option = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_RECVERR, 1) }); err != nil || option != nil {
		t.Fatal(err, option)
	}
	gone, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	nobody := gone.LocalAddr()
	_ = gone.Close()
	if _, err := server.WriteTo([]byte("to nobody"), nobody); err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("udp", server.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Write(make([]byte, headerSize)); err != nil {
		t.Fatal(err)
	}
	empty := emptySnapshot()
	s := NewServer(NewResponder("ns1", "test"), func() *steer.Snapshot { return empty }, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	defer worker.Wait()
	defer func() { _ = server.Close() }()
	defer cancel()
	worker.Go(func() { s.serveUDP(ctx, server, false) })
	if err := client.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := client.Read(make([]byte, 512)); err != nil || n != headerSize {
		t.Errorf("%d octets: %v", n, err)
	}
}

// What ICMP says of a path is not believed: nobody can have answers sent in fragments by forging it.
func TestAnswersKeepTheirSizeWhateverICMPSays(t *testing.T) {
	for _, tc := range []struct {
		listen              string
		level, option, want int
	}{
		{"127.0.0.1:0", unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_OMIT},
		{"[::1]:0", unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_OMIT},
	} {
		conns, err := bindUDP(t.Context(), netip.MustParseAddrPort(tc.listen), 1)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := conns[0].SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var got int
		if err := raw.Control(func(fd uintptr) { got, err = unix.GetsockoptInt(int(fd), tc.level, tc.option) }); err != nil {
			t.Fatal(err)
		}
		if err != nil || got != tc.want {
			t.Errorf("%s: %d, %v", tc.listen, got, err)
		}
		_ = conns[0].Close()
	}
}
