package state

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	bolt "go.etcd.io/bbolt"
)

// sealSize is the length of the checksum in front of every value.
const sealSize = 4

// put writes a sealed value.
func put(b *bolt.Bucket, bucket string, key, value []byte) error {
	return b.Put(key, seal(bucket, key, value))
}

// seal gives a value as the file holds it: the checksum, big-endian, then the value.
func seal(bucket string, key, value []byte) []byte {
	sealed := make([]byte, sealSize, sealSize+len(value))
	binary.BigEndian.PutUint32(sealed, checksum(bucket, key, value))
	return append(sealed, value...)
}

// unseal gives a copy of the value, or errDamaged. The copy is never nil.
func unseal(bucket string, key, sealed []byte) ([]byte, error) {
	if len(sealed) < sealSize {
		return nil, fmt.Errorf("%w: value of %q in bucket %q is too short", errDamaged, key, bucket)
	}
	value := sealed[sealSize:]
	if binary.BigEndian.Uint32(sealed) != checksum(bucket, key, value) {
		return nil, fmt.Errorf("%w: value of %q in bucket %q has a wrong checksum", errDamaged, key, bucket)
	}
	return append([]byte{}, value...), nil
}

// checksum is the CRC-32C of bucket, key and value. The names are in it with their lengths, so
// that a changed name is noticed as well.
func checksum(bucket string, key, value []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	head := binary.BigEndian.AppendUint32(nil, uint32(len(bucket)))
	head = binary.BigEndian.AppendUint32(append(head, bucket...), uint32(len(key)))
	sum := crc32.Update(0, table, append(head, key...))
	return crc32.Update(sum, table, value)
}
