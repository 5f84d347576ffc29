package sign

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"

	"github.com/miekg/dns"
)

// Algorithm is a way to sign, by its number in DNSKEY records.
type Algorithm uint8

// The algorithms that zones are signed by.
const (
	RSASHA256       Algorithm = 8  // RFC 5702; for keys that exist
	ECDSAP256SHA256 Algorithm = 13 // RFC 6605
	Ed25519         Algorithm = 15 // RFC 8080
)

// String gives the algorithm's mnemonic in lower case.
func (a Algorithm) String() string {
	switch a {
	case RSASHA256:
		return "rsasha256"
	case ECDSAP256SHA256:
		return "ecdsap256sha256"
	case Ed25519:
		return "ed25519"
	}
	return fmt.Sprintf("algorithm %d", uint8(a))
}

// bits is the length of a new key. RSA keys are made by others.
func (a Algorithm) bits() (bits int, ok bool) {
	return 256, a == ECDSAP256SHA256 || a == Ed25519
}

var errNoSignature = errors.New("the private key makes no signature")

// signature signs data as DNSSEC has it: for ECDSA that is the two numbers side by side (RFC 6605 section 4).
func signature(a Algorithm, private crypto.Signer, data []byte) ([]byte, error) {
	if a == Ed25519 {
		return private.Sign(rand.Reader, data, crypto.Hash(0))
	}
	digest := sha256.Sum256(data)
	made, err := private.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil || a != ECDSAP256SHA256 {
		return made, err
	}
	var pair struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(made, &pair); err != nil || len(rest) > 0 {
		return nil, errNoSignature
	}
	both := make([]byte, 64)
	pair.R.FillBytes(both[:32])
	pair.S.FillBytes(both[32:])
	return both, nil
}

// privateOf reads a private key in BIND's form, and proves that it belongs to the public one.
func privateOf(public *dns.DNSKEY, text string) (crypto.Signer, error) {
	read, err := public.NewPrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("it is not a private key: %w", err)
	}
	var private crypto.Signer
	switch key := read.(type) {
	case *rsa.PrivateKey:
		if err := key.Validate(); err != nil {
			return nil, fmt.Errorf("it is not a good private key: %w", err)
		}
		key.Precompute()
		private = key
	case *ecdsa.PrivateKey:
		private = key
	case ed25519.PrivateKey:
		private = key
	default:
		return nil, fmt.Errorf("keys of %s are not understood", Algorithm(public.Algorithm))
	}
	if !belongs(public, private) {
		return nil, errors.New("it is the private part of another key")
	}
	return private, nil
}

// belongs tells whether what the private key signs is good by the public one.
func belongs(public *dns.DNSKEY, private crypto.Signer) bool {
	probe := &dns.TXT{Hdr: dns.RR_Header{Name: public.Hdr.Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{"probe"}}
	s := &dns.RRSIG{Algorithm: public.Algorithm, KeyTag: public.KeyTag(), SignerName: public.Hdr.Name}
	return s.Sign(private, []dns.RR{probe}) == nil && s.Verify(public, []dns.RR{probe}) == nil
}
