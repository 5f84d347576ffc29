package dns

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"gslb/config"
)

// FuzzSubnet reads anything as a client subnet: what is taken for one has but one form, and this is it.
func FuzzSubnet(f *testing.F) {
	for _, data := range []string{
		"", "\x00\x01\x18\x00\xcb\x00\x71", "\x00\x01\x17\x00\xcb\x00\x71", "\x00\x01\x18\x18\xcb\x00\x71", "\x00\x01\x21\x00\xcb\x00\x71\x00\x00",
		"\x00\x02\x20\x00\x20\x01\x0d\xb8", "\x00\x02\x81\x00", "\x00\x00\x00\x00", "\x00\x00\x18\x00\xcb\x00\x71", "\x00\x03\x00\x00", "\x00\x01\x00\x00",
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		subnet, ok := parseSubnet(data)
		if !ok {
			if canonicalSubnet(data) {
				t.Fatalf("%x was refused", data)
			}
			return
		}
		if !canonicalSubnet(data) {
			t.Fatalf("%x was taken for %v", data, subnet)
		}
		if p := subnet.Prefix; p.IsValid() && p != p.Masked() {
			t.Fatalf("%v has bits behind its length", p)
		}
	})
}

// canonicalSubnet tells slowly whether data is a subnet as RFC 7871 section 6 writes it.
func canonicalSubnet(data []byte) bool {
	for family, most := range []int{0, 32, 128} {
		for source := range most + 1 {
			head := append(binary.BigEndian.AppendUint16(nil, uint16(family)), byte(source), 0)
			octets, prefixed := bytes.CutPrefix(data, head)
			if !prefixed || len(octets) != (source+7)/8 {
				continue
			}
			for bit := source; bit < 8*len(octets); bit++ {
				prefixed = prefixed && octets[bit/8]&(0x80>>(bit%8)) == 0
			}
			if prefixed {
				return true
			}
		}
	}
	return false
}

// FuzzCookie makes a cookie and judges it, and judges anything: only what was made for the client, not long ago and by
// one of the secrets, is good.
func FuzzCookie(f *testing.F) {
	f.Add([]byte("clientxx"), []byte{192, 0, 2, 1}, int64(1_800_000_000), int64(10), 0)
	f.Add([]byte("clientxxserverxxserverxx"), []byte("\x20\x01\x0d\xb8567890123456"), int64(1<<32-5), int64(10), 19)
	f.Add([]byte("short"), []byte{10, 0, 0, 1}, int64(0), int64(-400), 8)
	f.Fuzz(func(t *testing.T, client, source []byte, unix, later int64, flip int) {
		address, ok := netip.AddrFromSlice(source)
		secrets := []config.CookieSecret{{1}, {2}}
		now := time.Unix(unix&(1<<40-1), 0)
		if validCookie(client, address, now, secrets) {
			t.Fatalf("%x is good, and nobody made it", client)
		}
		if !ok || !wellFormedCookie(client) {
			return
		}
		made := appendCookie(nil, client, address, now, &secrets[1])
		age := time.Duration(later%100_000) * time.Second
		if got, want := validCookie(made, address, now.Add(age), secrets), age <= cookieAge && age >= -cookieAhead; got != want {
			t.Fatalf("%x is good after %v: %v", made, age, got)
		}
		made[uint(flip)%uint(len(made))] ^= 1
		if validCookie(made, address, now, secrets) {
			t.Fatalf("%x is good, and was changed", made)
		}
	})
}
