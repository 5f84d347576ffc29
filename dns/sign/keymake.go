package sign

import (
	"crypto"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// Make says how a new key is made.
type Make struct {
	Folder     string
	Zone       zone.Name
	Algorithm  Algorithm
	EntryPoint bool // a CSK or KSK; else a ZSK
	Times      Times
}

// Key makes a key and writes its two files, of which nobody else may read the private one. Its tag is none of the given
// ones, since signatures name their key by it.
func (m Make) Key(taken ...*Key) (*Key, error) {
	bits, ok := m.Algorithm.bits()
	if !ok {
		return nil, fmt.Errorf("keys of %s are only read: make one by dnssec-keygen", m.Algorithm)
	}
	if err := os.MkdirAll(m.Folder, 0o700); err != nil {
		return nil, err
	}
	public := &dns.DNSKEY{
		Hdr:   dns.RR_Header{Name: m.Zone.String(), Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET},
		Flags: dns.ZONE, Protocol: 3, Algorithm: uint8(m.Algorithm),
	}
	if m.EntryPoint {
		public.Flags |= dns.SEP
	}
	var private crypto.PrivateKey
	for again := true; again; {
		var err error
		if private, err = public.Generate(bits); err != nil {
			return nil, err
		}
		again = false
		for _, k := range taken {
			again = again || k.tag == public.KeyTag()
		}
	}
	m.Times.Created = m.Times.Created.Truncate(time.Second)
	path := filepath.Join(m.Folder, fmt.Sprintf("%s%03d+%05d", fileStem(m.Zone), public.Algorithm, public.KeyTag()))
	if err := replace(path+privateEnding, public.PrivateKeyString(private)+m.Times.write(""), 0o600); err != nil {
		return nil, err
	}
	if err := replace(path+publicEnding, publicText(public, &m.Times), 0o644); err != nil {
		return nil, err
	}
	return readKey(path, m.Zone)
}

// publicText is the text of a public file.
func publicText(public *dns.DNSKEY, t *Times) string {
	what := "zone-signing"
	if public.Flags&dns.SEP != 0 {
		what = "key-signing"
	}
	return fmt.Sprintf("; This is a %s key, keyid %d, for %s\n%s%s IN DNSKEY %d %d %d %s\n", what, public.KeyTag(), public.Hdr.Name,
		t.write("; "), public.Hdr.Name, public.Flags, public.Protocol, public.Algorithm, public.PublicKey)
}

// SetTimes writes other times into the key's files.
func (k *Key) SetTimes(t Times) error {
	secret, err := readBounded(k.path + privateEnding)
	if err != nil {
		return err
	}
	return errors.Join(
		replace(k.path+privateEnding, withTimes(secret, &t), 0o600),
		replace(k.path+publicEnding, publicText(&k.public, &t), 0o644),
	)
}

// replace writes a file as a whole, so that nobody ever reads a part of it, and it is there after a crash. It belongs to whom
// the folder belongs to, as far as we may say so: root rolls keys over that a server without rights has to read.
func replace(path, text string, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = bestow(f); err != nil {
		return err
	}
	if _, err = f.WriteString(text); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// bestow gives a new file of root's to the owner of its folder.
func bestow(f *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	folder, err := os.Stat(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	owner, ok := folder.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}
