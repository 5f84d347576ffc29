package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// MaxFrame is the greatest length of a frame's kind and payload, in octets.
	MaxFrame = 1 << 20

	header     = 5       // octets of length and kind
	fullRoutes = 1 << 18 // octets after which a Routes goes on in the next frame
)

// ErrTooLong says that a frame is longer than [MaxFrame].
var ErrTooLong = errors.New("frame too long")

// Writer writes messages as frames. It is not safe for concurrent use.
type Writer struct {
	dst io.Writer
	buf []byte
}

// NewWriter makes a Writer. It does not buffer: a message is on its way when Write returns.
func NewWriter(dst io.Writer) *Writer { return &Writer{dst: dst} }

// Write writes one message. A Routes is divided over as many frames as it needs.
func (w *Writer) Write(m Message) error {
	if r, ok := m.(Routes); ok {
		return w.routes(r)
	}
	w.begin(m.kind())
	w.buf = m.appendTo(w.buf)
	return w.end()
}

func (w *Writer) begin(k kind) { w.buf = append(w.buf[:0], 0, 0, 0, 0, byte(k)) }

func (w *Writer) end() error {
	n := len(w.buf) - header + 1
	if n > MaxFrame {
		return fmt.Errorf("%w: %d octets", ErrTooLong, n)
	}
	binary.BigEndian.PutUint32(w.buf, uint32(n))
	if _, err := w.dst.Write(w.buf); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

func (w *Writer) routes(m Routes) error {
	for {
		var n int
		w.begin(kindRoutes)
		w.buf, n = m.appendUntil(w.buf, fullRoutes)
		if err := w.end(); err != nil {
			return err
		}
		if m.Changes = m.Changes[n:]; len(m.Changes) == 0 {
			return nil
		}
	}
}

// Reader reads messages from frames. It is not safe for concurrent use.
type Reader struct {
	src io.Reader
	buf bytes.Buffer
}

// NewReader makes a Reader. It reads no octet beyond the frame that it was asked for.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

// Read reads one message. The error is io.EOF when the source ends between two frames. After any
// error the stream has lost its frames: there is nothing more to read from it.
func (r *Reader) Read() (Message, error) {
	var head [header]byte
	if _, err := io.ReadFull(r.src, head[:]); err == io.EOF {
		return nil, io.EOF
	} else if err != nil {
		return nil, fmt.Errorf("read head of frame: %w", err)
	}
	n := binary.BigEndian.Uint32(head[:4])
	if n == 0 {
		return nil, errors.New("frame without a kind")
	}
	if n > MaxFrame {
		return nil, fmt.Errorf("%w: %d octets", ErrTooLong, n)
	}
	r.buf.Reset()
	if _, err := io.CopyN(&r.buf, r.src, int64(n)-1); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read frame of %d octets: %w", n, err)
	}
	return decode(kind(head[4]), r.buf.Bytes())
}
