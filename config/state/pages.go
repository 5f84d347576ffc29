package state

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of a bbolt file, as far as it must be known to tell that bbolt can read it. Numbers
// are in the byte order of the machine. A page begins with its id (8 bytes), its kind (2), the
// number of its elements (2) and the number of pages that it runs on for (4).
const (
	pageHead    = 16
	elementSize = 16

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	headSize     = 64 // of the record behind the page head of pages 0 and 1
	headMagic    = 0xED0CDAED
	headVersion  = 2
	noFreelist   = ^uint64(0)
	bucketHead   = 16 // root page and sequence, in front of an inline page
	bucketFlag   = 0x01
	manyFree     = 0xFFFF // the real number is the first element
	smallestPage = 1 << 10
	largestPage  = 1 << 24
)

var order = binary.NativeEndian

// head is the record that says where everything is. There are two, written in turn, so that one is
// good when the writing of the other was cut short.
type head struct {
	pageSize    uint64
	root        uint64 // page of the bucket that holds the buckets
	freelist    uint64
	end         uint64 // the first page that was never used
	transaction uint64
}

// readHead gives the head on the page that starts at an offset.
func readHead(file io.ReaderAt, offset int64) (head, bool) {
	b := make([]byte, headSize)
	if _, err := file.ReadAt(b, offset+pageHead); err != nil {
		return head{}, false
	}
	sum := fnv.New64a()
	sum.Write(b[:headSize-8])
	good := order.Uint32(b) == headMagic && order.Uint32(b[4:]) == headVersion && order.Uint64(b[56:]) == sum.Sum64()
	return head{
		pageSize:    uint64(order.Uint32(b[8:])),
		root:        order.Uint64(b[16:]),
		freelist:    order.Uint64(b[32:]),
		end:         order.Uint64(b[40:]),
		transaction: order.Uint64(b[48:]),
	}, good
}

// latestHead gives the newer good head. It is torn when the other one is not good.
func latestHead(file io.ReaderAt, size int64) (h head, torn bool, err error) {
	first, good := readHead(file, 0)
	if !good {
		for offset := int64(smallestPage); offset <= largestPage && offset < size; offset *= 2 {
			if second, good := readHead(file, offset); good && second.pageSize == uint64(offset) {
				return second, true, nil
			}
		}
		return head{}, false, fmt.Errorf("%w: neither of its two heads is good", errDamaged)
	}
	second, good := readHead(file, int64(first.pageSize))
	if good && second.transaction > first.transaction {
		return second, false, nil
	}
	return first, !good, nil
}

// pages reads the pages of a file, each at most once, and never believes one: what it gives is
// in bounds, of a known kind, and in order. Every error is errDamaged.
type pages struct {
	file io.ReaderAt
	head head
	used []bool // by page id
}

func newPages(file io.ReaderAt, size int64, h head) (*pages, error) {
	p := &pages{file: file, head: h}
	if h.pageSize < smallestPage || h.pageSize > largestPage || h.pageSize&(h.pageSize-1) != 0 {
		return nil, fmt.Errorf("%w: pages of %d bytes", errDamaged, h.pageSize)
	}
	if h.end < 4 || h.end > uint64(size)/h.pageSize {
		return nil, fmt.Errorf("%w: %d bytes cannot hold %d pages", errDamaged, size, h.end)
	}
	p.used = make([]bool, h.end)
	p.used[0], p.used[1] = true, true
	return p, nil
}

func (p *pages) damaged(id uint64, format string, args ...any) error {
	return fmt.Errorf("%w: page %d: %s", errDamaged, id, fmt.Sprintf(format, args...))
}

// use marks n pages as in use: nothing may be used twice, or past the end.
func (p *pages) use(id, n uint64) error {
	if id >= p.head.end || n > p.head.end-id {
		return p.damaged(id, "past the end at %d", p.head.end)
	}
	for i := id; i < id+n; i++ {
		if p.used[i] {
			return p.damaged(i, "used twice")
		}
		p.used[i] = true
	}
	return nil
}

// read gives a page, with the pages that it runs on for.
func (p *pages) read(id uint64) ([]byte, error) {
	if err := p.use(id, 1); err != nil {
		return nil, err
	}
	size := p.head.pageSize
	page := make([]byte, size)
	if _, err := p.file.ReadAt(page, int64(id*size)); err != nil {
		return nil, p.damaged(id, "%v", err)
	}
	if named := order.Uint64(page); named != id {
		return nil, p.damaged(id, "says that it is page %d", named)
	}
	more := uint64(order.Uint32(page[12:]))
	if more == 0 {
		return page, nil
	}
	if err := p.use(id+1, more); err != nil {
		return nil, err
	}
	page = append(page, make([]byte, more*size)...)
	if _, err := p.file.ReadAt(page[size:], int64((id+1)*size)); err != nil {
		return nil, p.damaged(id, "%v", err)
	}
	return page, nil
}

// element is one line of a leaf page.
type element struct {
	bucket     bool // value is the head of a bucket
	key, value []byte
}

// span is what the branch above a page says of its keys: the first of them, and the one before
// which all of them come. Nil is for a page that has no such branch. bbolt finds a page again by its
// first key, so a branch that names another one would make it use pages twice.
type span struct{ first, end []byte }

// holds tells whether a key may follow another on a page; the first key of a page follows nil.
func (s span) holds(key, last []byte) bool {
	switch {
	case s.end != nil && string(key) >= string(s.end):
		return false
	case last == nil:
		return s.first == nil || string(key) == string(s.first)
	}
	return string(key) > string(last)
}

// walk visits what lies below a page in the order of the keys.
func (p *pages) walk(id uint64, in span, visit func(element) error) error {
	page, err := p.read(id)
	if err != nil {
		return err
	}
	switch kind := order.Uint16(page[8:]); kind {
	case branchPage:
		return p.walkBranch(id, page, in, visit)
	case leafPage:
		return p.walkLeaf(id, page, in, visit)
	default:
		return p.damaged(id, "kind %#x in a tree", kind)
	}
}

// walkBranch visits the pages below a branch. An element is: where its key stands (4 bytes, counted from
// the element), the key's length (4), the page (8).
func (p *pages) walkBranch(id uint64, page []byte, in span, visit func(element) error) error {
	count, err := p.count(id, page)
	if err != nil {
		return err
	}
	if count == 0 {
		return p.damaged(id, "a branch without leaves")
	}
	keys := make([][]byte, count+1)
	keys[count] = in.end
	var last []byte
	for i := range count {
		at := pageHead + i*elementSize
		if keys[i], _, err = p.text(id, page, at, at, 0); err != nil {
			return err
		}
		if !in.holds(keys[i], last) {
			return p.damaged(id, "key %d is out of order", i)
		}
		last = keys[i]
	}
	for i := range count {
		child := order.Uint64(page[pageHead+i*elementSize+8:])
		if err := p.walk(child, span{keys[i], keys[i+1]}, visit); err != nil {
			return err
		}
	}
	return nil
}

// walkLeaf visits the elements of a leaf page. An element is: flags (4 bytes), where its key stands (4,
// counted from the element), the lengths of key (4) and value (4), which stand together.
func (p *pages) walkLeaf(id uint64, page []byte, in span, visit func(element) error) error {
	count, err := p.count(id, page)
	if err != nil {
		return err
	}
	if count == 0 && in.first != nil {
		return p.damaged(id, "a leaf without elements below a branch")
	}
	var last []byte
	for i := range count {
		at := pageHead + i*elementSize
		flags, valueSize := order.Uint32(page[at:]), order.Uint32(page[at+12:])
		key, value, err := p.text(id, page, at, at+4, valueSize)
		if err != nil {
			return err
		}
		if flags&^bucketFlag != 0 || !in.holds(key, last) {
			return p.damaged(id, "element %d is out of order", i)
		}
		if err := visit(element{bucket: flags == bucketFlag, key: key, value: value}); err != nil {
			return err
		}
		last = key
	}
	return nil
}

// count gives the number of elements of a page, all of which are in it.
func (p *pages) count(id uint64, page []byte) (int, error) {
	count := int(order.Uint16(page[10:]))
	if pageHead+count*elementSize > len(page) {
		return 0, p.damaged(id, "%d elements are more than it has room for", count)
	}
	return count, nil
}

// text gives the key, and the value behind it, of the element at an offset, whose two numbers for
// the key stand at another.
func (p *pages) text(id uint64, page []byte, at, numbers int, valueSize uint32) (key, value []byte, err error) {
	start := uint64(at) + uint64(order.Uint32(page[numbers:]))
	middle := start + uint64(order.Uint32(page[numbers+4:]))
	end := middle + uint64(valueSize)
	if start == middle || end > uint64(len(page)) {
		return nil, nil, p.damaged(id, "an element reaches out of it")
	}
	return page[start:middle], page[middle:end], nil
}

// free marks what the freelist holds: no page that is in use, none twice, in order.
func (p *pages) free() error {
	id := p.head.freelist
	page, err := p.read(id)
	if err != nil {
		return err
	}
	if kind := order.Uint16(page[8:]); kind != freelistPage {
		return p.damaged(id, "kind %#x where the freelist should be", kind)
	}
	ids, count := page[pageHead:], uint64(order.Uint16(page[10:]))
	if count == manyFree {
		count, ids = order.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids))/8 {
		return p.damaged(id, "more free pages than it has room for")
	}
	for i := range count {
		if err := p.use(order.Uint64(ids[i*8:]), 1); err != nil {
			return err
		}
	}
	return nil
}

// complete tells whether every page is in use or free, as bbolt leaves them.
func (p *pages) complete() error {
	for id, used := range p.used {
		if !used {
			return p.damaged(uint64(id), "neither used nor free")
		}
	}
	return nil
}
