package dnstap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"gslb/dns/dnstap"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 42, time.UTC)

func message() *dnstap.Message {
	return &dnstap.Message{
		Identity: "ns1", Version: "gslb 1.0", Extra: "place=nsk", Client: netip.MustParseAddr("2001:db8::1"), Over: dnstap.DOQ,
		Asked: noon, Answered: noon.Add(time.Millisecond), Query: []byte("question"), Reply: []byte("answer"),
	}
}

// fields takes a protobuf message apart: by number the varints, fixed numbers and octets.
func fields(t *testing.T, b []byte) map[protowire.Number]any {
	t.Helper()
	all := map[protowire.Number]any{}
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		b = b[size:]
		switch kind {
		case protowire.VarintType:
			all[n], size = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			all[n], size = protowire.ConsumeFixed32(b)
		default:
			var octets []byte
			octets, size = protowire.ConsumeBytes(b)
			all[n] = string(octets)
		}
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		b = b[size:]
	}
	return all
}

// framed gives messages as a stream frames them, one after the other.
func framed(t *testing.T, messages ...*dnstap.Message) [][]byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tap.fstrm")
	s, err := dnstap.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if err := s.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := frames(t, bytes.NewReader(text))
	return data
}

func TestMessagesHaveTheFieldsOfTheProtocol(t *testing.T) {
	m := message()
	m.Reply, m.Client = nil, netip.MustParseAddr("192.0.2.1")
	written := framed(t, message(), m)
	top := fields(t, written[0])
	inner := fields(t, []byte(top[14].(string)))
	for n, want := range map[protowire.Number]any{1: "ns1", 2: "gslb 1.0", 3: "place=nsk", 15: uint64(1)} {
		if top[n] != want {
			t.Errorf("field %d is %v, want %v", n, top[n], want)
		}
	}
	address := netip.MustParseAddr("2001:db8::1").As16()
	for n, want := range map[protowire.Number]any{
		1: uint64(2), 2: uint64(2), 3: uint64(7), 4: string(address[:]), 8: uint64(noon.Unix()), 9: uint32(42), 10: "question",
		12: uint64(noon.Unix()), 13: uint32(1000042), 14: "answer",
	} {
		if inner[n] != want {
			t.Errorf("field %d of the message is %v, want %v", n, inner[n], want)
		}
	}
	inner = fields(t, []byte(fields(t, written[1])[14].(string)))
	if inner[1] != uint64(1) || inner[2] != uint64(1) || inner[14] != nil || inner[12] != nil {
		t.Errorf("a question without an answer: %v", inner)
	}
}

// frames reads a stream: data frames as they are, control frames by their kind.
func frames(t *testing.T, r io.Reader) (data [][]byte, controls []uint32) {
	t.Helper()
	for {
		var size uint32
		if err := binary.Read(r, binary.BigEndian, &size); errors.Is(err, io.EOF) {
			return data, controls
		} else if err != nil {
			t.Fatal(err)
		}
		control := size == 0
		if control {
			if err := binary.Read(r, binary.BigEndian, &size); err != nil {
				t.Fatal(err)
			}
		}
		frame := make([]byte, size)
		if _, err := io.ReadFull(r, frame); err != nil {
			t.Fatal(err)
		}
		if control {
			controls = append(controls, binary.BigEndian.Uint32(frame))
		} else {
			data = append(data, frame)
		}
	}
}

func TestFilesAreStreamsAndKeepTheOneBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tap.fstrm")
	for range 2 {
		s, err := dnstap.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := s.Write(message()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{path, path + ".1"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data, controls := frames(t, bytes.NewReader(text))
		if len(data) != 3 || len(controls) != 2 || controls[0] != 2 || controls[1] != 3 {
			t.Errorf("%s: %d frames between %v", file, len(data), controls)
		}
	}
}

// What is no file is not moved away: a folder would go with all that is in it.
func TestOnlyFilesAreMovedAside(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "gslb")
	if err := os.MkdirAll(filepath.Join(folder, "keys"), 0o755); err != nil {
		t.Fatal(err)
	}
	if s, err := dnstap.Create(folder); err == nil {
		t.Errorf("a folder was made a stream: %v", s.Close())
	} else if !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "keys")); err != nil {
		t.Errorf("the folder has gone: %v", err)
	}
}

// A reader that wants something else, or speaks something else, is left.
func TestReadersMustAgree(t *testing.T) {
	control := func(kind uint32, content string) []byte {
		b := binary.BigEndian.AppendUint32(nil, 0)
		size := 4
		if content != "" {
			size += 8 + len(content)
		}
		b = binary.BigEndian.AppendUint32(b, uint32(size))
		b = binary.BigEndian.AppendUint32(b, kind)
		if content != "" {
			b = binary.BigEndian.AppendUint32(b, 1)
			b = binary.BigEndian.AppendUint32(b, uint32(len(content)))
			b = append(b, content...)
		}
		return b
	}
	for name, c := range map[string]struct {
		says []byte
		good bool
	}{
		"our content":     {control(1, "protobuf:dnstap.Dnstap"), true},
		"any content":     {control(1, ""), true},
		"another content": {control(1, "text"), false},
		"another control": {control(5, ""), false},
		"another tongue":  {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), false},
		"silence":         {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				_, _ = conn.Write(c.says)
				expected := int64(42) // READY
				if c.good {
					expected += 42 // START
				}
				_, _ = io.CopyN(io.Discard, conn, expected)
			}()
			s, err := dnstap.Dial(path)
			if (err == nil) != c.good {
				t.Errorf("got %v", err)
			}
			if s != nil {
				_ = s.Close() // the reader is gone already
			}
			<-ended
		})
	}
}

// What a message is put together in is used again.
func TestWritingDoesNotAllocate(t *testing.T) {
	s, err := dnstap.Create(filepath.Join(t.TempDir(), "tap.fstrm"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := message()
	write := func() {
		if err := s.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if n := testing.AllocsPerRun(100, write); n > 1 { // the octets of an address
		t.Errorf("a message takes %v allocations", n)
	}
}
