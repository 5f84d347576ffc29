package dns

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// soaking is how long the server is put under load: seconds, ten minutes in the long run, or what GSLB_SOAK says.
func soaking(t *testing.T) time.Duration {
	t.Helper()
	switch words := os.Getenv("GSLB_SOAK"); {
	case words != "":
		d, err := time.ParseDuration(words)
		if err != nil {
			t.Fatal(err)
		}
		return d
	case os.Getenv("GSLB_LONG") != "":
		return 10 * time.Minute
	}
	return 6 * time.Second
}

// Garbage of every kind and good questions at once, by packets and connections that end as they should and as they
// should not: the good ones are answered all the time, and when it is over the server holds no more than before. Its
// memory of the last third is that of the second.
func TestGarbageAndLoadLeaveNothingBehind(t *testing.T) {
	at, p := servedServices(t)
	const opened = "admin door open" // the last that is opened, after the DNS sockets
	rig.Until(t, rig.Soon, opened, func() string {
		if log := p.log.String(); !strings.Contains(log, opened) {
			return log
		}
		return opened
	})
	before := held(t, p)
	duration := soaking(t)
	begin := time.Now()
	over := begin.Add(duration)
	var load sync.WaitGroup
	var sent [4]int
	for i, kind := range []func(*client, *rand.Rand){goodPacket, badPacket, goodStream, badStream} {
		c, luck := newClient(t, at), rand.New(rand.NewPCG(9, uint64(i)))
		load.Go(func() {
			for time.Now().Before(over) && !t.Failed() {
				kind(c, luck)
				sent[i]++
			}
			c.close()
		})
	}
	var most [3]int
	for time.Now().Before(over) {
		third := int(3 * time.Since(begin) / duration)
		most[min(third, 2)] = max(most[min(third, 2)], resident(t, p))
		time.Sleep(duration / 300)
	}
	load.Wait()
	t.Logf("%v: %d good packets, %d bad, %d good on connections, %d bad; %d kB, %d kB and %d kB resident by thirds",
		duration, sent[0], sent[1], sent[2], sent[3], most[0], most[1], most[2])
	const slack = 8 << 10 // kB: the collector's rhythm
	if most[2] > most[1]+most[1]/10+slack {
		t.Errorf("memory grows: at most %d kB, then %d kB, then %d kB", most[0], most[1], most[2])
	}
	for _, n := range sent {
		if n < 100 {
			t.Errorf("little was sent: %d", sent)
		}
	}
	rig.Until(t, rig.Soon, fmt.Sprintf("at most %d descriptors", before), func() string {
		if n := held(t, p); n > before {
			return fmt.Sprintf("%d descriptors", n)
		}
		return fmt.Sprintf("at most %d descriptors", before)
	})
}

// resident is the memory of a process in kB.
func resident(t *testing.T, p *process) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes
}

// held is how many descriptors a process holds.
func held(t *testing.T, p *process) int {
	t.Helper()
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// draw makes a good question.
func draw(luck *rand.Rand) []byte {
	m := new(dns.Msg)
	names := []string{"www.ok.test.", "ok.test.", "mail.ok.test.", "long.ok.test.", "example.", fmt.Sprintf("n%d.vid.ok.test.", luck.IntN(1000)), fmt.Sprintf("no%d.ok.test.", luck.IntN(1000))}
	m.SetQuestion(names[luck.IntN(len(names))], usual[luck.IntN(len(usual))])
	if luck.IntN(2) == 0 {
		put(m, "+subnet="+netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(1 + luck.IntN(220)), byte(luck.IntN(256)), 0, 0}), 16).String())
	}
	packet, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return packet
}

// spoil breaks a packet in some way.
func spoil(packet []byte, luck *rand.Rand) []byte {
	for range 1 + luck.IntN(8) {
		packet[2+luck.IntN(len(packet)-2)] = byte(luck.Uint32())
	}
	packet[2] &^= 0x80 // a response would be for nobody
	switch luck.IntN(4) {
	case 0:
		return packet[:2+luck.IntN(len(packet)-2)]
	case 1:
		return append(packet, make([]byte, luck.IntN(2000))...)
	}
	return packet
}

func goodPacket(c *client, luck *rand.Rand) { answered(c, draw(luck), false) }

func goodStream(c *client, luck *rand.Rand) {
	answered(c, draw(luck), true)
	if luck.IntN(20) == 0 {
		c.close()
	}
}

func answered(c *client, packet []byte, stream bool) {
	reply := c.ask(packet, stream)
	m := new(dns.Msg)
	if err := m.Unpack(reply); err != nil {
		c.t.Errorf("%x gets %x: %v", packet, reply, err)
	}
}

func badPacket(c *client, luck *rand.Rand) { c.ask(spoil(draw(luck), luck), false) }

// badStream opens a connection, sends what is wrong in one of many ways, and leaves in one of many ways.
func badStream(c *client, luck *rand.Rand) {
	conn, err := net.DialTimeout("tcp", c.at.String(), rig.Soon)
	if err != nil {
		c.t.Error(err)
		return
	}
	defer conn.Close()
	packet := spoil(draw(luck), luck)
	length := len(packet)
	if luck.IntN(3) == 0 {
		length = luck.IntN(1 << 16)
	}
	// The server may end the connection while this is sent.
	_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(length)), packet...))
	switch luck.IntN(3) {
	case 0:
		_ = conn.(*net.TCPConn).SetLinger(0)
	case 1:
		_ = conn.(*net.TCPConn).CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(rig.Soon))
		_, _ = io.Copy(io.Discard, conn)
	}
}
