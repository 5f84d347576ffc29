package sign

import (
	"crypto"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// Key is one key of a zone. It is immutable.
type Key struct {
	Times Times

	public  dns.DNSKEY
	data    string // of its DNSKEY record, in wire form
	tag     uint16
	private crypto.Signer
	path    string // of its two files, without their endings
	zone    zone.Name
}

// Times is when each step in a key's life is due, as in BIND's key files. A zero time never comes, with one exception:
// a key that has neither Publish nor Activate has always been in use.
type Times struct {
	Created     time.Time
	Publish     time.Time // its DNSKEY record appears
	Activate    time.Time // it signs the zone
	Inactive    time.Time // it signs no more
	Delete      time.Time // its DNSKEY record goes
	SyncPublish time.Time // its CDS and CDNSKEY records appear: the parent may have a DS for it
	SyncDelete  time.Time // they go
}

// Tag is the number that signatures name their key by (RFC 4034 appendix B).
func (k *Key) Tag() uint16 { return k.tag }

// Algorithm is how the key signs.
func (k *Key) Algorithm() Algorithm { return Algorithm(k.public.Algorithm) }

// EntryPoint tells whether a parent's DS record may point to the key: a KSK, or a CSK, which signs all there is.
func (k *Key) EntryPoint() bool { return k.public.Flags&dns.SEP != 0 }

// Path is where the key's two files stand, without their endings.
func (k *Key) Path() string { return k.path }

// Published tells whether the zone shows the key at a moment.
func (k *Key) Published(now time.Time) bool {
	begun := reached(k.Times.Publish, now) || reached(k.Times.Activate, now) || k.Times.Publish.IsZero() && k.Times.Activate.IsZero()
	return begun && !reached(k.Times.Delete, now)
}

// Active tells whether the key may sign the zone at a moment.
func (k *Key) Active(now time.Time) bool {
	begun := reached(k.Times.Activate, now) || k.Times.Publish.IsZero() && k.Times.Activate.IsZero()
	return begun && !k.Retired(now) && k.Published(now)
}

// Retired tells whether the key's time to sign is over at a moment.
func (k *Key) Retired(now time.Time) bool {
	return reached(k.Times.Inactive, now) || reached(k.Times.Delete, now)
}

// Synced tells whether the parent is asked to have a DS for the key at a moment (RFC 7344): by its timing, or, where
// that says nothing of it, while the key is active.
func (k *Key) Synced(now time.Time) bool {
	switch {
	case !k.EntryPoint() || !k.Published(now) || reached(k.Times.SyncDelete, now):
		return false
	case k.Times.SyncPublish.IsZero():
		return k.Active(now)
	}
	return reached(k.Times.SyncPublish, now)
}

func reached(t, now time.Time) bool { return !t.IsZero() && !now.Before(t) }

// all gives the times at which something changes.
func (t *Times) all() []time.Time {
	return []time.Time{t.Publish, t.Activate, t.Inactive, t.Delete, t.SyncPublish, t.SyncDelete}
}

// Digest is a kind of digest in DS records.
type Digest uint8

// The digests that parents take. SHA-1 is not among them: RFC 8624 forbids it for delegations.
const (
	SHA256 Digest = 2
	SHA384 Digest = 4
)

// String gives the digest's usual name.
func (d Digest) String() string {
	if d == SHA256 {
		return "SHA-256"
	}
	return "SHA-384"
}

// DS gives the data of the DS record that the parent has for the key: in wire form, and as in a master file.
func (k *Key) DS(d Digest) (wire, text string) {
	content := []byte(string(k.zone) + k.data) // RFC 4034 section 5.1.4
	var digest []byte
	if d == SHA256 {
		sum := sha256.Sum256(content)
		digest = sum[:]
	} else {
		sum := sha512.Sum384(content)
		digest = sum[:]
	}
	head := append(binary.BigEndian.AppendUint16(nil, k.tag), k.public.Algorithm, byte(d))
	return string(append(head, digest...)), fmt.Sprintf("%d %d %d %X", k.tag, k.public.Algorithm, d, digest)
}

// dataOf is the data of a DNSKEY record in wire form.
func dataOf(public *dns.DNSKEY) (string, error) {
	key, err := base64.StdEncoding.DecodeString(public.PublicKey)
	if err != nil {
		return "", err
	}
	head := append(binary.BigEndian.AppendUint16(nil, public.Flags), public.Protocol, public.Algorithm)
	return string(append(head, key...)), nil
}
