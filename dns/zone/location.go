package zone

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// locationSize is the octets of a LOC record's data in version 0, the only one.
const locationSize = 16

// location reads "51 30 12.748 N 0 7 39.612 W 24m 1m 10000m 10m", of which minutes, seconds and what follows the altitude can be
// left out (RFC 1876 section 3).
func (d *formed) location() fault {
	latitude, f := d.angle("N", "S", 90)
	if f.message != "" {
		return f
	}
	longitude, f := d.angle("E", "W", 180)
	if f.message != "" {
		return f
	}
	const (
		below = 100_000_00    // centimetres from which altitudes are counted
		most  = 42_849_672_95 // the highest one
		wide  = 90_000_000_00 // the greatest size and inexactness
	)
	altitude, f := d.metres(-below, most)
	if f.message != "" {
		return f
	}
	sizes := [3]int64{100, 10000_00, 10_00}
	for i := range sizes {
		if d.at == len(d.words) {
			break
		}
		if sizes[i], f = d.metres(0, wide); f.message != "" {
			return f
		}
	}
	d.data = append(d.data, 0, rounded(sizes[0]), rounded(sizes[1]), rounded(sizes[2]))
	d.data = binary.BigEndian.AppendUint32(d.data, latitude)
	d.data = binary.BigEndian.AppendUint32(d.data, longitude)
	d.data = binary.BigEndian.AppendUint32(d.data, uint32(altitude+below))
	return fault{}
}

// angle reads degrees, minutes and seconds, of which the latter can be left out, and the direction. It is given in thousandths
// of a second, counted from 2^31 towards the direction named first.
func (d *formed) angle(up, down string, most int64) (uint32, fault) {
	const equator = 1 << 31
	var total int64
	limits := [...]struct{ most, unit, digits int64 }{{most, 3_600_000, 0}, {59, 60_000, 0}, {59_999, 1, 3}}
	for i := 0; ; i++ {
		w, f := d.next()
		if f.message != "" {
			return 0, f
		}
		north, south := strings.EqualFold(w.text, up), strings.EqualFold(w.text, down)
		switch {
		case i > 0 && (north || south) && total > most*limits[0].unit:
			return 0, d.wrong(d.words[d.at-1-i], "%s and what follows it is more than "+strconv.FormatInt(most, 10)+" degrees")
		case i > 0 && north:
			return uint32(equator + total), fault{}
		case i > 0 && south:
			return uint32(equator - total), fault{}
		case i == len(limits):
			return 0, d.wrong(w, "%s is neither "+up+" nor "+down)
		}
		n, ok := decimal(w.text, int(limits[i].digits))
		if !ok || n > limits[i].most {
			return 0, d.wrong(w, "%s is not a number of "+[...]string{"degrees", "minutes", "seconds"}[i]+" of "+up+" or "+down)
		}
		total += n * limits[i].unit
	}
}

// metres reads a length, "-24.5m", in centimetres.
func (d *formed) metres(least, most int64) (int64, fault) {
	w, f := d.next()
	if f.message != "" {
		return 0, f
	}
	digits, negative := strings.CutPrefix(strings.TrimRight(w.text, "mM"), "-")
	n, ok := decimal(digits, 2)
	if negative {
		n = -n
	}
	if !ok || n < least || n > most || len(w.text)-len(strings.TrimRight(w.text, "mM")) > 1 {
		return 0, d.wrong(w, "%s is not a number of metres in the range of LOC records (RFC 1876 section 3)")
	}
	return n, fault{}
}

// decimal reads a number with at most so many digits behind its point, in units of the last of them.
func decimal(s string, digits int) (int64, bool) {
	whole, fraction, pointed := strings.Cut(s, ".")
	if len(fraction) > digits || pointed && digits == 0 || len(whole)+len(fraction) == 0 {
		return 0, false
	}
	all := whole + fraction + strings.Repeat("0", digits-len(fraction))
	n, err := strconv.ParseUint(all, 10, 62)
	return int64(n), err == nil
}

// rounded is a length as a digit and a power of ten by which to multiply it, each in four bits.
func rounded(centimetres int64) byte {
	power := byte(0)
	for ; centimetres >= 10; centimetres /= 10 {
		power++
	}
	return byte(centimetres)<<4 | power
}
