package dns_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/dns"
	"gslb/dns/steer"
)

// serve starts a server on the addresses, of port 0, and gives the addresses with their ports.
func serve(t testing.TB, addresses ...string) (*dns.Server, []netip.AddrPort) {
	t.Helper()
	return serveText(t, text, addresses...)
}

func serveText(t testing.TB, text string, addresses ...string) (*dns.Server, []netip.AddrPort) {
	t.Helper()
	s := snapshotOf(t, text)
	server := dns.NewServer(dns.NewResponder("ns1", "test"), func() *steer.Snapshot { return s }, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	var asked []netip.AddrPort
	for _, a := range addresses {
		asked = append(asked, netip.AddrPortFrom(netip.MustParseAddr(a), 0))
	}
	if err := server.Listen(dns.Doors{Plain: asked}); err != nil {
		t.Fatal(err)
	}
	return server, server.Addresses()
}

func exchange(network, address, name string) (string, error) {
	m := new(mdns.Msg)
	m.SetQuestion(name, mdns.TypeA)
	m.RecursionDesired = false
	client := mdns.Client{Net: network, Timeout: 20 * time.Second}
	reply, _, err := client.Exchange(m, address)
	if err != nil {
		return "", err
	}
	return show(reply), nil
}

func TestServesEveryAddressOverUDPAndTCP(t *testing.T) {
	const want = "NOERROR aa\nanswer: www.ok.test. 300 IN A 192.0.2.1\n"
	_, addresses := serve(t, "127.0.0.1", "127.0.0.2", "::1")
	for _, a := range addresses {
		for _, network := range []string{"udp", "tcp"} {
			if got, err := exchange(network, a.String(), "www.ok.test."); err != nil || got != want {
				t.Errorf("%s %s: %v %s", network, a, err, got)
			}
		}
	}
}

// The log tells how much room the kernel gave to packets that wait, in the octets by which the kernel counts it.
func TestReceiveBufferIsLogged(t *testing.T) {
	var log bytes.Buffer
	s := snapshotOf(t, text)
	server := dns.NewServer(dns.NewResponder("ns1", "test"), func() *steer.Snapshot { return s }, slog.New(slog.NewTextHandler(&log, nil)))
	if err := server.Listen(dns.Doors{Plain: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}}); err != nil {
		t.Fatal(err)
	}
	var want string
	for address, octets := range server.Buffers() {
		want = fmt.Sprintf("msg=\"address served\" address=%s transport=\"udp and tcp\" receive_buffer=%d\n", address, octets)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if want == "" || !strings.Contains(log.String(), want) {
		t.Errorf("want %q in\n%s", want, log.String())
	}
}

func TestWildcardAddressAnswersFromWhereItWasAsked(t *testing.T) {
	for _, tc := range []struct {
		listen string
		asked  []string
	}{{"0.0.0.0", []string{"127.0.0.1", "127.0.0.2", "127.9.9.9"}}, {"::", []string{"::1"}}} {
		_, addresses := serve(t, tc.listen)
		for _, a := range tc.asked {
			// The client's socket is connected: it takes no answer from elsewhere.
			if got, err := exchange("udp", netip.AddrPortFrom(netip.MustParseAddr(a), addresses[0].Port()).String(), "www.ok.test."); err != nil {
				t.Errorf("%s on %s: %v %s", a, tc.listen, err, got)
			}
		}
	}
}

func TestIPv6WildcardLeavesIPv4Alone(t *testing.T) {
	_, addresses := serve(t, "::")
	if got, err := exchange("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), addresses[0].Port()).String(), "www.ok.test."); err == nil {
		t.Errorf("IPv4 was answered: %s", got)
	}
}

func TestListenChangesOnlyWhatIsNew(t *testing.T) {
	server, before := serve(t, "127.0.0.1")
	kept, err := net.Dial("tcp", before[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	zero := netip.MustParseAddrPort("127.0.0.1:0")
	if err := server.Listen(dns.Doors{Plain: []netip.AddrPort{zero, netip.MustParseAddrPort("127.0.0.2:0")}}); err != nil {
		t.Fatal(err)
	}
	after := server.Addresses()
	if len(after) != 2 || !slices.Contains(after, before[0]) {
		t.Fatalf("served: %v, then %v", before, after)
	}
	packet, _ := question(t, "www.ok.test. A")
	if got := overTCP(t, kept, packet); !strings.HasPrefix(got, "NOERROR") {
		t.Errorf("the connection that was open: %s", got)
	}
	if err := server.Listen(dns.Doors{Plain: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.2:0")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := exchange("tcp", before[0].String(), "www.ok.test."); err == nil {
		t.Error("an address that was taken away still answers")
	}
}

func TestListenRefusedChangesNothing(t *testing.T) {
	server, before := serve(t, "127.0.0.1")
	busy, err := net.ListenPacket("udp4", "127.0.0.3:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	err = server.Listen(dns.Doors{Plain: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.2:0"), netip.MustParseAddrPort(busy.LocalAddr().String())}})
	if err == nil || !strings.Contains(err.Error(), "listen on 127.0.0.3:") || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("error %v", err)
	}
	if after := server.Addresses(); !slices.Equal(before, after) {
		t.Errorf("served: %v, then %v", before, after)
	}
}

func TestPortThatIsTakenForAMomentIsWaitedFor(t *testing.T) {
	server, _ := serve(t, "127.0.0.1")
	busy, err := net.ListenPacket("udp4", "127.0.0.4:0")
	if err != nil {
		t.Fatal(err)
	}
	address := netip.MustParseAddrPort(busy.LocalAddr().String())
	time.AfterFunc(100*time.Millisecond, func() { _ = busy.Close() })
	if err := server.Listen(dns.Doors{Plain: []netip.AddrPort{address}}); err != nil {
		t.Error(err)
	}
}

func TestTwoServersDoNotShareAPort(t *testing.T) {
	_, addresses := serve(t, "127.0.0.1")
	s := snapshot(t)
	second := dns.NewServer(dns.NewResponder("ns2", "test"), func() *steer.Snapshot { return s }, slog.New(slog.DiscardHandler))
	if err := second.Listen(dns.Doors{Plain: addresses}); err == nil {
		t.Error("a second server took the same address")
	}
}

func overTCP(t *testing.T, conn net.Conn, packet []byte) string {
	t.Helper()
	if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)); err != nil {
		t.Fatal(err)
	}
	return readTCP(t, conn)
}

func readTCP(t *testing.T, conn net.Conn) string {
	t.Helper()
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, reply); err != nil {
		t.Fatal(err)
	}
	m := new(mdns.Msg)
	if err := m.Unpack(reply); err != nil {
		t.Fatal(err)
	}
	return show(m)
}

func TestTCPAnswersManyRequestsInOrder(t *testing.T) {
	_, addresses := serve(t, "127.0.0.1")
	conn, err := net.Dial("tcp", addresses[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var sent []byte
	names := []string{"www.ok.test. A", "nope.ok.test. A", "big.ok.test. TXT", "cdn.ok.test. A"}
	for _, words := range names {
		packet, _ := question(t, words)
		sent = append(binary.BigEndian.AppendUint16(sent, uint16(len(packet))), packet...)
	}
	for i := range sent { // octet by octet: the frames come in pieces
		if _, err := conn.Write(sent[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"NOERROR aa\nanswer: www", "NXDOMAIN aa", "NOERROR aa\nanswer: big", "NOERROR aa\nanswer: cdn"} {
		if got := readTCP(t, conn); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s", names[i], got)
		}
	}
}

// A client that sends all it has and closes its side still gets every answer.
func TestTCPAnswersWhatComesTogether(t *testing.T) {
	_, addresses := serve(t, "127.0.0.1")
	conn, err := net.Dial("tcp", addresses[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const many = 2000
	packet, _ := question(t, "many.ok.test. A +edns=1232")
	var sent []byte
	for i := range many {
		binary.BigEndian.PutUint16(packet, uint16(i))
		sent = append(binary.BigEndian.AppendUint16(sent, uint16(len(packet))), packet...)
	}
	go func() {
		_, _ = conn.Write(sent) // the reader finds out
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	for i := range many {
		if len(all) < 2 {
			t.Fatalf("%d of %d answers came", i, many)
		}
		length := int(binary.BigEndian.Uint16(all))
		if id := binary.BigEndian.Uint16(all[2:]); id != uint16(i) || length < 500 {
			t.Fatalf("answer %d of %d octets where %d was due", id, length, i)
		}
		all = all[2+length:]
	}
}

// A source with many silent connections only closes its own.
func TestTCPConnectionsOfOneSourceAreBounded(t *testing.T) {
	_, addresses := serve(t, "127.0.0.1")
	dial := func(from string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		conn, err := d.Dial("tcp", addresses[0].String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	packet, _ := question(t, "www.ok.test. A")
	other := dial("127.0.0.2")
	if got := overTCP(t, other, packet); !strings.HasPrefix(got, "NOERROR") {
		t.Fatal(got)
	}
	first := dial("127.0.0.3")
	for range 256 {
		dial("127.0.0.3")
	}
	if n, err := first.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the longest silent one: %d octets, %v", n, err)
	}
	for _, conn := range []net.Conn{dial("127.0.0.3"), other} {
		if got := overTCP(t, conn, packet); !strings.HasPrefix(got, "NOERROR") {
			t.Errorf("%s: %s", conn.LocalAddr(), got)
		}
	}
}

func TestTCPClosesOnWhatIsNoRequest(t *testing.T) {
	_, addresses := serve(t, "127.0.0.1")
	conn, err := net.Dial("tcp", addresses[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte{0, 3, 1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %v, want the connection closed", err)
	}
}

func TestCloseWaitsForEverything(t *testing.T) {
	server, addresses := serve(t, "127.0.0.1")
	var clients sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_, _ = exchange("tcp", addresses[0].String(), "www.ok.test.")
				}
			}
		})
	}
	if got, err := exchange("udp", addresses[0].String(), "www.ok.test."); err != nil {
		t.Fatal(err, got)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	close(stop)
	clients.Wait()
	if got := server.Addresses(); len(got) != 0 {
		t.Errorf("still served: %v", got)
	}
}
