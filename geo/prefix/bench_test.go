package prefix

import (
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

var (
	sinkTable *Table
	sinkSpan  int
)

// BenchmarkLookupInAMillion looks up clients among a million prefixes, half of them inside one and half anywhere, no two near
// each other: one after the other; and, where it says cold, in rounds, each of which is followed by one of reads of memory too
// large for the caches, so that they are emptied. Each of these reads needs the one before: it is what a look-up takes that
// misses once. Time of the rounds is that of the processor, which other programs do not take part in; but they share its
// caches, so on a shared machine trust min-ns, and reads: the median of a look-up as so many such reads.
func BenchmarkLookupInAMillion(b *testing.B) {
	const million = 1_000_000
	for _, c := range []struct {
		name   string
		prefix func(*rand.Rand) netip.Prefix
	}{
		{"IPv4", func(r *rand.Rand) netip.Prefix { return key{high: r.Uint64()}.prefix4(mostly(r, 24, 16)).Masked() }},
		{"IPv4-24", func(r *rand.Rand) netip.Prefix { return key{high: r.Uint64()}.prefix4(24).Masked() }},
		{"mixed", func(r *rand.Rand) netip.Prefix { // four of five IPv4; IPv6 are customers of 20,000 networks of 2000::/3
			if r.IntN(5) > 0 {
				return key{high: r.Uint64()}.prefix4(mostly(r, 24, 16)).Masked()
			}
			network := rand.New(rand.NewPCG(r.Uint64N(20_000), 7)).Uint64()
			return key{high: 1<<61 | network>>3&^(1<<32-1) | r.Uint64N(1<<32)}.prefix6(mostly(r, 48, 32)).Masked()
		}},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		w := make(twin, million)
		for i := range w {
			w[i] = network{c.prefix(r), r.Uint32N(250)}
		}
		size := megabytes(w.table)
		table, clients := sinkTable, strangers(r, w)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_, sinkSpan = table.Lookup(clients[i%len(clients)])
			}
			b.ReportMetric(size, "table-MB")
		})
		b.Run(c.name+"-cold", func(b *testing.B) { race(b, table, clients) })
		runtime.KeepAlive(w)
	}
}

// mostly draws a length: in six of ten cases the longest.
func mostly(r *rand.Rand, longest, shortest int) int {
	if r.IntN(10) < 6 {
		return longest
	}
	return shortest + r.IntN(longest-shortest)
}

// strangers are clients of which no two are near each other: one inside a network, one anywhere in its family, and so on.
func strangers(r *rand.Rand, w twin) []netip.Addr {
	clients := make([]netip.Addr, 1<<18)
	for i := range clients {
		p := w[r.IntN(len(w))].prefix
		k := keyOf(p.Addr())
		switch anywhere := r.Uint64(); {
		case i%2 == 0:
			k.high |= anywhere >> p.Bits()
		case p.Addr().Is6():
			k.high = 1<<61 | anywhere>>3
		default:
			k.high = anywhere
		}
		clients[i] = k.prefix6(128).Addr()
		if p.Addr().Is4() {
			clients[i] = k.prefix4(32).Addr()
		}
	}
	return clients
}

// race times rounds of look-ups and of reads in turns.
func race(b *testing.B, table *Table, clients []netip.Addr) {
	const round = 1 << 14
	memory := make([]uint32, 1<<24) // each holds the place of the next, on one way through all
	for i := range memory {
		memory[i] = uint32(i)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for i := len(memory) - 1; i > 0; i-- {
		j := r.IntN(i)
		memory[i], memory[j] = memory[j], memory[i]
	}
	var lookups, reads []float64
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	timed := func(each func(i int)) float64 {
		start := threadTime(b)
		for i := range round {
			each(i)
		}
		return float64(threadTime(b)-start) / round
	}
	b.ReportAllocs()
	var next uint32
	for begin := 0; b.Loop(); begin = (begin + round) % len(clients) {
		lookups = append(lookups, timed(func(i int) { _, sinkSpan = table.Lookup(clients[begin+i]) }))
		reads = append(reads, timed(func(int) { next = memory[next] }))
	}
	sinkSpan = int(next)
	slices.Sort(lookups)
	slices.Sort(reads)
	b.ReportMetric(0, "ns/op") // of a round, which nobody asks for
	b.ReportMetric(lookups[0], "min-ns")
	b.ReportMetric(lookups[len(lookups)/2], "median-ns")
	b.ReportMetric(reads[len(reads)/2], "read-ns")
	b.ReportMetric(lookups[len(lookups)/2]/reads[len(reads)/2], "reads")
}

// threadTime is the nanoseconds that this thread has had a processor.
func threadTime(tb testing.TB) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		tb.Fatal(err)
	}
	return t.Nano()
}

// BenchmarkLookupOfFew looks up so few clients that what is read for them stays in the processor.
func BenchmarkLookupOfFew(b *testing.B) {
	w := random(500_000)
	table, clients := w.table(), strangers(rand.New(rand.NewPCG(3, 4)), w)[:1<<10]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, sinkSpan = table.Lookup(clients[i%len(clients)])
	}
}

func BenchmarkBuild(b *testing.B) {
	w := random(500_000)
	b.ReportAllocs()
	for b.Loop() {
		sinkTable = w.table()
	}
	b.ReportMetric(megabytes(w.table), "table-MB")
	runtime.KeepAlive(w)
}

func BenchmarkOverlay(b *testing.B) {
	w := random(500_000)
	x, y := w[:250_000].table(), w[250_000:].table()
	b.ReportAllocs()
	for b.Loop() {
		sinkTable = Overlay(x, y, func(x, y uint32) uint32 { return max(x, y) })
	}
}

func BenchmarkReplace(b *testing.B) {
	w := random(500_000)
	table, one := w.table(), twin(w[:1]).table()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		sinkTable = table.Replace(w[i%len(w)].prefix, one)
	}
}

func BenchmarkMap(b *testing.B) {
	table := random(500_000).table()
	b.ReportAllocs()
	for b.Loop() {
		sinkTable = table.Map(func(x uint32) uint32 { return x % 8 })
	}
}

// megabytes is what a table keeps on the heap.
func megabytes(table func() *Table) float64 {
	var before, after runtime.MemStats
	sinkTable = nil
	runtime.GC()
	runtime.ReadMemStats(&before)
	sinkTable = table()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / (1 << 20)
}
