package zone

import (
	"cmp"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// The index finds what a map finds, whatever the names are.
func TestIndexEqualsAMap(t *testing.T) {
	label := rapid.StringMatching(`[a-c]{1,9}`)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(key string) Name {
			text := ""
			for _, l := range rapid.SliceOfN(label, 0, 4).Draw(t, key) {
				text += l + "."
			}
			n, err := ParseName(cmp.Or(text, "."))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		places := map[Name]int{}
		var names []Name
		for range rapid.IntRange(0, 60).Draw(t, "names") {
			if n := draw("name"); places[n] == 0 {
				names = append(names, n)
				places[n] = len(names)
			}
		}
		x := NewIndex(names)
		asked := append([]Name{draw("asked"), draw("asked")}, names...)
		for _, n := range asked {
			at, ok := x.Find(n)
			if want := places[n]; ok != (want > 0) || ok && at+1 != want {
				t.Fatalf("%s: at %d, %v, and the map has it at %d", n, at, ok, want-1)
			}
			above := n
			for above != Root && places[above] == 0 {
				above = above.Parent()
			}
			at, ok = x.Closest(n)
			if want := places[above]; ok != (want > 0) || ok && at+1 != want {
				t.Fatalf("closest to %s: at %d, %v, and the map has %s at %d", n, at, ok, above, want-1)
			}
		}
	})
}

// Names that differ little must not crowd into few slots, for then look-ups would be slow.
func TestIndexSpreadsNames(t *testing.T) {
	const count = 100_000
	for _, form := range []string{"host-%d.ok.test.", "%d.test.", "a.%d.ok.test.", "%06x.", "long-name-of-a-host-that-differs-in-its-middle-%d-only.ok.test."} {
		names := make([]Name, count)
		for i := range names {
			n, err := ParseName(fmt.Sprintf(form, i))
			if err != nil {
				t.Fatal(err)
			}
			names[i] = n
		}
		x := NewIndex(names)
		longest, run := 0, 0
		for _, s := range x.slots {
			run++
			if s.at == 0 {
				run = 0
			}
			longest = max(longest, run)
		}
		if longest > 64 {
			t.Errorf("%s: %d slots in a row are taken", form, longest)
		}
	}
}

func TestIndexOfNothingFindsNothing(t *testing.T) {
	for _, x := range []Index{{}, NewIndex(nil)} {
		if at, ok := x.Find(Root); ok {
			t.Errorf("the root is at %d", at)
		}
	}
}
