package dns

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestMessagesAreReadWhole(t *testing.T) {
	for _, n := range []int{0, 1, 12, 511, 512, 513, 2048, 2049, 2050, 4096, 65535} {
		message := bytes.Repeat([]byte("message"), n)[:n]
		stream := binary.BigEndian.AppendUint16(nil, uint16(n))
		stream = append(append(stream, message...), "what follows"...)
		for name, r := range map[string]io.Reader{
			"at once": bytes.NewReader(stream), "in pieces": iotest.HalfReader(bytes.NewReader(stream)), "octet by octet": iotest.OneByteReader(bytes.NewReader(stream)),
		} {
			got, err := readMessage(r, make([]byte, 0, 64))
			want := message[:min(n, requestSize+1)] // so much is not taken for the whole
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d octets %s: got %d: %v", n, name, len(got), err)
			}
			if rest, _ := io.ReadAll(r); string(rest) != "what follows" {
				t.Errorf("%d octets %s: %d are left", n, name, len(rest))
			}
		}
	}
}

func TestClaimedLengthTakesNoMemory(t *testing.T) {
	r := &watched{Reader: strings.NewReader("\xff\xffonly this")}
	if _, err := readMessage(r, nil); err != io.ErrUnexpectedEOF {
		t.Errorf("error %v", err)
	}
	if r.most > 1024 {
		t.Errorf("%d octets were made ready for a message that did not come", r.most)
	}
}

// watched notes the most octets that are asked for at once.
type watched struct {
	io.Reader
	most int
}

func (w *watched) Read(p []byte) (int, error) {
	w.most = max(w.most, len(p))
	return w.Reader.Read(p)
}
