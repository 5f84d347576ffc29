package rig

import "testing"

func TestAnyValueOfCIButNoneAndFalseSkipsNothing(t *testing.T) {
	for value, want := range map[string]bool{"": false, "false": false, "0": false, "true": true, "1": true, "woodpecker": true} {
		t.Setenv("CI", value)
		if got := InCI(); got != want {
			t.Errorf("CI=%q: got %t, want %t", value, got, want)
		}
	}
}
