package bgp

import "testing"

// What says of itself that it is better not relied on comes last, unless the configuration has a meaning for it.
func TestWellKnownCommunitiesPutRoutesLast(t *testing.T) {
	for _, c := range []struct {
		name, carried string
		own           []Community
		want          uint32
	}{
		{"a link that is about to be taken down", "65535:0", nil, 0},
		{"a route that outlived its session", "64501:7 65535:6", nil, 0},
		{"one that the configuration prefers for something else", "64501:50 65535:0", []Community{{Value: "64501:50", Prefer: 150}}, 0},
		{"a meaning of its own", "65535:0", []Community{{Value: "65535:0", Prefer: 70}}, 70},
		{"a meaning of its own for the other", "65535:0 65535:6", []Community{{Value: "65535:0", Prefer: 70}}, 0},
		{"NO_EXPORT", "65535:65281", nil, DefaultPreference},
		{"a large one of the same digits", "65535:0:1 65535:6:0", nil, DefaultPreference},
		{"one that ends alike", "1:65535 65535:60", nil, DefaultPreference},
	} {
		p := Partner{Communities: c.own}
		if got, refused := p.prefer(Path{Communities: c.carried}); got != c.want || refused != Believed {
			t.Errorf("%s: preference %d, %q; want %d", c.name, got, refused, c.want)
		}
	}
}
