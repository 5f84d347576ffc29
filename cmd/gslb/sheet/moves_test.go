package sheet

import "testing"

func TestPercentNeverRoundsSomethingAway(t *testing.T) {
	for part, want := range map[float64]string{
		0: "0%", 1e-7: "<0.01%", 0.125: "12.5%", 1.0 / 3: "33.33%", 0.0001: "0.01%", 0.99999: ">99.99%", 1: "100%",
	} {
		if got := percent(part); got != want {
			t.Errorf("%g: got %s, want %s", part, got, want)
		}
	}
}

func TestChangeIsOfWhatWasThere(t *testing.T) {
	for _, tc := range []struct {
		before, after, renewed float64
		want                   string
	}{
		{0.5, 0.5, 0, "none"}, {0.5, 0.5, 0.25, "50% get other addresses"}, {0, 0.1, 0, "new"}, {0.1, 0, 0, "empty"},
		{0.3, 0.4, 0, "+33.3%"}, {0.4, 0.3, 0, "-25%"}, {0.01, 0.5, 0, "x50"}, {0.5, 0.50001, 0, "<0.1%"},
	} {
		if got := (placeMoves{Before: tc.before, After: tc.after, Renewed: tc.renewed}).change(); got != tc.want {
			t.Errorf("from %g to %g: got %s, want %s", tc.before, tc.after, got, tc.want)
		}
	}
}
