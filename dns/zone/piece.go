package zone

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// piece is one part of a record's data, as it is written and as it is sent.
type piece uint8

const (
	octet       piece = iota // a number in 1 octet
	short                    // in 2
	long                     // in 4
	longest                  // in 8
	algorithm                // of DNSSEC, by number or name, in 1
	certificate              // a kind of it, by number or name, in 2 (RFC 4398 section 2.1)
	typeWord                 // a record type, in 2
	scheme                   // of a DSYNC record, by number or name, in 1 (RFC 9859 section 2.3)
	domain                   // a name
	text                     // a character-string (RFC 1035 section 3.3)
	moreText                 // one that need not be there
	texts                    // one or more
	tag                      // a text of letters and digits (RFC 8659 section 4.1)
	wholeText                // a text of any length, which none is told of
	base64Text               // octets to the end
	moreBase64               // octets to the end, or none
	locator                  // four groups of hexadecimal digits (RFC 6742 section 2)
	nsap                     // hexadecimal digits with dots between (RFC 1706 section 5)
	location                 // RFC 1876 section 3
	prefixes                 // of addresses (RFC 3123 section 5)
	relay                    // the discovery bit, the type of a relay and the relay (RFC 8777 section 4.3)
)

// piece reads a piece of the data.
func (d *formed) piece(p piece) fault {
	switch p {
	case octet, short, long, longest:
		return d.number(8 << p)
	case algorithm:
		return d.named(8, func(w string) (uint64, bool) { n, ok := dns.StringToAlgorithm[w]; return uint64(n), ok })
	case certificate:
		return d.named(16, certificateOf)
	case typeWord:
		return d.named(16, typeOf)
	case scheme:
		return d.named(8, func(w string) (uint64, bool) { return 1, w == "NOTIFY" })
	case domain:
		return d.domain()
	case text, tag:
		return d.text(p)
	case moreText:
		if d.at == len(d.words) {
			return fault{}
		}
		return d.text(p)
	case texts:
		f := d.text(p)
		for f.message == "" && d.at < len(d.words) {
			f = d.text(p)
		}
		return f
	case wholeText:
		w, f := d.next()
		d.data = append(d.data, w.octets()...)
		return f
	case base64Text, moreBase64:
		return d.base64(p)
	case locator:
		return d.locator()
	case nsap:
		return d.nsap()
	case location:
		return d.location()
	case prefixes:
		return d.prefixes()
	default:
		return d.relay()
	}
}

// length is how many octets a piece has that data begins with; it may be more than there are. -1: it cannot be told.
func (p piece) length(data []byte) int {
	switch p {
	case octet, algorithm, scheme:
		return 1
	case short, certificate, typeWord:
		return 2
	case long:
		return 4
	case longest, locator:
		return 8
	case domain:
		if _, n, err := nameFromWire(data); err == nil {
			return n
		}
		return -1
	case location:
		if len(data) > 0 && data[0] == 0 { // other versions can be anything (RFC 1876 section 2)
			return locationSize
		}
		return len(data)
	case prefixes:
		return prefixesLength(data)
	case relay:
		return relayLength(data)
	case wholeText, base64Text, moreBase64, nsap:
		return len(data)
	}
	return textLength(p, data)
}

// textLength is [piece.length] of character-strings.
func textLength(p piece, data []byte) int {
	if p == moreText && len(data) == 0 {
		return 0
	}
	n := 0
	for ok := true; ok; ok = p == texts && n < len(data) {
		if n >= len(data) {
			return -1
		}
		n += 1 + int(data[n])
	}
	return n
}

// number reads a number of so many bits.
func (d *formed) number(bits int) fault {
	return d.named(bits, func(string) (uint64, bool) { return 0, false })
}

// named reads a number of so many bits, which may be written as a word.
func (d *formed) named(bits int, number func(word string) (uint64, bool)) fault {
	w, f := d.next()
	if f.message != "" {
		return f
	}
	n, ok := number(strings.ToUpper(w.text))
	if !ok {
		var err error
		if n, err = strconv.ParseUint(w.text, 10, bits); err != nil {
			return d.wrong(w, "%s is not a number from 0 to "+strconv.FormatUint(1<<bits-1, 10))
		}
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	d.data = append(d.data, b[8-bits/8:]...)
	return fault{}
}

// certificateOf is the number of a kind of certificate. The library has one of them by another name.
func certificateOf(word string) (uint64, bool) {
	if word == "IPKIX" {
		return dns.CertIPIX, true
	}
	n, ok := dns.StringToCertType[word]
	return uint64(n), ok
}

// typeOf is the number of a record type.
func typeOf(word string) (uint64, bool) {
	if f, ok := formOf(word); ok {
		return uint64(f.rrtype), true
	}
	if n, ok := dns.StringToType[word]; ok {
		return uint64(n), true
	}
	digits, ok := strings.CutPrefix(word, "TYPE")
	n, err := strconv.ParseUint(digits, 10, 16)
	return n, ok && err == nil
}

// domain reads a name, and keeps its case.
func (d *formed) domain() fault {
	w, f := d.next()
	if f.message != "" {
		return f
	}
	var b [MaxName + 1]byte
	n, err := dns.PackDomainName(absolute(w.text, d.origin), b[:], 0, nil, false)
	if err != nil {
		return d.wrong(w, "%s is not a domain name")
	}
	if _, _, err := nameFromWire(b[:n]); err != nil {
		return d.wrong(w, "%s is not a domain name")
	}
	d.data = append(d.data, b[:n]...)
	return fault{}
}

// text reads a character-string.
func (d *formed) text(p piece) fault {
	w, f := d.next()
	if f.message != "" {
		return f
	}
	octets := w.octets()
	const most = 255
	switch {
	case len(octets) > most:
		return fault{d.e.placeOf(w), fmt.Sprintf("this text has %d octets, and at most %d can be sent", len(octets), most)}
	case p == tag && (len(octets) == 0 || strings.Trim(strings.ToLower(string(octets)), "abcdefghijklmnopqrstuvwxyz0123456789") != ""):
		return d.wrong(w, "%s is not a tag of letters and digits (RFC 8659 section 4.1)")
	}
	d.data = append(append(d.data, byte(len(octets))), octets...)
	return fault{}
}

// octets is a word without its quotes and escapes.
func (w word) octets() []byte {
	s := w.text
	if strings.HasPrefix(s, `"`) {
		s = strings.TrimPrefix(s[:len(s)-1], `"`)
	}
	octets := make([]byte, 0, len(s))
	for len(s) > 0 {
		c, width := s[0], 1
		if c == '\\' {
			c, width, _ = unescape(s) // of which the entry was checked
		}
		octets, s = append(octets, c), s[max(width, 1):]
	}
	return octets
}

// base64 reads octets to the end of the record. None are written as nothing or, in some types, as "-".
func (d *formed) base64(p piece) fault {
	if p == moreBase64 && (d.at == len(d.words) || d.words[d.at].text == "-") {
		d.at = min(d.at+1, len(d.words))
		return fault{}
	}
	first, f := d.next()
	if f.message != "" {
		return f
	}
	all := first.text
	for ; d.at < len(d.words); d.at++ {
		all += d.words[d.at].text
	}
	octets, err := base64.StdEncoding.DecodeString(all)
	if err != nil {
		return d.wrong(first, "what begins with %s is not in base 64")
	}
	d.data = append(d.data, octets...)
	return fault{}
}

// locator reads "2001:db8:1140:1000".
func (d *formed) locator() fault {
	w, f := d.next()
	if f.message != "" {
		return f
	}
	groups := strings.Split(w.text, ":")
	const count = 4
	for _, g := range groups {
		n, err := strconv.ParseUint(g, 16, 16)
		if err != nil || len(groups) != count || len(g) > 4 {
			return d.wrong(w, "%s is not four groups of hexadecimal digits")
		}
		d.data = binary.BigEndian.AppendUint16(d.data, uint16(n))
	}
	return fault{}
}

// nsap reads "0x47.0005.80.005a00.0000.0001.e133.ffffff000161.00".
func (d *formed) nsap() fault {
	w, f := d.next()
	if f.message != "" {
		return f
	}
	digits, ok := strings.CutPrefix(strings.ToLower(w.text), "0x")
	octets, err := hex.DecodeString(strings.ReplaceAll(digits, ".", ""))
	if !ok || err != nil || len(octets) == 0 {
		return d.wrong(w, "%s is not an address of the form 0x47.0005.80.005a00")
	}
	d.data = append(d.data, octets...)
	return fault{}
}
