package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const drainable = "datacenters: {msk: {}, spb: {}, msk-web: {}}\nservices: {web: {at: {msk: [192.0.2.1], spb: [192.0.2.2], msk-web: [192.0.2.3]}}}\n"

func TestDrainComesBackAsWritten(t *testing.T) {
	main := write(t, t.TempDir(), "gslb.yaml", drainable)
	for _, d := range []Drain{
		{Target: "msk"},
		{Target: "msk", Service: "web"},
		{Target: "spb", Until: time.Date(2026, 12, 24, 6, 0, 0, 0, time.UTC), Reason: "cooling work", By: "nikita", Hard: true},
		{Target: "spb", Reason: "кабель \"№ 5\": \\ \t\x00\u2028\ufeff {a: b} # c", By: "42"},
	} {
		path, err := WriteDrain(main, d)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(DrainText(d)), string(text)); diff != "" {
			t.Errorf("%s (-DrainText +file):\n%s", path, diff)
		}
		root, ps := parseText(Source{path, text})
		c, more := read(root)
		if len(c.Drains) != 1 {
			t.Fatalf("%s holds %d drains\n%s%s", text, len(c.Drains), told(ps), told(more))
		}
		got := c.Drains[0]
		got.Pos = Pos{}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Errorf("drain (-want +got):\n%s", diff)
		}
		if _, err := RemoveDrain(main, d.Target, d.Service); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(main + ".d")
	if err != nil || len(left) > 0 {
		t.Errorf("after all drains were removed the drop-in folder holds %v, %v", left, err)
	}
}

func TestDrainText(t *testing.T) {
	got := string(DrainText(Drain{Target: "msk-2", Service: "video", Until: time.Date(2026, 12, 24, 9, 0, 0, 0, time.FixedZone("", 3*3600)), Reason: "cooling work", By: "nikita", Hard: true}))
	want := `# Written by gslb drain; gslb undrain takes it away.
drains:
  - target: "msk-2"
    service: "video"
    until: 2026-12-24T06:00:00Z
    reason: "cooling work"
    by: "nikita"
    hard: true
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestDrainIsInForceAfterLoading(t *testing.T) {
	main := write(t, t.TempDir(), "gslb.yaml", drainable)
	path, err := WriteDrain(main, Drain{Target: "msk", Service: "web"})
	if want := filepath.Join(main+".d", "drain-msk-web.yaml"); err != nil || path != want {
		t.Fatalf("got %s, %v, want %s", path, err, want)
	}
	again, err := WriteDrain(main, Drain{Target: "msk", Service: "web", Hard: true})
	if err != nil || again != path {
		t.Fatalf("the same drain again: %s, %v, want %s", again, err, path)
	}
	if c := loaded(t, main); len(c.Drains) != 1 || !c.Drains[0].Hard || c.Drains[0].Pos.File != path {
		t.Errorf("drains: %+v", c.Drains)
	}
}

func TestDrainsWhoseNamesMeetDoNotOverwriteEachOther(t *testing.T) {
	main := write(t, t.TempDir(), "gslb.yaml", drainable)
	for _, d := range []Drain{{Target: "msk", Service: "web"}, {Target: "msk-web"}} {
		if _, err := WriteDrain(main, d); err != nil {
			t.Fatal(err)
		}
	}
	if c := loaded(t, main); len(c.Drains) != 2 {
		t.Fatalf("drains: %+v", c.Drains)
	}
	path, err := RemoveDrain(main, "msk", "web")
	if want := filepath.Join(main+".d", "drain-msk-web.yaml"); err != nil || path != want {
		t.Errorf("got %s, %v, want %s", path, err, want)
	}
	if c := loaded(t, main); len(c.Drains) != 1 || c.Drains[0].Target != "msk-web" {
		t.Errorf("drains: %+v", c.Drains)
	}
}

func TestDrainThatWouldNotLoadIsNotWritten(t *testing.T) {
	main := write(t, t.TempDir(), "gslb.yaml", drainable)
	for _, d := range []Drain{{}, {Target: "../msk"}, {Target: "msk", Service: "a/b"}, {Target: "msk", Reason: "two\nlines"}} {
		if path, err := WriteDrain(main, d); err == nil {
			t.Errorf("%+v was written to %s", d, path)
		}
	}
	_, err := WriteDrain(main, Drain{Target: "msk", Reason: "two\nlines"})
	want := `drain msk: reason: must be one line of text, not the text "two\nlines"`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestUndrainLeavesHandWrittenDrains(t *testing.T) {
	folder := t.TempDir()
	main := write(t, folder, "gslb.yaml", drainable+"drains:\n  - {target: msk}\n")
	byHand := write(t, folder, "gslb.yaml.d/drain-spb.yaml", "drains:\n  - {target: spb}\n  - {target: msk-web}\n")
	for _, tc := range []struct{ place, want string }{
		{"msk", "the drain of msk stands in " + main + ":4:5, which gslb did not write: remove it there"},
		{"spb", "the drain of spb stands in " + byHand + ":2:5, which gslb did not write: remove it there"},
		{"nsk", "there is no drain of nsk"},
	} {
		path, err := RemoveDrain(main, tc.place, "")
		if err == nil || err.Error() != tc.want || path != "" {
			t.Errorf("got %q, %v\nwant %s", path, err, tc.want)
		}
	}
	written, err := WriteDrain(main, Drain{Target: "msk"})
	if err != nil {
		t.Fatal(err)
	}
	if path, err := RemoveDrain(main, "msk", ""); path != written || err == nil {
		t.Errorf("got %q, %v, want %q removed and the other named", path, err, written)
	}
}

func TestDrainDoesNotOverwriteTheOperatorsFile(t *testing.T) {
	folder := t.TempDir()
	main := write(t, folder, "gslb.yaml", drainable)
	const text = "drains: [{target: spb}, {target: msk}]\n"
	theirs := write(t, folder, "gslb.yaml.d/drain-msk.yaml", text)
	path, err := WriteDrain(main, Drain{Target: "msk"})
	if want := filepath.Join(main+".d", "drain--msk.yaml"); err != nil || path != want {
		t.Errorf("got %s, %v, want %s", path, err, want)
	}
	if got, err := os.ReadFile(theirs); err != nil || string(got) != text {
		t.Errorf("their file holds %q, %v", got, err)
	}
	write(t, folder, "gslb.yaml.d/drain--msk.yaml", text)
	if path, err := WriteDrain(main, Drain{Target: "msk"}); err == nil {
		t.Errorf("with both names taken the drain was written to %s", path)
	}
}

func TestDrainIsOverFromItsTimeOn(t *testing.T) {
	until := time.Date(2026, 12, 24, 6, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		drain Drain
		now   time.Time
		want  bool
	}{
		{Drain{Until: until}, until.Add(-1), false},
		{Drain{Until: until}, until, true},
		{Drain{}, until, false},
	} {
		if got := tc.drain.Over(tc.now); got != tc.want {
			t.Errorf("until %s, at %s: over is %t", tc.drain.Until, tc.now, got)
		}
	}
}
