package dnstap

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"
)

// patience is how long a reader may take for what it is sent, and for its part of opening and closing.
const patience = 5 * time.Second

// Stream carries messages to one reader. It is used by one goroutine.
type Stream struct {
	out   *bufio.Writer
	conn  net.Conn // nil: a file
	file  *os.File // nil: a socket
	frame []byte
	room  []byte
}

// Dial opens a stream to a reader that listens on a Unix socket.
func Dial(path string) (*Stream, error) {
	conn, err := net.DialTimeout("unix", path, patience)
	if err != nil {
		return nil, err
	}
	s := &Stream{conn: conn, out: bufio.NewWriterSize(conn, bufferSize)}
	if err := s.greet(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

// bufferSize is how much is gathered before it is written.
const bufferSize = 64 << 10

// greet agrees with the reader on what it is sent.
func (s *Stream) greet() error {
	if err := s.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := s.conn.Write(appendControl(nil, controlReady, true)); err != nil {
		return err
	}
	if err := readControl(s.conn, controlAccept); err != nil {
		return err
	}
	_, err := s.conn.Write(appendControl(nil, controlStart, true))
	return err
}

// Create opens a stream into a file. One that is there already is moved aside, to the same name with .1: two streams
// in one file are none. What is there and is no file stays as it is.
func Create(path string) (*Stream, error) {
	if there, err := os.Lstat(path); err == nil && !there.Mode().IsRegular() && there.Mode()&fs.ModeSymlink == 0 {
		return nil, fmt.Errorf("%s: it is there, and not a regular file", path)
	}
	if err := os.Rename(path, path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return nil, err
	}
	s := &Stream{file: f, out: bufio.NewWriterSize(f, bufferSize)}
	if _, err := s.out.Write(appendControl(nil, controlStart, true)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// Write adds a message. It may be kept until Flush.
func (s *Stream) Write(m *Message) error {
	if s.conn != nil {
		if err := s.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
	}
	s.frame, s.room = m.appendTo(append(s.frame[:0], 0, 0, 0, 0), s.room)
	binary.BigEndian.PutUint32(s.frame, uint32(len(s.frame)-4))
	_, err := s.out.Write(s.frame)
	return err
}

// Flush hands over what is kept.
func (s *Stream) Flush() error {
	if s.conn != nil {
		if err := s.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
	}
	return s.out.Flush()
}

// Close ends the stream, and waits until the reader on a socket has seen that.
func (s *Stream) Close() error {
	_, err := s.out.Write(appendControl(nil, controlStop, false))
	err = errors.Join(err, s.Flush())
	if s.file != nil {
		return errors.Join(err, s.file.Close())
	}
	if err == nil {
		if err = s.conn.SetReadDeadline(time.Now().Add(patience)); err == nil {
			err = readControl(s.conn, controlFinish)
		}
	}
	if err != nil {
		err = fmt.Errorf("end the stream: %w", err)
	}
	return errors.Join(err, s.conn.Close())
}
