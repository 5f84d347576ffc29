package geo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// cities writes a database of the GeoIP2 City schema with very many networks, by hand: to insert them one by one
// takes minutes. The networks are all of 22 bits, some of them halved, and lie in 300,000 places, of which neighbours
// have different ones.
type cities struct {
	tree    []uint32 // two records a node; a record below nodes is a node, above it a place
	nodes   uint32
	places  []int // offsets of the data of each place
	data    bytes.Buffer
	records uint32 // networks so far
}

const (
	cityDepth   = 22
	cityPlaces  = 300_000
	halvedEvery = 9 // of so many networks of 22 bits four are halved: 6 million in all
)

func manyCities() []byte {
	c := &cities{}
	for i := range cityPlaces {
		c.places = append(c.places, c.data.Len())
		c.place(i)
	}
	const v4 = 96 // nodes on the way to ::/96
	leaves := uint32(1) << cityDepth
	c.nodes = v4 + leaves - 1 + leaves/halvedEvery*4 + min(leaves%halvedEvery, 4)
	for i := range uint32(v4) {
		c.tree = append(c.tree, i+1, c.nodes) // the other branch holds nothing
	}
	for level := range cityDepth - 1 {
		first := v4 + uint32(1)<<(level+1) - 1 // of the next level
		for i := range uint32(1) << level {
			c.tree = append(c.tree, first+2*i, first+2*i+1)
		}
	}
	halved := v4 + leaves - 1
	for i := range leaves {
		if i%halvedEvery < 4 {
			c.tree = append(c.tree, halved)
			halved++
		} else {
			c.tree = append(c.tree, c.network())
		}
	}
	for len(c.tree) < 2*int(c.nodes) {
		c.tree = append(c.tree, c.network())
	}
	return c.file()
}

// network is the record of one more network.
func (c *cities) network() uint32 {
	c.records++
	return c.nodes + 16 + uint32(c.places[c.records*7919%cityPlaces])
}

func (c *cities) place(i int) {
	c.mapping(4)
	c.text("country")
	c.mapping(1)
	c.text("iso_code")
	c.text(string([]byte{'A' + byte(i%26), 'A' + byte(i/26%26)}))
	c.text("subdivisions")
	c.data.Write([]byte{1, 11 - 7}) // a list of one
	c.mapping(1)
	c.text("iso_code")
	c.text(fmt.Sprintf("%03d", i%1000))
	c.text("city")
	c.mapping(1)
	c.text("names")
	c.mapping(1)
	c.text("en")
	c.text(fmt.Sprintf("City %d", i))
	c.text("location")
	c.mapping(2)
	c.text("latitude")
	c.double(float64(i%1700)/10 - 85)
	c.text("longitude")
	c.double(float64(i%3590)/10 - 179)
}

func (c *cities) mapping(n int) { c.data.WriteByte(7<<5 | byte(n)) }

func (c *cities) text(s string) {
	c.data.WriteByte(2<<5 | byte(len(s))) // shorter than 29
	c.data.WriteString(s)
}

func (c *cities) double(f float64) {
	c.data.WriteByte(3<<5 | 8)
	c.data.Write(binary.BigEndian.AppendUint64(nil, math.Float64bits(f)))
}

func (c *cities) number(n uint32) {
	c.data.WriteByte(6<<5 | 4)
	c.data.Write(binary.BigEndian.AppendUint32(nil, n))
}

func (c *cities) file() []byte {
	file := make([]byte, 0, 8*len(c.tree)/2+c.data.Len()+1024)
	for _, r := range c.tree {
		file = binary.BigEndian.AppendUint32(file, r)
	}
	file = append(file, make([]byte, 16)...)
	file = append(file, c.data.Bytes()...)
	c.data.Reset()
	c.mapping(7)
	for _, m := range []struct {
		key   string
		value uint32
	}{{"node_count", c.nodes}, {"record_size", 32}, {"ip_version", 6}, {"binary_format_major_version", 2}, {"build_epoch", 1764417600}, {"binary_format_minor_version", 0}} {
		c.text(m.key)
		c.number(m.value)
	}
	c.text("database_type")
	c.text("Test-City")
	return append(append(file, "\xab\xcd\xefMaxMind.com"...), c.data.Bytes()...)
}

// BenchmarkOpenManyCities reads six million networks, and tells how much more memory was in use meanwhile than before,
// and how much the map keeps.
func BenchmarkOpenManyCities(b *testing.B) {
	content := manyCities()
	path := write(b, b.TempDir(), "city.mmdb", content)
	size := float64(len(content))
	content = nil
	before := heap()
	var most atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				most.Store(max(most.Load(), inUse()))
			}
		}
	}()
	var m *Map
	for b.Loop() {
		m = nil
		var err error
		if m, err = Open(Files{Database: path}); err != nil {
			b.Fatal(err)
		}
	}
	close(stop)
	<-done
	b.ReportMetric(size/1e6, "file-MB")
	b.ReportMetric((float64(most.Load())-float64(before))/1e6, "peak-MB")
	b.ReportMetric((float64(heap())-float64(before))/1e6, "live-MB")
	b.ReportMetric(float64(m.Len()), "locations")
	runtime.KeepAlive(m)
}

// heap is the bytes of all that is alive.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	return inUse()
}

// inUse is the bytes of the heap, with what is dead and not yet swept.
func inUse() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
