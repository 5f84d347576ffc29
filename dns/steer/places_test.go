package steer

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A member is found by its place as by looking through all of them, however far places are from each other.
func TestMembersAreFoundByTheirPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int32{3, 63, 64, 1000}).Draw(t, "most")
		places := rapid.SliceOfNDistinct(rapid.Int32Range(0, most), 0, 40, rapid.ID[int32]).Draw(t, "places")
		set := &placeSet{}
		for _, p := range slices.Sorted(slices.Values(places)) {
			set.at = append(set.at, placeID(p))
		}
		set.near = nearOf(set.at)
		for p := range placeID(most + 70) {
			want := slices.Index(set.at, p)
			if i, ok := set.member(p); ok != (want >= 0) || ok && i != want {
				t.Fatalf("place %d of %v: member %d, %v", p, set.at, i, ok)
			}
		}
	})
}
