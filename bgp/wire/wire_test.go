package wire

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// same compares messages: an empty slice says what a nil one says.
var same = cmp.Options{cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})}

func TestMessagesComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(anyMessage(), 1, 5).Draw(t, "messages")
		got, err := readAll(write(t, want...))
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Errorf("read and written messages differ (-written +read):\n%s", diff)
		}
	})
}

func TestSamePathIsWrittenOnce(t *testing.T) {
	path := Path{Origin: 64501, PathLength: 2, NeighbourASN: 64500, LocalPref: 100, Communities: []uint32{1, 2, 3}}
	one := Routes{Neighbour: 1, Changes: []Change{{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Path: path}}}
	two := Routes{Neighbour: 1, Changes: append(one.Changes,
		Change{Prefix: netip.MustParsePrefix("192.0.3.0/24"), Withdraw: true},
		Change{Prefix: netip.MustParsePrefix("203.0.113.0/24"), Path: path})}
	grown := len(write(t, two)) - len(write(t, one))
	if want := 2 * 5; grown != want {
		t.Errorf("a withdrawal and an announcement with a path known already took %d octets, want %d", grown, want)
	}
}

func TestLongRoutesGoOnInTheNextFrame(t *testing.T) {
	want := Routes{Neighbour: 7}
	for i := range 150_000 {
		p, _ := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).Prefix(32)
		want.Changes = append(want.Changes, Change{Prefix: p, Path: Path{Origin: uint32(i)}})
	}
	stream := write(t, want)
	messages, err := readAll(stream)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	got := Routes{Neighbour: 7}
	for _, m := range messages {
		got.Changes = append(got.Changes, m.(Routes).Changes...)
	}
	if least := len(stream) / MaxFrame; len(messages) <= least {
		t.Errorf("%d octets of routes came in %d frames, want more than %d", len(stream), len(messages), least)
	}
	equal := func(a, b Change) bool { return a.Prefix == b.Prefix && a.Path.Origin == b.Path.Origin }
	if !slices.EqualFunc(want.Changes, got.Changes, equal) {
		t.Errorf("%d routes became %d others by their division", len(want.Changes), len(got.Changes))
	}
}

func TestRefusesWhatIsNoFrame(t *testing.T) {
	tests := []struct {
		name   string
		stream []byte
		want   error // nil: any
	}{
		{"nothing at all", nil, io.EOF},
		{"head cut off", []byte{0, 0, 0}, io.ErrUnexpectedEOF},
		{"payload cut off", []byte{0, 0, 0, 9, byte(kindHello), 1}, io.ErrUnexpectedEOF},
		{"payload missing", []byte{0, 0, 0, 2, byte(kindHello)}, io.ErrUnexpectedEOF},
		{"no kind", []byte{0, 0, 0, 0, 0}, nil},
		{"unknown kind", []byte{0, 0, 0, 1, 200}, errKind},
		{"too long", []byte{0, 16, 0, 1, byte(kindRoutes)}, ErrTooLong},
		{"left over", []byte{0, 0, 0, 3, byte(kindHello), 1, 1}, errLeftOver},
		{"version too great", []byte{0, 0, 0, 4, byte(kindHello), 0xff, 0xff, 0x7f}, errRange},
		{"number without end", []byte{0, 0, 0, 3, byte(kindHello), 0x80, 0x80}, errShort},
		{"IPv4 prefix of 33 bits", []byte{0, 0, 0, 9, byte(kindRoutes), 1, changeWithdraw, 33, 1, 2, 3, 4, 5}, errRange},
		{"prefix of 255 bits", append([]byte{0, 0, 0, 20, byte(kindRoutes), 1, changeWithdraw | changeIPv6, 255}, make([]byte, 16)...), errRange},
		{"same path as none", []byte{0, 0, 0, 4, byte(kindRoutes), 1, changeSamePath, 0}, errRange},
		{"unknown flag", []byte{0, 0, 0, 4, byte(kindRoutes), 1, 0x80, 0}, errRange},
		{"more communities than octets", []byte{0, 0, 0, 10, byte(kindRoutes), 1, 0, 0, 1, 1, 1, 1, 1, 99}, errShort},
		{"more neighbours than octets", []byte{0, 0, 0, 5, byte(kindConfigure), 1, 0, 0x7f, 0}, errShort},
		{"address of three octets", []byte{0, 0, 0, 7, byte(kindConfigure), 1, 3, 1, 2, 3, 0}, errRange},
		{"unknown state", []byte{0, 0, 0, 12, byte(kindSession), 1, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0}, errRange},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := NewReader(bytes.NewReader(tt.stream)).Read()
			if err == nil {
				t.Fatalf("read %#v, want an error", m)
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error is %q, want %q in it", err, tt.want)
			}
			if tt.want == io.EOF && err != io.EOF {
				t.Errorf("error is %q, want a bare end", err)
			}
		})
	}
}

func TestBelievesNoLengthBeforeItsOctetsCome(t *testing.T) {
	head := []byte{0, 16, 0, 0, byte(kindRoutes), 1, 2, 3}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if _, err := NewReader(bytes.NewReader(head)).Read(); err == nil {
			t.Fatal("read a frame that was cut off")
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 100; each > 1<<14 {
		t.Errorf("a frame of 1 MiB of which 3 octets came took %d octets of memory", each)
	}
}

func TestTooLongAMessageIsNotWritten(t *testing.T) {
	var stream bytes.Buffer
	err := NewWriter(&stream).Write(Log{Text: string(make([]byte, MaxFrame))})
	if !errors.Is(err, ErrTooLong) || stream.Len() > 0 {
		t.Errorf("error is %v and %d octets were written, want %q and none", err, stream.Len(), ErrTooLong)
	}
}

func TestDeliberateIsThePartnersOwnEnd(t *testing.T) {
	tests := []struct {
		name string
		in   Reason
		want bool
	}{
		{"administrative shutdown", Reason{Cause: Received, Code: 6, Subcode: 2}, true},
		{"peer de-configured", Reason{Cause: Received, Code: 6, Subcode: 3}, true},
		{"hard reset", Reason{Cause: Received, Code: 6, Subcode: 9}, true},
		{"administrative reset", Reason{Cause: Received, Code: 6, Subcode: 4}, false},
		{"hold timer expired there", Reason{Cause: Received, Code: 4, Subcode: 0}, false},
		{"hold timer with a like subcode", Reason{Cause: Received, Code: 4, Subcode: 2}, false},
		{"our own shutdown", Reason{Cause: Sent, Code: 6, Subcode: 2}, false},
		{"lost", Reason{Cause: Lost}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.in.Deliberate(); got != tt.want {
				t.Errorf("%+v: deliberate is %v, want %v", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	for _, m := range examples() {
		f.Add(write(f, m))
	}
	f.Add([]byte{0, 16, 0, 0, byte(kindRoutes)})
	f.Fuzz(func(t *testing.T, stream []byte) {
		first, _ := readAll(stream)
		again, err := readAll(write(t, first...))
		if err != nil {
			t.Fatalf("reading what was read and written: %v", err)
		}
		if diff := cmp.Diff(first, again, same); diff != "" {
			t.Errorf("the second reading differs (-first +second):\n%s", diff)
		}
	})
}

func BenchmarkRoutes(b *testing.B) {
	m := Routes{Neighbour: 1}
	for i := range 1000 {
		p, _ := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}).Prefix(32)
		m.Changes = append(m.Changes, Change{Prefix: p, Path: Path{Origin: 64501 + uint32(i/8), PathLength: 3, LocalPref: 100, Communities: []uint32{1, 2, 3}}})
	}
	var stream bytes.Buffer
	w, r := NewWriter(&stream), NewReader(&stream)
	b.ReportAllocs()
	for b.Loop() {
		stream.Reset()
		if err := w.Write(m); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Read(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/change")
}

func write(t interface {
	Helper()
	Fatalf(string, ...any)
}, messages ...Message) []byte {
	t.Helper()
	var stream bytes.Buffer
	w := NewWriter(&stream)
	for _, m := range messages {
		if err := w.Write(m); err != nil {
			t.Fatalf("write %#v: %v", m, err)
		}
	}
	return stream.Bytes()
}

// readAll gives the messages up to the end or the first error; the end is none.
func readAll(stream []byte) ([]Message, error) {
	r := NewReader(bytes.NewReader(stream))
	var all []Message
	for {
		m, err := r.Read()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
}

func examples() []Message {
	path := Path{Origin: 4200000001, PathLength: 3, NeighbourASN: 64501, MED: 7, LocalPref: 100, Loop: true,
		Communities: []uint32{0xfbf50032}, Large: [][3]uint32{{64501, 1, 2}}}
	return []Message{
		Hello{Version: Version},
		Configure{ASN: 64512, RouterID: netip.MustParseAddr("192.0.2.53"), Neighbours: []Neighbour{{
			ID: 1, Address: netip.MustParseAddr("127.1.0.1"), Secret: "hush", ASN: 64501, HoldTime: 90 * time.Second,
			Keepalive: 30 * time.Second, IPv4: true, IPv6: true, AddPath: true, GracefulRestart: true}}},
		Stop{},
		Listening{Port: 40179},
		Session{Neighbour: 1, Reason: Reason{Cause: Received, Code: 6, Subcode: 2, Text: "cooling work"}},
		Session{Neighbour: 1, State: Up, ASN: 64501, RouterID: netip.MustParseAddr("192.0.2.1"), HoldTime: 90 * time.Second,
			IPv4: true, IPv6: true, AddPathIPv4: true, GracefulRestart: true, RestartTime: 120 * time.Second},
		Routes{Neighbour: 1, Changes: []Change{
			{Prefix: netip.MustParsePrefix("203.0.113.0/24"), PathID: 9, Path: path},
			{Prefix: netip.MustParsePrefix("2001:db8:100::/40"), Path: path},
			{Prefix: netip.MustParsePrefix("203.0.113.128/25"), Withdraw: true}}},
		EndOfRIB{Neighbour: 1, IPv6: true},
		Log{Level: slog.LevelWarn, Neighbour: 1, Text: "hold timer expired"},
		Alive{},
	}
}
