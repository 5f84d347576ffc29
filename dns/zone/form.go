package zone

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// form is how the data of a type is written, for the types whose records the record parser does not know, reads otherwise than
// their RFC says, or refuses in a form that other servers take.
type form struct {
	rrtype uint16
	word   string
	pieces []piece // none: such a record is read in the generic form only (RFC 3597 section 5)
}

// forms are the types that are read here.
var forms = [...]form{
	{dns.TypeNULL, "NULL", nil},
	{11, "WKS", nil},
	{dns.TypeX25, "X25", []piece{text}},
	{dns.TypeISDN, "ISDN", []piece{text, moreText}},
	{22, "NSAP", []piece{nsap}},
	{dns.TypeGPOS, "GPOS", []piece{text, text, text}},
	{dns.TypeLOC, "LOC", []piece{location}},
	{dns.TypeNXT, "NXT", nil},
	{dns.TypeATMA, "ATMA", nil},
	{dns.TypeNAPTR, "NAPTR", []piece{short, short, text, text, text, domain}},
	{dns.TypeCERT, "CERT", []piece{certificate, short, algorithm, base64Text}},
	{38, "A6", nil},
	{40, "SINK", []piece{octet, octet, octet, moreBase64}},
	{dns.TypeAPL, "APL", []piece{prefixes}},
	{dns.TypeDNSKEY, "DNSKEY", []piece{short, octet, algorithm, base64Text}},
	{dns.TypeCDNSKEY, "CDNSKEY", []piece{short, octet, algorithm, base64Text}},
	{66, "DSYNC", []piece{typeWord, scheme, short, domain}}, // RFC 9859
	{67, "HHIT", []piece{base64Text}},                       // RFC 9886
	{68, "BRID", []piece{base64Text}},
	{dns.TypeNID, "NID", []piece{short, locator}},
	{dns.TypeL64, "L64", []piece{short, locator}},
	{dns.TypeURI, "URI", []piece{short, short, wholeText}},
	{dns.TypeCAA, "CAA", []piece{octet, tag, wholeText}},
	{259, "DOA", []piece{long, long, octet, text, moreBase64}},
	{dns.TypeAMTRELAY, "AMTRELAY", []piece{octet, relay}},
	{262, "WALLET", []piece{texts}},
	{263, "CLA", []piece{texts}},
	{264, "IPN", []piece{longest}},
}

// formOf finds the form of a type by its word, "LOC" or "TYPE29".
func formOf(word string) (form, bool) {
	word = strings.ToUpper(word)
	if digits, ok := strings.CutPrefix(word, "TYPE"); ok {
		rrtype, err := strconv.ParseUint(digits, 10, 16)
		f, ok := formOfNumber(uint16(rrtype))
		return f, ok && err == nil
	}
	for _, f := range &forms {
		if f.word == word {
			return f, true
		}
	}
	return form{}, false
}

// formOfNumber finds the form of a type by its number.
func formOfNumber(rrtype uint16) (form, bool) {
	for _, f := range &forms {
		if f.rrtype == rrtype {
			return f, true
		}
	}
	return form{}, false
}

// formed is an entry of a type that has a form here.
type formed struct {
	form
	e      entry
	origin string
	header string // the entry up to its type
	words  []word // of the data
	at     int    // among words
	data   []byte
}

// typeWords is at how many words an entry has its type: behind the owner, the TTL and the class.
const typeWords = 4

// typed finds the word of an entry that names its type, at the end of the words that are given.
func (e entry) typed() (words []word, i int, ok bool) {
	if strings.IndexByte("(\"", e.text[0]) >= 0 {
		return nil, 0, false
	}
	if strings.IndexByte(" \t", e.text[0]) < 0 {
		i = 1
	}
	words = e.words(typeWords)
	for ; i < len(words); i++ {
		if _, ok := parseTTL(words[i].text); !ok && !classWord(words[i].text) {
			return words[:i+1], i, true
		}
	}
	return nil, 0, false
}

// formed finds out whether an entry is of a type that is read here. Whatever is wrong before its type is for the parser.
func (r *reader) formed(e entry) (*formed, bool) {
	words, i, ok := e.typed()
	if !ok {
		return nil, false
	}
	form, ok := formOf(words[i].text)
	if !ok {
		return nil, false
	}
	return &formed{form: form, e: e, origin: r.origin, header: headerOf(e, words[:i]), words: e.words(len(e.text))[i+1:]}, true
}

// headerOf is what stands before the type of an entry, on one line.
func headerOf(e entry, words []word) string {
	var b strings.Builder
	if strings.IndexByte(" \t", e.text[0]) >= 0 {
		b.WriteByte(' ')
	}
	for _, w := range words {
		b.WriteString(w.text + " ")
	}
	return b.String()
}

// classWord tells whether a word is a class.
func classWord(word string) bool {
	word = strings.ToUpper(word)
	_, known := dns.StringToClass[word]
	return known || strings.HasPrefix(word, "CLASS")
}

// anyType stands for the type in what the record parser gets to see of such an entry.
const anyType = ` TYPE65280 \# 0`

// read reads the data into wire form.
func (d *formed) read() fault {
	if len(d.words) > 0 && d.words[0].text == `\#` {
		return d.readGeneric()
	}
	if d.pieces == nil {
		return fault{d.e.mark, fmt.Sprintf(`%s records are read in the form of RFC 3597 only: %[1]s \# LENGTH, and the octets as hexadecimal digits`, d.word)}
	}
	for _, p := range d.pieces {
		if f := d.piece(p); f.message != "" {
			return f
		}
	}
	if d.at < len(d.words) {
		w := d.words[d.at]
		return d.wrong(w, "%s stands after the end of the record")
	}
	return fault{}
}

// readGeneric reads data that is written as octets (RFC 3597 section 5).
func (d *formed) readGeneric() fault {
	var digits strings.Builder
	for _, w := range d.words[min(2, len(d.words)):] {
		digits.WriteString(w.text)
	}
	var err error
	if d.data, err = hex.DecodeString(digits.String()); err != nil || len(d.words) < 2 {
		return fault{d.e.mark, `\# is followed by a length, and the octets as hexadecimal digits`}
	}
	if length, err := strconv.Atoi(d.words[1].text); err != nil || length != len(d.data) {
		return d.wrong(d.words[1], "%s is not the number of octets, which is "+strconv.Itoa(len(d.data)))
	}
	if !d.fits() {
		return fault{d.e.mark, fmt.Sprintf("these %d bytes are not the data of type %s", len(d.data), d.word)}
	}
	return fault{}
}

// fits tells whether octets can be the data of the type.
func (d *formed) fits() bool {
	rest := d.data
	for _, p := range d.pieces {
		n := p.length(rest)
		if n < 0 || n > len(rest) {
			return false
		}
		rest = rest[n:]
	}
	mayBeEmpty := d.rrtype == dns.TypeNULL || d.rrtype == dns.TypeAPL
	return (len(d.data) > 0 || mayBeEmpty) && (len(rest) == 0 || d.pieces == nil)
}

// wrong is a mistake in a word, which the message has in place of %s.
func (d *formed) wrong(w word, message string) fault {
	quoted := w.text
	if !strings.HasPrefix(quoted, `"`) {
		quoted = strconv.Quote(quoted)
	}
	return fault{d.e.placeOf(w), fmt.Sprintf(message, quoted)}
}

// next takes a word of the data.
func (d *formed) next() (word, fault) {
	if d.at >= len(d.words) {
		return word{}, fault{d.e.mark, fmt.Sprintf("the data of this %s record is not complete", d.word)}
	}
	d.at++
	return d.words[d.at-1], fault{}
}
