package screen

import "testing"

// common is an UPDATE as a route server sends many of: a few prefixes, a short path, communities.
func common() []byte {
	return updateOf(nil, [][]byte{
		origin(0), sequence(64501, 64502, 64503), via("192.0.2.1"), attr(0x80, 4, u32(10)),
		attr(0xc0, 8, u32(0xfbf50032), u32(0xfbf50033), u32(0xfbf50034)), attr(0xc0, 32, u32(64501), u32(1), u32(2)),
	}, net("203.0.113.0/24", "198.51.100.0/24", "192.0.2.0/25", "10.0.0.0/8"))
}

func benchmark(b *testing.B, s Session, m []byte) {
	b.ReportAllocs()
	b.SetBytes(int64(len(m)))
	for b.Loop() {
		if v, _ := s.Screen(m); v.Forward == nil {
			b.Fatal("not forwarded")
		}
	}
}

func BenchmarkCommonUpdate(b *testing.B) { benchmark(b, both(), common()) }

func BenchmarkCommonUpdateOfTwoOctets(b *testing.B) {
	m := updateOf(nil, [][]byte{
		origin(0), path(segment2(asSequence, 64501, 64502, asTrans)), via("192.0.2.1"),
		attr(0xc0, 17, segment4(asSequence, 64502, 70000)),
	}, net("203.0.113.0/24", "198.51.100.0/24"))
	benchmark(b, twoOctet(), m)
}

func BenchmarkIPv6Update(b *testing.B) {
	benchmark(b, both(), updateOf(nil, [][]byte{reach6(), origin(0), sequence(64501, 64502)}, nil))
}

func BenchmarkFullUpdate(b *testing.B) {
	nlri := []byte{}
	for i := range 900 {
		nlri = append(nlri, 24, 10, byte(i>>8), byte(i))
	}
	benchmark(b, both(), updateOf(nil, [][]byte{usual()}, nlri))
}

func BenchmarkMalformedUpdate(b *testing.B) { benchmark(b, both(), announces(origin(9), without(1))) }

func BenchmarkKeepalive(b *testing.B) { benchmark(b, both(), message(typeKeepalive)) }

func TestCommonMessagesAllocateOnceOrNever(t *testing.T) {
	for _, c := range []struct {
		name    string
		message []byte
		want    float64
	}{
		{"UPDATE", common(), 1},
		{"IPv6 UPDATE", updateOf(nil, [][]byte{reach6(), origin(0), sequence(64501, 64502)}, nil), 1},
		{"malformed UPDATE", announces(origin(9), without(1)), 1},
		{"KEEPALIVE", message(typeKeepalive), 0},
	} {
		s := both()
		if got := testing.AllocsPerRun(100, func() { s.Screen(c.message) }); got > c.want {
			t.Errorf("%s: %v allocations, want %v", c.name, got, c.want)
		}
	}
}
