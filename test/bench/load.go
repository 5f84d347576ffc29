package main

import (
	"net/netip"
	"runtime"
	"time"
)

const (
	clients = 16
	// outstanding is how many queries each client has under way at saturation: 192 small packets fit the default
	// receive buffer, so that no server loses any.
	outstanding = 12
	// lostAfter is how long a reply may take, in nanoseconds.
	lostAfter = 100e6
)

// outcome is what a load generator saw in one window.
type outcome struct {
	sent, good, bad int64
	elapsed         time.Duration
	late            []uint32 // replies by microseconds of latency
}

func (o *outcome) answers() int64 { return o.good + o.bad }

// percentile gives the latency that so many of 100 replies do not exceed, in microseconds.
func (o *outcome) percentile(p int64) float64 {
	want, seen := (o.answers()*p+99)/100, int64(0)
	for us, n := range o.late {
		if seen += int64(n); seen >= want && n > 0 {
			return float64(us)
		}
	}
	return 0
}

// load asks a server over UDP.
type load struct {
	mix     *mix
	sockets []*socket
	rate    float64 // queries a second; 0: as many as the server answers
	outcome
}

func newLoad(m *mix, server netip.AddrPort, rate float64) (*load, error) {
	l := &load{mix: m, rate: rate, outcome: outcome{late: make([]uint32, 1<<17)}}
	for i := range clients {
		s, err := openSocket(i+1, server)
		if err != nil {
			l.close()
			return nil, err
		}
		l.sockets = append(l.sockets, s)
	}
	return l, nil
}

func (l *load) close() {
	for _, s := range l.sockets {
		s.close()
	}
}

// reset forgets what was counted.
func (l *load) reset() {
	clear(l.late)
	l.outcome = outcome{late: l.late}
}

// run asks for so long, on one thread.
func (l *load) run(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	now := func() int64 { return int64(time.Since(start)) + 1 } // never 0, which means: not under way
	for _, s := range l.sockets {
		s.lastReply, s.underWay = 1, 0
		clear(s.sentAt[:])
	}
	if l.rate > 0 {
		l.steady(int64(d), now)
	} else {
		l.saturate(int64(d), now)
	}
	l.elapsed += time.Since(start)
	for t := now(); now()-t < lostAfter; { // what is under way still counts
		left := 0
		for _, s := range l.sockets {
			l.collect(s, now)
			left += s.underWay
		}
		if left == 0 {
			return
		}
	}
}

// saturate keeps every client's queries under way, in halves, so that both sides work in batches.
func (l *load) saturate(end int64, now func() int64) {
	for t := now(); t < end; {
		for _, s := range l.sockets {
			if free := outstanding - s.underWay; free*2 >= outstanding {
				l.ask(s, free, t)
			}
			if l.collect(s, now) == 0 && t-s.lastReply > lostAfter {
				s.underWay, s.lastReply = 0, t
			}
			t = now()
		}
	}
}

// steady asks at the rate, one client after the other.
func (l *load) steady(end int64, now func() int64) {
	before, turn := l.sent, 0
	for t := now(); t < end; t = now() {
		for due := int64(float64(t)*l.rate/1e9) - (l.sent - before); due > 0; due-- {
			l.ask(l.sockets[turn], 1, now())
			turn = (turn + 1) % len(l.sockets)
		}
		for _, s := range l.sockets {
			if s.underWay > 0 && l.collect(s, now) == 0 && t-s.lastReply > lostAfter {
				s.underWay = 0
			}
		}
	}
}

// ask sends n queries of one client.
func (l *load) ask(s *socket, n int, now int64) {
	for i := range n {
		s.id++
		s.outAt[i].SetLen(l.mix.next(s.queries[i][:], s.id))
		s.sentAt[s.id] = now
	}
	if s.underWay == 0 {
		s.lastReply = now
	}
	sent := s.send(n)
	s.underWay += sent
	l.sent += int64(sent)
}

// collect takes the replies to one client.
func (l *load) collect(s *socket, now func() int64) int {
	n := s.receive()
	if n == 0 {
		return 0
	}
	t := now()
	for i := range n {
		reply := s.replies[i][:s.in[i].length]
		if len(reply) < 12 {
			continue
		}
		id := uint16(reply[0])<<8 | uint16(reply[1])
		if s.sentAt[id] == 0 {
			continue
		}
		l.count(reply, t-s.sentAt[id])
		s.sentAt[id] = 0
		s.underWay = max(s.underWay-1, 0)
	}
	s.lastReply = t
	return n
}

// count notes one reply that took so many nanoseconds.
func (l *load) count(reply []byte, took int64) {
	l.late[min(took/1000, int64(len(l.late))-1)]++
	if l.mix.good(reply) {
		l.good++
	} else {
		l.bad++
	}
}
