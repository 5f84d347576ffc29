package bgp

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"
	"unique"

	"pgregory.net/rapid"
)

// slow is what a table holds, as a map of maps.
type slow map[netip.Prefix]map[[2]uint32]uint32 // prefix, then peer and path ID, then MED

func (s slow) clone() slow {
	c := slow{}
	for p, claims := range s {
		c[p] = maps.Clone(claims)
	}
	return c
}

func (s slow) edit(e edit) {
	id := [2]uint32{uint32(e.claim.peer), e.claim.pathID}
	if e.withdraw {
		delete(s[e.prefix], id)
		if len(s[e.prefix]) == 0 {
			delete(s, e.prefix)
		}
		return
	}
	if s[e.prefix] == nil {
		s[e.prefix] = map[[2]uint32]uint32{}
	}
	s[e.prefix][id] = e.claim.path.Value().MED
}

func (s slow) prefixes() []netip.Prefix {
	return slices.SortedFunc(maps.Keys(s), netip.Prefix.Compare)
}

func drawEdit(t *rapid.T) edit {
	a := netip.AddrFrom4([4]byte{198, 18, rapid.Byte().Draw(t, "a"), rapid.Byte().Draw(t, "b") & 0xf0})
	e := edit{
		prefix:   netip.PrefixFrom(a, rapid.IntRange(15, 28).Draw(t, "bits")).Masked(),
		withdraw: rapid.IntRange(0, 3).Draw(t, "withdraw") == 0,
	}
	e.claim = claim{
		peer: uint16(rapid.IntRange(0, 2).Draw(t, "peer")), pathID: uint32(rapid.IntRange(0, 1).Draw(t, "path")),
		path: unique.Make(Path{MED: uint32(rapid.IntRange(0, 2).Draw(t, "med"))}),
	}
	return e
}

func TestEditedTableIsThatOfTheSlowTwin(t *testing.T) {
	peers := []peerState{{partner: "a", up: true}, {partner: "b", up: true}, {partner: "c", up: true}}
	rapid.Check(t, func(t *rapid.T) {
		table, want := &Table{}, slow{}
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			edits := rapid.SliceOfN(rapid.Custom(drawEdit), 0, 400).Draw(t, "edits")
			before, had := table, want.clone()
			for _, e := range edits {
				want.edit(e)
			}
			table = table.edited(edits, peers)
			checkTable(t, table, want)
			checkTable(t, before, had) // the old one is as it was
			checkChanged(t, before, table, had, want)
		}
	})
}

func checkTable(t *rapid.T, table *Table, want slow) {
	var got []netip.Prefix
	for p, routes := range table.All() {
		got = append(got, p)
		claims := map[[2]uint32]uint32{}
		for _, r := range routes {
			claims[[2]uint32{uint32(r.Partner[0] - 'a'), r.PathID}] = r.Path.MED
		}
		if !maps.Equal(claims, want[p]) {
			t.Fatalf("%s: got %v, want %v", p, claims, want[p])
		}
	}
	if !slices.Equal(got, want.prefixes()) || table.Len() != len(want) {
		t.Fatalf("prefixes: got %v (%d), want %v", got, table.Len(), want.prefixes())
	}
	a := netip.MustParseAddr("198.18.7.16")
	var covering, wanted []netip.Prefix
	for p := range table.Covering(a) {
		covering = append(covering, p)
	}
	for _, p := range want.prefixes() {
		if p.Contains(a) {
			wanted = append(wanted, p)
		}
	}
	slices.SortFunc(wanted, func(p, q netip.Prefix) int { return cmp.Compare(q.Bits(), p.Bits()) })
	if !slices.Equal(covering, wanted) {
		t.Fatalf("covering %s: got %v, want %v", a, covering, wanted)
	}
	block := netip.MustParsePrefix("198.18.16.0/20")
	var within, inside []netip.Prefix
	for p := range table.Within(block) {
		within = append(within, p)
	}
	for _, p := range want.prefixes() {
		if p.Bits() >= 20 && block.Contains(p.Addr()) {
			inside = append(inside, p)
		}
	}
	if !slices.Equal(within, inside) {
		t.Fatalf("within %s: got %v, want %v", block, within, inside)
	}
}

func checkChanged(t *rapid.T, before, after *Table, had, has slow) {
	var want []netip.Prefix
	all := had.clone()
	maps.Copy(all, has)
	for _, p := range all.prefixes() {
		if !maps.Equal(had[p], has[p]) {
			want = append(want, p)
		}
	}
	got := slices.Collect(after.Changed(before))
	// A claim that went and came back may stand behind another: that counts as a change.
	for _, p := range want {
		if !slices.Contains(got, p) {
			t.Fatalf("changed: %s is missing", p)
		}
	}
	if !slices.IsSortedFunc(got, netip.Prefix.Compare) {
		t.Fatalf("changed is not in order: %v", got)
	}
	if len(slices.Collect(after.Changed(after))) > 0 {
		t.Fatal("a table differs from itself")
	}
}

func TestChangedLooksOnlyAtPagesThatAreNotShared(t *testing.T) {
	table := many(100_000)
	peers := table.peers
	one := edit{prefix: netip.MustParsePrefix("100.64.7.0/24"), claim: claim{path: unique.Make(Path{MED: 9})}}
	next := table.edited([]edit{one}, peers)
	if got := fmt.Sprint(slices.Collect(next.Changed(table))); got != "[100.64.7.0/24]" {
		t.Errorf("changed %s", got)
	}
	shared := 0
	for _, pg := range next.pages {
		if slices.Contains(table.pages, pg) {
			shared++
		}
	}
	if shared != len(table.pages)-1 {
		t.Errorf("%d of %d pages are shared", shared, len(table.pages))
	}
}

// many is a table of n prefixes /24 from 16.0.0.0 on.
// A peer that says again what it has said makes no table; one that says other things makes only their pages.
func TestAnnouncedAgainNothingIsCopied(t *testing.T) {
	s := newStory(t, nil)
	s.sync(s.a, "192.0.2.0/24 198.51.100.0/24")
	s.sync(s.b, "192.0.2.0/24")
	before := s.rib.Latest()
	s.now = s.now.Add(time.Minute)
	s.announce(s.a, "198.51.100.0/24 192.0.2.0/24 -203.0.113.0/24")
	s.announce(s.b, "192.0.2.0/24")
	if after := s.rib.Latest(); after != before {
		t.Errorf("version %d became %d", before.Version(), after.Version())
	}
	for _, other := range []string{"203.0.113.0/24", "-192.0.2.0/24"} {
		before = s.rib.Latest()
		if s.announce(s.b, other); s.rib.Latest() == before {
			t.Errorf("%s made no table", other)
		}
	}
}

func many(n int) *Table {
	edits := make([]edit, n)
	path := unique.Make(Path{Origin: 64501, Length: 1})
	for i := range edits {
		a := netip.AddrFrom4([4]byte{byte(16 + i>>16), byte(i >> 8), byte(i), 0})
		edits[i] = edit{prefix: netip.PrefixFrom(a, 24), claim: claim{path: path, preference: DefaultPreference}}
	}
	return (&Table{}).edited(edits, []peerState{{partner: "p", up: true}})
}

// BenchmarkMillionAgain announces a million routes again in batches of 4096, as a peer does that is asked to: nothing
// changes.
func BenchmarkMillionAgain(b *testing.B) {
	table := many(1_000_000)
	var all []edit
	for p, claims := range table.claims() {
		all = append(all, edit{prefix: p, claim: claims[0]})
	}
	b.ReportAllocs()
	for b.Loop() {
		for batch := range slices.Chunk(all, 4096) {
			if !table.edited(slices.Clone(batch), table.peers).is(table) {
				b.Fatal("the table is another one")
			}
		}
	}
}

func BenchmarkOneUpdateOnAMillion(b *testing.B) {
	table := many(1_000_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e := edit{prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(16 + i%15), byte(i >> 4), byte(i), 0}), 24)}
		e.claim = claim{path: unique.Make(Path{MED: uint32(i % 3)})}
		next := table.edited([]edit{e}, table.peers)
		for range next.Changed(table) {
		}
		table = next
	}
}
