package bgp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gslb/bgp/screen"
	"gslb/test/rig"
)

// A peer that sends what it should not reaches nothing but its own session: after each check the
// speaker is the same process, the session beside it stands, and questions are answered.
func TestBadPeerHarmsNobodyElse(t *testing.T) {
	t.Parallel()
	count := &tally{}
	t.Cleanup(func() { t.Logf("passed %d of %d", count.passed.Load(), count.all.Load()) })
	for name, group := range map[string]func(t *testing.T, b *bench){
		"header": badHeaders, "open": badOpens, "update": badUpdates, "two octets": badUpdatesOfTwoOctets,
		"odd update": oddUpdates, "odd session": oddSessions, "crash": crashers, "mutation": mutations, "mutation of paths": mutationsOfPaths, "stream": streams,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group(t, newBench(t, count))
		})
	}
}

// bent is a message with octets at an offset replaced.
func bent(m []byte, at int, octets ...byte) []byte {
	m = bytes.Clone(m)
	copy(m[at:], octets)
	return m
}

func badHeaders(t *testing.T, b *bench) {
	long := message(2, make([]byte, 4096-19)...)
	for _, c := range []struct {
		name string
		sent []byte
		want string
	}{
		{"marker with a zero", bent(keepalive(), 3, 0), "1/1"},
		{"marker of zeros", bent(keepalive(), 0, make([]byte, 16)...), "1/1"},
		{"length 0", bent(keepalive(), 16, 0, 0), "1/2"},
		{"length 18", bent(keepalive(), 16, 0, 18), "1/2"},
		{"length 4097", bent(long, 16, 0x10, 1), "1/2"},
		{"length 65535", bent(long, 16, 0xff, 0xff), "1/2"},
		{"type 0", bent(keepalive(), 18, 0), "1/3"},
		{"type 6", bent(keepalive(), 18, 6), "1/3"},
		{"type 255", bent(keepalive(), 18, 255), "1/3"},
		{"KEEPALIVE of 20 octets", message(4, 0), "1/2"},
		{"UPDATE of 22 octets", message(2, 0, 0, 0), "1/2"},
		{"NOTIFICATION of 20 octets", message(3, 6), "1/2"},
		{"ROUTE-REFRESH of 20 octets", message(5, 0), "1/2"},
		{"ROUTE-REFRESH that begins a demarcation with too much", message(5, 0, 1, 1, 1, 0), "7/1"},
		{"second OPEN", fair().message(), "5/3"},
	} {
		b.check(t, c.name, func(t *testing.T) {
			if got := b.ended(c.sent); got != c.want {
				t.Errorf("got %s, want NOTIFICATION %s", got, c.want)
			}
		})
	}
	b.check(t, "ROUTE-REFRESH of a family that nobody has", func(t *testing.T) {
		if got := b.sent(b.prefix(false), true, message(5, 0, 99, 0, 99)); got != taken {
			t.Errorf("got %s, want it passed over", got)
		}
	})
	b.check(t, "ROUTE-REFRESH", func(t *testing.T) {
		if got := b.sent(b.prefix(false), true, message(5, 0, 1, 0, 1)); got != taken {
			t.Errorf("got %s, want it passed over", got)
		}
	})
}

func badOpens(t *testing.T, b *bench) {
	with := func(change func(*open)) []byte {
		o := fair()
		change(&o)
		return o.message()
	}
	parameters := func(p ...byte) []byte { return with(func(o *open) { o.parameters = p }) }
	for _, c := range []struct {
		name string
		sent []byte
		want string
	}{
		{"version 3", with(func(o *open) { o.version = 3 }), "2/1"},
		{"version 5", with(func(o *open) { o.version = 5 }), "2/1"},
		{"another AS", with(func(o *open) { o.asn, o.parameters = 64999, nil }), "2/2"},
		{"another AS in four octets", with(func(o *open) { o.parameters = capabilities(capability(65, 0, 1, 0, 1)) }), "2/2"},
		{"AS 0", with(func(o *open) { o.asn = 0 }), "2/2"},
		{"AS 0 in four octets", with(func(o *open) { o.parameters = capabilities(capability(65, 0, 0, 0, 0)) }), "2/2"},
		{"hold time 1", with(func(o *open) { o.hold = 1 }), "2/6"},
		{"hold time 2", with(func(o *open) { o.hold = 2 }), "2/6"},
		{"identifier 0.0.0.0", with(func(o *open) { o.id = [4]byte{} }), "2/3"},
		{"parameter 1", parameters(1, 1, 0), "2/4"},
		{"parameter 200", parameters(200, 2, 0, 0), "2/4"},
		{"parameter beyond the end", parameters(2, 9, 1, 4), "2/0"},
		{"parameter of one octet", parameters(2), "2/0"},
		{"capability beyond the end", parameters(capabilities([]byte{1, 200, 0, 1})...), "2/0"},
		{"multiprotocol capability of three octets", parameters(capabilities(capability(1, 0, 1, 0))...), "2/0"},
		{"parameters longer than the message", bent(fair().message(), 28, 255), "2/0"},
		{"parameters shorter than the message", bent(fair().message(), 28, 2), "2/0"},
		{"no family that we have", parameters(capabilities(capability(1, 0, 25, 0, 70), capability(65, 0, 0, 0xfb, 0xf5))...), "2/7"},
		{"OPEN of 28 octets", message(1, fair().message()[19:28]...), "1/2"},
		{"KEEPALIVE instead", keepalive(), "5/1"},
		{"UPDATE instead", good("60.0.0.0/24"), "5/1"},
		{"UPDATE before the KEEPALIVE", join(fair().message(), good("60.0.0.0/24")), "5/2"},
		{"OPEN again before the KEEPALIVE", join(fair().message(), fair().message()), "5/2"},
		{"garbage", bytes.Repeat([]byte("GET / HTTP/1.1\r\n"), 4), "1/1"},
	} {
		b.check(t, c.name, func(t *testing.T) {
			if got := b.refused(c.sent); got != c.want {
				t.Errorf("got %s, want NOTIFICATION %s", got, c.want)
			}
		})
	}
	for _, c := range []struct {
		name string
		open open
	}{
		{"unknown capability", open{4, 64501, 90, [4]byte{192, 0, 2, 9}, capabilities(capability(1, 0, 1, 0, 1), capability(65, 0, 0, 0xfb, 0xf5), capability(250, 1, 2, 3))}},
		{"capabilities twice", open{4, 64501, 90, [4]byte{192, 0, 2, 9}, join(fair().parameters, fair().parameters)}},
		{"identifier of ours", open{4, 64501, 90, [4]byte{192, 0, 2, 53}, fair().parameters}},
		{"hold time 0", open{4, 64501, 0, [4]byte{192, 0, 2, 9}, fair().parameters}},
		{"hold time 3", open{4, 64501, 3, [4]byte{192, 0, 2, 9}, fair().parameters}},
		{"AS_TRANS with four octets", open{4, 23456, 90, [4]byte{192, 0, 2, 9}, fair().parameters}},
		{"lengths of two octets", open{4, 64501, 90, [4]byte{192, 0, 2, 9}, nil}},
	} {
		b.check(t, c.name+" is fine", func(t *testing.T) {
			if c.name == "lengths of two octets" {
				b.session = b.extended(c.open)
			} else {
				b.session = b.established(b.from, c.open)
			}
			if got := b.sent(b.prefix(false), false, good(b.prefix(false))); got != taken {
				t.Errorf("got %s, want the prefix taken", got)
			}
			b.session.conn.Close()
		})
	}
	b.check(t, "connection without a word", func(t *testing.T) {
		h, err := b.dial(b.from)
		if err != nil {
			t.Fatal(err)
		}
		h.conn.Close()
	})
	b.check(t, "connections in numbers", func(t *testing.T) {
		for range 200 {
			if h, err := b.dial(b.from); err == nil {
				h.conn.Close()
			}
		}
		b.session = b.established(b.from, fair())
		b.passes()
	})
	b.check(t, "connection of a stranger", func(t *testing.T) {
		h, err := b.dial(b.net.host(77))
		if err != nil {
			return // it was closed even sooner
		}
		defer h.conn.Close()
		if got := h.verdict(); got != "closed" {
			t.Errorf("got %s, want it closed", got)
		}
	})
}

// extended brings a session up whose OPEN has lengths of two octets (RFC 9072).
func (b *bench) extended(o open) *handmade {
	b.t.Helper()
	inner := fair().parameters[2:]
	all := join([]byte{2, 0, byte(len(inner))}, inner)
	m := o.message()
	m = append(bent(m, 28, 255), append([]byte{255, 0, byte(len(all))}, all...)...)
	m[17] = byte(len(m))
	return b.confirmed(b.from, m, ends())
}

// refused says with what NOTIFICATION the server refuses what a connection begins with.
func (b *bench) refused(first []byte) (verdict string) {
	b.t.Helper()
	for again := 0; ; again++ {
		h := b.greeted(b.from, first)
		verdict = h.verdict()
		h.conn.Close()
		if verdict != "closed" || again == 10 {
			return verdict
		}
		b.t.Log("connecting again: the server closed the connection")
		time.Sleep(blink)
	}
}

func crashers(t *testing.T, b *bench) {
	for name, value := range map[string][]byte{
		"truncated": {1, 0, 9}, "of one octet": {1}, "empty": {}, "label index cut off": {1, 0, 7, 0, 0}, "SRGB of five octets": {3, 0, 5, 0, 0, 1, 2, 3},
		"SRv6 cut off": {5, 0, 34, 0, 1, 0, 30, 0}, "lengths of zero": {1, 0, 0, 3, 0, 0}, "beyond the end": {5, 255, 255, 0},
	} {
		b.check(t, "Prefix-SID "+name, func(t *testing.T) {
			p := b.prefix(false)
			if got := b.sent(p, false, update(nil, join(base(), attribute(transitive, 40, value...)), nlri(p))); got != taken {
				t.Errorf("got %s, want the attribute dropped and the prefix taken", got)
			}
		})
	}
	b.check(t, "every attribute that we do not know, with each of some values", func(t *testing.T) {
		p := b.prefix(false)
		var all [][]byte
		for code := 19; code < 256; code++ {
			if code == 25 || code == 32 { // known
				continue
			}
			for _, flags := range []byte{optional, transitive} {
				for _, value := range [][]byte{{}, {0}, {0, 1}, {1, 0, 9}, {0, 0, 0, 1, 255}, bytes.Repeat([]byte{255}, 40)} {
					all = append(all, update(nil, join(base(), attribute(flags, byte(code), value...)), nlri(p)))
				}
			}
		}
		if got := b.sent(p, false, all...); got != taken {
			t.Errorf("got %s, want the attributes dropped and the prefix taken", got)
		}
	})
	whole := reachValue(hopIPv6, nlri("2001:db8:ff::/48"))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 19, 20, 22, len(whole) - 1} {
		b.check(t, fmt.Sprintf("MP_REACH cut off after %d octets", n), func(t *testing.T) {
			if got := b.ended(update(nil, join(origin(0), path(64501), attribute(optional, 14, whole[:n]...)), nil)); got != "3/9" {
				t.Errorf("got %s, want NOTIFICATION 3/9", got)
			}
		})
	}
	foreign := map[string][]byte{
		"VPNv4": {0, 1, 128}, "labelled": {0, 1, 4}, "EVPN": {0, 25, 70}, "flowspec": {0, 1, 133}, "BGP-LS": {0x40, 4, 71}, "multicast": {0, 1, 2},
		"route target": {0, 1, 132}, "VPLS": {0, 25, 65}, "SR policy": {0, 1, 73}, "MUP": {0, 1, 85}, "nothing known": {0xff, 0xff, 0xff},
	}
	for name, family := range foreign {
		b.check(t, "garbage of the family "+name, func(t *testing.T) {
			p := b.prefix(false)
			var all [][]byte
			for n := range 24 {
				value := join(family, []byte{4, 192, 0, 2, 9, 0}, bytes.Repeat([]byte{byte(n * 11)}, n))
				all = append(all, update(nil, join(base(), attribute(optional, 14, value...)), nlri(p)),
					update(nil, join(base(), attribute(optional, 15, join(family, value[8:])...)), nlri(p)))
			}
			if got := b.sent(p, false, all...); got != taken {
				t.Errorf("got %s, want the attributes dropped and the prefix taken", got)
			}
		})
	}
}

// mutations sends good UPDATEs with octets changed. What is to come of each is what the screen says.
func mutations(t *testing.T, b *bench) {
	mutate(t, b, fair(), func(prefix string) []byte { return nlri(prefix) }, screen.Family{Agreed: true})
}

// mutationsOfPaths does so in a session whose prefixes have path identifiers.
func mutationsOfPaths(t *testing.T, b *bench) {
	numbered := func(prefix string) []byte { return join([]byte{0, 0, 0, 7}, nlri(prefix)) }
	mutate(t, b, several(), numbered, screen.Family{Agreed: true, AddPath: true})
}

func mutate(t *testing.T, b *bench, o open, wire func(prefix string) []byte, family screen.Family) {
	const count, resets = 2000, 20
	session := screen.Session{Phase: screen.Established, FourOctetAS: true, IPv4: family, IPv6: family}
	rng := rand.New(rand.NewPCG(7606, 4271))
	var kept, ending [][]byte
	for len(kept) < count {
		m := mutated(rng, wire)
		if v, _ := session.Screen(m); v.Notify == nil {
			kept = append(kept, m)
		} else if len(ending) < resets && v.Notify.Code == 3 {
			ending = append(ending, m)
		}
	}
	b.check(t, fmt.Sprintf("%d that keep the session", count), func(t *testing.T) {
		h := b.established(b.from, o)
		defer h.conn.Close()
		for begin := 0; begin < count; begin += 100 {
			mark := fmt.Sprintf("60.240.%d.0/24", begin/100)
			if err := h.send(append(kept[begin:begin+100:begin+100], update(nil, base(), wire(mark)))...); err != nil {
				t.Fatal(err)
			}
			rig.Until(t, rig.Soon, "nsk", func() string {
				if err := h.alive(); err != nil {
					t.Fatal(err)
				}
				return b.site(inside(mark))
			})
		}
	})
	b.check(t, fmt.Sprintf("%d that end it", resets), func(t *testing.T) {
		for _, m := range ending {
			h := b.established(b.from, o)
			if err := h.send(m); err != nil {
				t.Fatal(err)
			}
			v, _ := session.Screen(m)
			if got := h.verdict(); got != v.Notify.String() {
				t.Errorf("got %s, want NOTIFICATION %s for %x", got, v.Notify, m)
			}
			h.conn.Close()
		}
	})
}

// mutated is a good UPDATE in which some octets are not; its header is right.
func mutated(rng *rand.Rand, wire func(prefix string) []byte) []byte {
	community := attribute(transitive, 8, 0xfb, 0xf5, 0, 50)
	large := attribute(transitive, 32, 0, 0, 0xfb, 0xf5, 0, 0, 0, 1, 0, 0, 0, 50)
	six := func(prefix string) []byte { return attribute(optional, 14, reachValue(hopIPv6, wire(prefix))...) }
	seeds := [][]byte{
		update(nil, base(), wire("60.200.0.0/24")),
		update(nil, join(origin(0), path(64501), six("2001:db8:ffff::/48")), nil),
		update(nil, join(base(), attribute(optional, 4, 0, 0, 0, 9), community, large), join(wire("60.201.0.0/16"), wire("60.200.4.0/22"))),
		update(wire("60.200.0.0/24"), join(base(), six("2001:db8:fffe::/48"), unreach(wire("2001:db8:ffff::/48")...)), wire("60.202.0.0/24")),
	}
	m := bytes.Clone(seeds[rng.IntN(len(seeds))])
	for range 1 + rng.IntN(4) {
		switch at := 19 + rng.IntN(len(m)-19); rng.IntN(4) {
		case 0:
			m[at] = byte(rng.Uint32())
		case 1:
			m[at] ^= 1 << rng.IntN(8)
		case 2:
			m = append(m[:at], m[at+1:]...)
		case 3:
			m = append(m[:at], append([]byte{byte(rng.Uint32())}, m[at:]...)...)
		}
		for len(m) < 23 {
			m = append(m, 0)
		}
	}
	m[16], m[17] = byte(len(m)>>8), byte(len(m))
	return m
}

func streams(t *testing.T, b *bench) {
	b.check(t, "every octet on its own", func(t *testing.T) {
		h := b.greeted(b.from, fair().message())
		p := b.prefix(false)
		for _, octet := range join(keepalive(), ends(), good(p)) {
			if err := h.send([]byte{octet}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		b.session = h
		b.sends(inside(p), "nsk")
	})
	b.check(t, "split in two at every octet", func(t *testing.T) {
		h := b.up()
		m := join(good(b.prefix(true)), keepalive(), good(b.prefix(false)))
		for at := 1; at < len(m); at++ {
			if err := h.send(m[:at]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			if err := h.send(m[at:]); err != nil {
				t.Fatal(err)
			}
		}
		b.passes()
		b.keeps(inside(b.prefix(false)), "nsk")
		b.keeps(inside(b.prefix(true)), "nsk")
	})
	b.check(t, "burst of 20000 UPDATEs that come and go", func(t *testing.T) {
		h, p := b.up(), b.prefix(false)
		pair := join(good(p), update(nlri(p), nil, nil))
		if err := h.send(bytes.Repeat(pair, 10_000), good(p)); err != nil {
			t.Fatal(err)
		}
		b.passes()
		b.keeps(inside(p), "nsk")
	})
	b.check(t, "burst of UPDATEs of 4096 octets", func(t *testing.T) {
		h := b.up()
		var all []byte
		for i := range 60 {
			var prefixes []byte
			for j := 0; len(prefixes) < 4000; j++ {
				prefixes = append(prefixes, 24, 60, 100+byte(i), byte(j))
			}
			all = append(all, update(nil, base(), prefixes[:4096-23-len(base())&^3])...)
		}
		if err := h.send(all); err != nil {
			t.Fatal(err)
		}
		b.passes()
		b.keeps("60.100.1.1", "nsk")
		b.keeps("60.159.1.1", "nsk")
	})
	b.check(t, "path of 750", func(t *testing.T) {
		p := b.prefix(false)
		value := bytes.Repeat(sequence(slices.Repeat([]uint32{64502}, 250)...), 3)
		long := append([]byte{wellKnown | 0x10, 2, byte(len(value) >> 8), byte(len(value))}, value...)
		if got := b.sent(p, false, update(nil, join(origin(0), long, hop(hopIPv4...)), nlri(p))); got != taken {
			t.Errorf("got %s, want the prefix taken", got)
		}
	})
	b.check(t, "half a message and then nothing more", func(t *testing.T) {
		h := b.up()
		if err := h.send(good("60.250.0.0/24")[:30]); err != nil {
			t.Fatal(err)
		}
		h.conn.Close()
		b.session = nil
	})
	b.check(t, "peer that reads nothing", func(t *testing.T) {
		h := b.up()
		for range 200 {
			if err := h.send(message(5, 0, 1, 0, 1), keepalive()); err != nil {
				t.Fatal(err)
			}
		}
		b.passes()
	})
}
