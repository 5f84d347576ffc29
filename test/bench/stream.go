package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	keptConnections = 100
	pipelined       = 16 // queries that each of them has under way
	shortLived      = 16 // clients that ask once a connection
)

// streamLoad asks a server over TCP: on kept connections, or by one for each query.
type streamLoad struct {
	server  netip.AddrPort
	once    bool
	mixes   []*mix     // of each client: a mix is not for many goroutines
	kept    []net.Conn // of each client, unless it asks by one connection for each query
	replies []*bufio.Reader
}

func newStreamLoad(kind string, server netip.AddrPort, once bool) (*streamLoad, error) {
	l := &streamLoad{server: server, once: once}
	number := keptConnections
	if once {
		number = shortLived
	}
	for i := range number {
		m, err := newMix(kind, uint64(i))
		if err != nil {
			return nil, err
		}
		l.mixes = append(l.mixes, m)
		if once {
			continue
		}
		conn, err := l.dial(i)
		if err != nil {
			l.close()
			return nil, err
		}
		l.kept, l.replies = append(l.kept, conn), append(l.replies, bufio.NewReaderSize(conn, 16<<10))
	}
	return l, nil
}

func (l *streamLoad) close() {
	for _, conn := range l.kept {
		_ = conn.Close()
	}
}

// run asks for so long.
func (l *streamLoad) run(d time.Duration) (outcome, error) {
	ask := l.keep
	if l.once {
		ask = l.again
	}
	var mu sync.Mutex
	var all outcome
	var errs []error
	var group sync.WaitGroup
	start := time.Now()
	for i := range l.mixes {
		group.Go(func() {
			o, err := ask(i, start.Add(d))
			mu.Lock()
			defer mu.Unlock()
			all.sent, all.good, all.bad = all.sent+o.sent, all.good+o.good, all.bad+o.bad
			errs = append(errs, err)
		})
	}
	group.Wait()
	all.elapsed = time.Since(start)
	return all, errors.Join(errs...)
}

func (l *streamLoad) dial(client int) (net.Conn, error) {
	from := net.TCPAddr{IP: net.IPv4(127, byte(client%clients+1), 0, 1)}
	d := net.Dialer{LocalAddr: &from, Timeout: 5 * time.Second}
	conn, err := d.Dial("tcp4", l.server.String())
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(time.Minute))
	}
	return conn, err
}

// keep asks on one connection, burst after burst.
func (l *streamLoad) keep(n int, end time.Time) (o outcome, err error) {
	m, conn, replies := l.mixes[n], l.kept[n], l.replies[n]
	var queries, room []byte
	for time.Now().Before(end) {
		queries = queries[:0]
		for i := range pipelined {
			queries = appendFramed(queries, m, uint16(i))
		}
		if _, err := conn.Write(queries); err != nil {
			return o, err
		}
		o.sent += pipelined
		for range pipelined {
			if room, err = readFramed(replies, room); err != nil {
				return o, err
			}
			o.take(m, room)
		}
	}
	return o, nil
}

// again asks one query a connection.
func (l *streamLoad) again(n int, end time.Time) (o outcome, err error) {
	m := l.mixes[n]
	var query, room []byte
	for time.Now().Before(end) {
		conn, err := l.dial(n)
		if err != nil {
			return o, err
		}
		query = appendFramed(query[:0], m, 1)
		_, err = conn.Write(query)
		if err == nil {
			room, err = readFramed(conn, room)
		}
		_ = conn.Close()
		if err != nil {
			return o, err
		}
		o.sent++
		o.take(m, room)
	}
	return o, nil
}

func (o *outcome) take(m *mix, reply []byte) {
	if m.good(reply) {
		o.good++
	} else {
		o.bad++
	}
}

// appendFramed adds a query behind its length (RFC 1035 section 4.2.2).
func appendFramed(to []byte, m *mix, id uint16) []byte {
	var query [packetSize]byte
	n := m.next(query[:], id)
	return append(binary.BigEndian.AppendUint16(to, uint16(n)), query[:n]...)
}

func readFramed(r io.Reader, room []byte) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return room, err
	}
	n := int(binary.BigEndian.Uint16(length[:]))
	room = append(room[:0], make([]byte, n)...)
	_, err := io.ReadFull(r, room)
	return room, err
}
