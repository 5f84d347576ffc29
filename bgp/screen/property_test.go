package screen

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawNets draws prefixes of a family, as the helpers write them.
func drawNets(t *rapid.T, f family, paths bool, most int, label string) []string {
	drawn := []string{}
	for range rapid.IntRange(0, most).Draw(t, label) {
		octets := rapid.SliceOfN(rapid.Byte(), f.bits()/8, f.bits()/8).Draw(t, "address")
		a, _ := netip.AddrFromSlice(octets)
		p := netip.PrefixFrom(a, rapid.IntRange(0, f.bits()).Draw(t, "length")).Masked().String()
		if paths {
			p = fmt.Sprintf("%d#%s", rapid.Uint32().Draw(t, "path"), p)
		}
		drawn = append(drawn, p)
	}
	return drawn
}

// routesIn reads the prefixes out of what forwarded tells, in the order they come.
func routesIn(told string) map[string][]string {
	found := map[string][]string{}
	for line := range strings.SplitSeq(told, "; ") {
		word := ""
		for _, w := range strings.Fields(line) {
			switch {
			case w == "announce" || w == "withdraw":
				word = w
			case strings.Contains(w, "/"):
				key := word + map[bool]string{true: "6", false: "4"}[strings.Contains(w, ":")]
				found[key] = append(found[key], w)
			}
		}
	}
	return found
}

func TestGoodUpdateSurvivesWithTheSameRoutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := both()
		s.FourOctetAS = rapid.Bool().Draw(t, "four octets")
		s.IPv4.AddPath = rapid.Bool().Draw(t, "paths4")
		s.IPv6.AddPath = rapid.Bool().Draw(t, "paths6")
		want := map[string][]string{
			"withdraw4": drawNets(t, ipv4, s.IPv4.AddPath, 40, "withdraw4"), "announce4": drawNets(t, ipv4, s.IPv4.AddPath, 40, "announce4"),
			"withdraw6": drawNets(t, ipv6, s.IPv6.AddPath, 40, "withdraw6"), "announce6": drawNets(t, ipv6, s.IPv6.AddPath, 40, "announce6"),
		}
		hops := rapid.SliceOfN(rapid.IntRange(1, 0xffff), 0, 250).Draw(t, "hops")
		m := goodUpdate(s, want, hops)
		if len(m) > MaxLength {
			t.Skip("too long to be a message")
		}
		checkVerdict(t, s, m)
		v, _ := s.Screen(m)
		if v.Reason != NoReason || v.Withdrawn+v.Dropped != 0 {
			t.Fatalf("a good UPDATE is not good: %+v", v)
		}
		told := forwarded(v.Forward, s)
		for key, nets := range want {
			if len(nets) == 0 {
				delete(want, key)
			}
		}
		if diff := cmp.Diff(want, routesIn(told)); diff != "" {
			t.Fatal(diff)
		}
		wantPath := " " + fmt.Sprint(hops) + " "
		for line := range strings.SplitSeq(told, "; ") {
			if strings.HasPrefix(line, "announce") && !strings.Contains(line+" ", wantPath) {
				t.Fatalf("path is not %s in %s", wantPath, line)
			}
		}
	})
}

func goodUpdate(s Session, nets map[string][]string, hops []int) []byte {
	p := path()
	if len(hops) > 0 {
		ases := make([]uint32, len(hops))
		for i, h := range hops {
			ases[i] = uint32(h)
		}
		p = path(segment4(asSequence, ases...))
		if !s.FourOctetAS {
			p = path(segment2(asSequence, hops...))
		}
	}
	attributes := [][]byte{origin(0), p}
	if len(nets["announce4"]) > 0 {
		attributes = append(attributes, via("192.0.2.1"))
	}
	if len(nets["announce6"]) > 0 {
		attributes = append(attributes, reach(2, 1, addr("2001:db8::1"), net(nets["announce6"]...)))
	}
	if len(nets["withdraw6"]) > 0 {
		attributes = append(attributes, unreach(2, 1, net(nets["withdraw6"]...)))
	}
	return updateOf(net(nets["withdraw4"]...), attributes, net(nets["announce4"]...))
}

func TestPathThatGrowsSplitsTheUpdate(t *testing.T) {
	hops := make([]int, 200)
	for i := range hops {
		hops[i] = i + 1
	}
	for _, key := range []string{"announce4", "announce6"} {
		nets := map[string][]string{}
		for i := 1; len(goodUpdate(twoOctet(), nets, hops)) < MaxLength-20; i++ {
			nets[key] = append(nets[key], map[string]string{"announce4": fmt.Sprintf("10.%d.%d.0/24", i/256, i%256), "announce6": fmt.Sprintf("2001:db8:%x::/48", i)}[key])
		}
		m := goodUpdate(twoOctet(), nets, hops)
		checkVerdict(t, twoOctet(), m)
		v, _ := twoOctet().Screen(m)
		if messages, _ := splitMessages(v.Forward); len(messages) != 2 {
			t.Errorf("%s: %d messages, want 2", key, len(messages))
		}
		if diff := cmp.Diff(nets, routesIn(forwarded(v.Forward, twoOctet()))); diff != "" {
			t.Error(diff)
		}
	}
}

// repeat gives n hops as segments of two-octet AS numbers.
func repeat(n int) []byte {
	var p []byte
	for ; n > 0; n -= min(n, 250) {
		ases := make([]int, min(n, 250))
		for i := range ases {
			ases[i] = 7
		}
		p = append(p, segment2(asSequence, ases...)...)
	}
	return p
}

func TestPathsAroundTheLimitLoseNoRoute(t *testing.T) {
	for _, c := range []struct {
		nlri     []byte
		count    int
		from, to int
	}{
		{net("2001:db8::1/128", "2001:db8::2/128", "2001:db8::3/128"), 3, 980, 1030},
		{make([]byte, 1900), 1900, 530, 540}, // defaults, an octet each
	} {
		for hops := c.from; hops < c.to; hops++ {
			m := updateOf(nil, [][]byte{reach(2, 1, addr("2001:db8::1"), c.nlri), origin(0), path(repeat(hops))}, nil)
			v, _ := twoOctet().Screen(m)
			if _, ok := splitMessages(v.Forward); !ok {
				t.Fatalf("%d hops: forwarded bytes are no messages", hops)
			}
			found := routesIn(forwarded(v.Forward, twoOctet()))
			gone := len(found["withdraw6"]) == c.count && v.Withdrawn == c.count && v.Reason == LongASPath
			if len(found["announce6"]) != c.count && !gone {
				t.Fatalf("%d hops: %d of %d routes are announced, reason %v", hops, len(found["announce6"]), c.count, v.Reason)
			}
		}
	}
}

func TestPathThatFitsNoMessageWithdraws(t *testing.T) {
	v, _ := twoOctet().Screen(announces(origin(0), path(repeat(1500)), via("192.0.2.1")))
	if got, want := outcome(v, twoOctet()), withdrawn+" | withdrawn=1 long-as-path"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLongestMessagesPassWhole(t *testing.T) {
	fill := func(build func(n int) []byte) []byte {
		n := 0
		for len(build(n+1)) <= MaxLength {
			n++
		}
		return build(n)
	}
	defaults := func(n int) []byte { return make([]byte, n) } // n times 0.0.0.0/0
	for name, m := range map[string][]byte{
		"withdrawn":      fill(func(n int) []byte { return updateOf(defaults(n), nil, nil) }),
		"announced":      fill(func(n int) []byte { return updateOf(nil, [][]byte{usual()}, defaults(n)) }),
		"withdrawn IPv6": fill(func(n int) []byte { return updateOf(nil, [][]byte{unreach(2, 1, defaults(n))}, nil) }),
		"announced IPv6": fill(func(n int) []byte {
			return updateOf(nil, [][]byte{reach(2, 1, addr("2001:db8::1"), defaults(n)), origin(0), sequence(1)}, nil)
		}),
		"communities": fill(func(n int) []byte {
			return updateOf(nil, [][]byte{usual(), attr(0xc0, 8, make([]byte, 4*n))}, net("203.0.113.0/24"))
		}),
	} {
		v, _ := both().Screen(m)
		if diff := cmp.Diff(m, v.Forward); diff != "" {
			t.Errorf("%s: %d octets do not pass as they are: %s", name, len(m), diff)
		}
	}
}

// TestMutantsNeverBreakTheWall changes good messages at random, as a peer gone mad would.
func TestMutantsNeverBreakTheWall(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	seeds := goodUpdates()
	seeds = append(seeds, multiprotocolCases()...)
	for range 20_000 {
		c := seeds[rnd.IntN(len(seeds))]
		body := append([]byte(nil), c.message[HeaderLength:]...)
		for range 1 + rnd.IntN(4) {
			if len(body) > 0 {
				body[rnd.IntN(len(body))] = byte(rnd.Uint32())
			}
		}
		checkVerdict(t, c.session, message(c.message[18], body[:len(body)-rnd.IntN(2)]))
	}
}
