package sign

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The signatures that were made beforehand are good for a quarter of their time at least, whenever one looks; a server that
// no longer renews them is seen by the clock running down.
func TestOutlookTellsWhenTheFirstSignatureEnds(t *testing.T) {
	s := newScene(t, Rules{})
	const validity = 14 * 24 * time.Hour
	if all := s.signer.Outlooks(); len(all) != 1 || !all[0].Expires.After(s.now) {
		t.Errorf("before the signer has looked: %+v", all)
	}
	for day := range 40 {
		s.now = noon.Add(time.Duration(day) * 24 * time.Hour)
		s.signer.Look(s.now)
		all := s.signer.Outlooks()
		if len(all) != 1 || all[0].Zone != s.source.Zone.Origin() || all[0].Validity != validity || !all[0].Followed {
			t.Fatalf("%+v", all)
		}
		left := all[0].Expires.Sub(s.now)
		if least, most := validity/renewal, validity; left < least || left > most {
			t.Errorf("day %d: the first ends in %s, want %s to %s", day, left, least, most)
		}
	}
	before := s.signer.Outlooks()[0].Expires

	// A folder that has lost its keys is told, and the signatures are still those of before.
	files, err := filepath.Glob(filepath.Join(s.source.Folder, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	s.now = s.now.Add(3 * time.Second)
	s.signer.Look(s.now)
	if o := s.signer.Outlooks()[0]; o.Followed || o.Expires.Before(before.Add(-time.Second)) {
		t.Errorf("without keys: %+v", o)
	}
}
