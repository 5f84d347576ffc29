package state

import (
	"fmt"
	"io"
	"strconv"
)

// inspect reads a whole file, without bbolt and without a mapping, and tells whether bbolt can be
// trusted with it and every value is what was written. The error is errDamaged, ErrNewer or
// ErrForeign. A torn file is good, but has only one of its two heads.
//
// It holds one path of the tree in memory at a time, and takes as long as reading the file.
func inspect(file io.ReaderAt, size int64) (torn bool, err error) {
	h, torn, err := latestHead(file, size)
	if err != nil {
		return false, err
	}
	p, err := newPages(file, size, h)
	if err != nil {
		return false, err
	}
	buckets := map[string][]byte{}
	err = p.walk(h.root, span{}, func(e element) error {
		if !e.bucket {
			return fmt.Errorf("%w: a value outside of every bucket", errDamaged)
		}
		buckets[string(e.key)] = e.value
		return nil
	})
	if err != nil {
		return false, err
	}
	if err := p.inspectBuckets(buckets); err != nil {
		return false, err
	}
	if h.freelist == noFreelist {
		return torn, nil
	}
	if err := p.free(); err != nil {
		return false, err
	}
	return torn, p.complete()
}

// inspectBuckets reads every bucket: first the one that says what the others look like.
func (p *pages) inspectBuckets(buckets map[string][]byte) error {
	if len(buckets) == 0 {
		return nil // the first start was cut short between making the file and writing to it
	}
	schema, hasSchema := buckets[schemaBucket]
	_, hasJournal := buckets[journalBucket]
	// Of two names, damage in one place spoils at most one.
	if !hasSchema && !hasJournal {
		return ErrForeign
	}
	if !hasSchema || !hasJournal {
		return fmt.Errorf("%w: bucket %q or %q is not there", errDamaged, schemaBucket, journalBucket)
	}
	version := ""
	err := p.inspectBucket(schemaBucket, schema, func(key string, value []byte) {
		if key == versionKey {
			version = string(value)
		}
	})
	if err != nil {
		return err
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	delete(buckets, schemaBucket)
	for name, value := range buckets {
		if err := p.inspectBucket(name, value, func(string, []byte) {}); err != nil {
			return err
		}
	}
	return nil
}

func checkVersion(text string) error {
	version, err := strconv.Atoi(text)
	if err != nil || version < 1 {
		return fmt.Errorf("%w: schema version %q", errDamaged, text)
	}
	if version > schemaVersion {
		return fmt.Errorf("%w: schema version %d, and this one knows %d", ErrNewer, version, schemaVersion)
	}
	return nil
}

// inspectBucket visits the unsealed values of a bucket, whose own value is its root page and
// sequence, and, when the root is 0, a leaf page.
func (p *pages) inspectBucket(name string, value []byte, visit func(key string, value []byte)) error {
	check := func(e element) error {
		if e.bucket {
			return fmt.Errorf("%w: a bucket in bucket %q", errDamaged, name)
		}
		value, err := unseal(name, e.key, e.value)
		if err == nil {
			visit(string(e.key), value)
		}
		return err
	}
	if len(value) < bucketHead {
		return fmt.Errorf("%w: bucket %q has no root", errDamaged, name)
	}
	if root := order.Uint64(value); root != 0 {
		return p.walk(root, span{}, check)
	}
	page := value[bucketHead:]
	if len(page) < pageHead || order.Uint16(page[8:]) != leafPage {
		return fmt.Errorf("%w: bucket %q has no page", errDamaged, name)
	}
	// bbolt frees the page of this id, and those behind it, when it writes the bucket.
	if order.Uint64(page) != 0 || order.Uint32(page[12:]) != 0 {
		return fmt.Errorf("%w: the page in bucket %q is not its own", errDamaged, name)
	}
	return p.walkLeaf(0, page, span{}, check)
}
