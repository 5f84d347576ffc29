//go:build linux && (amd64 || arm64)

package dns

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// batchSize is how many packets are taken from a socket by one call, and answered by one. More gain nothing,
// and one call for 32 holds the processor for a tenth of a millisecond, which is what the collector may
// have to wait for.
const batchSize = 32

// message is the kernel's struct mmsghdr.
type message struct {
	header unix.Msghdr
	length uint32
	_      [4]byte
}

// reset says how much room there is for what the kernel tells of a packet.
func (m *message) reset() {
	m.header.Namelen = unix.SizeofSockaddrInet6
	if m.header.Control != nil {
		m.header.SetControllen(controlSize)
	}
}

// batch is the packets that are on the way through one worker, in the kernel's form: the i-th of everything
// belongs to the i-th packet. It is allocated once, and never moves.
type batch struct {
	worker   *Worker
	inbox    *inbox
	in, out  [batchSize]message
	inAt     [batchSize]unix.Iovec
	outAt    [batchSize]unix.Iovec
	from     [batchSize]unix.RawSockaddrInet6 // large enough for both families
	requests [batchSize][]byte
	replies  [batchSize][]byte
	controls [batchSize][controlSize]byte

	pace     pace
	seats    *seats
	seated   bool // it has one of them
	sending  int  // replies in out
	sent     int
	count    int // what the last call gave
	errno    syscall.Errno
	full     int // batches in which there was no room for more
	failures int // calls in a row that gave an error
}

// serveBatches answers what comes in on one socket until it is closed. It gives false, and has done nothing,
// where the system does not have the calls; otherwise the connection is closed when it returns.
//
// The calls are raw, for the scheduler's part in a system call costs more than the call. So they may wait only where the
// worker has a seat, see [batch.stays]; else a socket that has nothing is waited for by its [inbox].
func (s *Server) serveBatches(ctx context.Context, conn *net.UDPConn, wildcard bool) bool {
	in, err := newInbox(conn)
	if err != nil {
		return false
	}
	b := &batch{worker: s.responder.Worker(), inbox: in, seats: &s.seats}
	b.prepare(wildcard)
	s.serveBatch(ctx, b, wildcard)
	return true
}

// serveBatch does so by one batch, over and over.
func (s *Server) serveBatch(ctx context.Context, b *batch, wildcard bool) {
	defer b.inbox.close()
	defer b.leave()
	defer context.AfterFunc(ctx, b.inbox.wake)()
	work := func() bool { return s.work(ctx, b, wildcard) }
	for ctx.Err() == nil {
		if b.inbox.await(unix.EPOLLIN, work) != nil {
			b.failures++
		}
		if b.failures > 0 {
			restAfter(ctx, b.failures)
		}
		if b.sent < b.sending && b.inbox.await(unix.EPOLLOUT, b.send) != nil {
			b.sent = b.sending // lost answers are asked for again
		}
	}
}

// work answers batch after batch. It gives false when the socket has nothing more, and true when something
// else is to be done first.
func (s *Server) work(ctx context.Context, b *batch, wildcard bool) bool {
	for {
		if !b.receive() {
			return false
		}
		if ctx.Err() != nil {
			return true
		}
		if b.errno != 0 { // of an earlier answer, by ICMP: what waits behind it nobody would tell of, so it is looked for again
			b.failures++
			return true
		}
		b.failures = 0
		s.answer(b, wildcard)
		if !b.send() || ctx.Err() != nil {
			return true
		}
		switch pause := time.Duration(s.coalesce.Load()); {
		case b.count == batchSize: // there is more
			b.yield()
		case b.pace.gathers(pause):
			rest(pause)
		case b.count == 1 && !b.seated: // alone: the next one is hardly there yet, and the inbox will tell of it
			return false
		}
	}
}

// turn is how many full batches a worker without a seat answers before it lets other goroutines go first, as probes and
// sessions: 512 packets, some 3 ms. To do so wakes a thread up and changes to it, for a hundredth of the time that a batch
// takes. Where there are seats others have places of their own.
const turn = 16

// yield is for when a batch was full.
func (b *batch) yield() {
	if b.full++; b.full%turn == 0 && !b.seated {
		runtime.Gosched()
	}
}

// Requests, and replies, lie an odd number of cache lines apart: at a distance of, say, 2,048 octets all of them would
// want the same few lines of a processor's first cache.
const (
	requestsApart = 33 * cacheLine // at least requestSize + 1
	repliesApart  = 21 * cacheLine // at least maxUDPAnswer
	cacheLine     = 64
)

// prepare points the kernel's structures to each other.
func (b *batch) prepare(wildcard bool) {
	requests, replies := make([]byte, batchSize*requestsApart), make([]byte, batchSize*repliesApart)
	for i := range batchSize {
		b.requests[i] = requests[i*requestsApart:][: requestSize+1 : requestSize+1]
		b.replies[i] = replies[i*repliesApart:][:0:maxUDPAnswer]
		b.inAt[i].Base = &b.requests[i][0]
		b.inAt[i].SetLen(requestSize + 1)
		h := &b.in[i].header
		h.Name = (*byte)(unsafe.Pointer(&b.from[i]))
		h.Iov, h.Iovlen = &b.inAt[i], 1
		if wildcard {
			h.Control = &b.controls[i][0]
		}
		b.in[i].reset()
	}
}

// receive takes what the socket has, up to a whole batch, and waits for the first packet where it may. It gives false
// when there is none.
func (b *batch) receive() bool {
	for i := range b.count { // what the last call has written over
		b.in[i].reset()
	}
	how := unix.MSG_DONTWAIT
	if b.stays() {
		how = unix.MSG_WAITFORONE
	}
	for {
		b.count, b.errno = mmsg(unix.SYS_RECVMMSG, b.inbox.socket, &b.in[0], batchSize, how)
		if b.errno != unix.EINTR {
			break
		}
		runtime.Gosched() // who interrupts it, as the collector, waits for this goroutine to stop
	}
	if b.seated || b.count >= batchSize/4 {
		b.inbox.ignore() // it will hardly be waited for
	}
	if b.errno == unix.EAGAIN {
		b.leave()
		return false
	}
	return true
}

// patience is how long a worker waits inside the kernel before it lets its inbox wait; and brisk is in how much time at
// least one packet must come, on the average, for it to begin.
const (
	patience = 10 * time.Millisecond
	brisk    = patience / 4
)

// stays tells whether the worker waits for the next packet by the very call that takes it: while they come fast, and it
// has a seat. From the inbox it would be two calls more, and a goroutine to be woken, which is a fifth of what a packet costs
// that comes alone.
//
// The runtime knows nothing of such a wait. When it wants the goroutine to stop, as for the collector, it sends the
// thread a signal, which ends the call: a receive that has a time limit is never begun anew (signal(7)). Without such signals
// (GODEBUG=asyncpreemptoff=1) it waits for the limit, which is patience.
func (b *batch) stays() bool {
	switch fast := b.pace.gathers(brisk); {
	case !fast:
		b.leave()
	case !b.seated:
		b.seated = b.seats.take()
	}
	return b.seated
}

// leave gives up the seat, if there is one.
func (b *batch) leave() {
	if b.seated {
		b.seats.leave()
		b.seated = false
	}
}

// send hands the replies that are left to the socket. It gives false when that takes no more for now. One that it
// will not have at all is passed over: lost answers are asked for again.
func (b *batch) send() bool {
	for b.sent < b.sending {
		n, errno := mmsg(unix.SYS_SENDMMSG, b.inbox.socket, &b.out[b.sent], b.sending-b.sent, unix.MSG_DONTWAIT)
		switch {
		case errno == unix.EAGAIN:
			return false
		case errno == unix.EINTR: // the poller would not tell of room that is there already
			continue
		case errno == unix.EMSGSIZE && b.inbox.fragment():
			continue
		case errno != 0:
			n = 1
		}
		b.sent += n
	}
	return true
}

// mmsg calls recvmmsg or sendmmsg, with one of the flags MSG_DONTWAIT and MSG_WAITFORONE.
func mmsg(call uintptr, socket int, first *message, count, how int) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(call, uintptr(socket), uintptr(unsafe.Pointer(first)), uintptr(count), uintptr(how), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// answer makes the replies to a batch.
func (s *Server) answer(b *batch, wildcard bool) {
	b.sending, b.sent = 0, 0
	snapshot, now := s.snapshot(), time.Now()
	policy := snapshot.Policy()
	proxied := policy.Proxied()
	b.pace.note(b.count, now)
	for i := range b.count {
		in := &b.in[i]
		packet, source := b.requests[i][:in.length], address(&b.from[i])
		if proxied {
			var ok bool
			if packet, source, ok = unproxied(policy, packet, source); !ok {
				b.worker.tally.ignored(UDP)
				continue
			}
		}
		reply := b.worker.Respond(snapshot, Request{Packet: packet, Source: source, Now: now, Seed: rand.Uint64()}, b.replies[b.sending][:0])
		if len(reply) == 0 {
			continue
		}
		b.replies[b.sending] = reply
		at := &b.outAt[b.sending]
		at.Base = &reply[0]
		at.SetLen(len(reply))
		out := &b.out[b.sending].header
		*out = in.header
		out.Iov = at
		if wildcard {
			anyInterface(b.controls[i][:in.header.Controllen])
		}
		out.Flags = 0
		b.sending++
	}
}

// address is the address part of a socket address.
func address(from *unix.RawSockaddrInet6) netip.Addr {
	if from.Family == unix.AF_INET {
		return netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(from)).Addr)
	}
	return netip.AddrFrom16(from.Addr)
}
