package sim

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const drained = `-- gslb.yaml --
datacenters: {one: {}, two: {}}
services: {www: {steer: [datacenters], answer: all, at: {one: [192.0.2.1], two: [192.0.2.2]}}}
zones: {ok.test: {ns: [ns.example.], services: {www: www}}}
-- script --
> start
  serving at once
> ask www.ok.test A from 203.0.113.7
> write gslb.yaml.d/drain.yaml
| drains: [{target: one}]
# What is told is wrong here,
> ask www.ok.test A from 203.0.113.7
  A 192.0.2.1 ttl=60
# and here.
> status
  www one serving
`

func TestDifferences(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		want         []Difference
	}{
		{"nothing is told", untold(drained), nil},
		{"something is wrong", drained, []Difference{
			{12, "ask www.ok.test A from 203.0.113.7", []string{"A 192.0.2.1 ttl=60"}, []string{"A 192.0.2.2 ttl=60"}},
			{15, "status", []string{"www one serving"}, []string{"www one drained", "  192.0.2.1 up", "www two serving", "  192.0.2.2 up"}},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			transcript, err := Run("s", []byte(tc.script))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Differences([]byte(tc.script), transcript)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if again, err := Differences(transcript, transcript); len(again) > 0 || err != nil {
				t.Errorf("a transcript differs from itself: %v, %v", again, err)
			}
		})
	}
}

// untold is a script without what its commands come to.
func untold(script string) string {
	var b strings.Builder
	for l := range strings.Lines(script) {
		if !strings.HasPrefix(l, outputMark) {
			b.WriteString(l)
		}
	}
	return b.String()
}

func TestMistakesHaveTheirLine(t *testing.T) {
	_, err := Run("s", []byte(untold(drained)+"> jump\n"))
	var m *Mistake
	if !errors.As(err, &m) || m.Line != 14 {
		t.Errorf("got %v, want a mistake in line 14", err)
	}
}

func TestDifferencesWantTheTranscriptOfTheScript(t *testing.T) {
	if _, err := Differences([]byte(drained), []byte(strings.TrimSuffix(drained, "> status\n  www one serving\n"))); err == nil {
		t.Error("another script was compared")
	}
}
