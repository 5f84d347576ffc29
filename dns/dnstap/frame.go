package dnstap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Frame Streams: every frame stands behind its length of 32 bits; one of length 0 announces a control frame.
const (
	controlAccept = 1
	controlStart  = 2
	controlStop   = 3
	controlReady  = 4
	controlFinish = 5

	fieldContentType = 1

	controlMost = 512 // octets of a control frame
)

// contentType is what the frames hold.
const contentType = "protobuf:dnstap.Dnstap"

// appendControl writes a control frame; with what the stream holds, where that is to be told.
func appendControl(b []byte, kind uint32, told bool) []byte {
	size := 4
	if told {
		size += 8 + len(contentType)
	}
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	b = binary.BigEndian.AppendUint32(b, kind)
	if told {
		b = binary.BigEndian.AppendUint32(b, fieldContentType)
		b = binary.BigEndian.AppendUint32(b, uint32(len(contentType)))
		b = append(b, contentType...)
	}
	return b
}

// errNotAccepted says that the reader wants no dnstap.
var errNotAccepted = errors.New("the reader does not take " + contentType)

// readControl reads a control frame of one kind, and tells whether it names our content or none at all.
func readControl(r io.Reader, kind uint32) error {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[4:])
	if binary.BigEndian.Uint32(head[:]) != 0 || size < 4 || size > controlMost {
		return errors.New("the reader does not speak Frame Streams")
	}
	if got := binary.BigEndian.Uint32(head[8:]); got != kind {
		return fmt.Errorf("the reader says %d where %d is due", got, kind)
	}
	fields := make([]byte, size-4)
	if _, err := io.ReadFull(r, fields); err != nil {
		return err
	}
	return accepts(fields)
}

// accepts looks for our content type among the fields of a control frame.
func accepts(fields []byte) error {
	named := false
	for len(fields) >= 8 {
		kind, size := binary.BigEndian.Uint32(fields), binary.BigEndian.Uint32(fields[4:])
		fields = fields[8:]
		if uint64(size) > uint64(len(fields)) {
			break
		}
		if kind == fieldContentType {
			if string(fields[:size]) == contentType {
				return nil
			}
			named = true
		}
		fields = fields[size:]
	}
	if named {
		return errNotAccepted
	}
	return nil
}
