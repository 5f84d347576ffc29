package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"gslb/dns"
)

// herald tells the service manager how we are (sd_notify(3)). The zero value tells nobody.
type herald struct {
	socket   string
	watchdog time.Duration // within which it wants to hear that we live; 0: it does not
}

// newHerald takes from the environment whom to tell. Nobody whom we start is to speak for us.
func newHerald() herald {
	h := herald{socket: os.Getenv("NOTIFY_SOCKET")}
	pid := os.Getenv("WATCHDOG_PID")
	if pid == "" || pid == strconv.Itoa(os.Getpid()) {
		if n, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && n > 0 {
			h.watchdog = time.Duration(n) * time.Microsecond
		}
	}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"} {
		_ = os.Unsetenv(name) // fails for no name like these
	}
	return h
}

// tell says one thing, in the manager's words. One that does not listen is no reason to stop.
func (h herald) tell(words string) {
	if h.socket == "" {
		return
	}
	conn, err := net.Dial("unixgram", h.socket)
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = conn.Write([]byte(words))
}

// starting asks for time to start in.
func (h herald) starting(patience time.Duration) {
	const more = time.Minute // for what does not depend on how slow endpoints are
	h.tell(fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", (patience + more).Microseconds()))
}

func (h herald) ready(zones int) { h.tell(fmt.Sprintf("READY=1\nSTATUS=serving %d zones", zones)) }

// reloading says that the configuration is read; ready ends it.
func (h herald) reloading() {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // fails for no clock that there is
	h.tell(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Nano()/1000))
}

func (h herald) stopping() { h.tell("STOPPING=1") }

// attest tells that we live, for as long as questions are answered. That the disk does, or who reads the configuration,
// does not matter: without them we go on answering, and a restart would only end that.
func (d *daemon) attest(ctx context.Context) error {
	if d.herald.watchdog == 0 {
		<-ctx.Done()
		return nil
	}
	ticks := time.NewTicker(d.herald.watchdog / 3)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticks.C:
			if d.answers(now) {
				d.herald.tell("WATCHDOG=1")
			}
		}
	}
}

// answers asks ourselves who we are. The question does not come by a socket, where it could be lost among many.
func (d *daemon) answers(now time.Time) bool {
	packet := binary.BigEndian.AppendUint16(nil, uint16(rand.Uint32()))
	packet = append(packet, "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x02id\x06server\x00\x00\x10\x00\x03"...)
	req := dns.Request{Packet: packet, Source: netip.IPv6Loopback(), Over: dns.TCP, Now: now}
	return len(d.responder.Respond(d.publisher.Latest(), req, nil)) > len(packet)
}
