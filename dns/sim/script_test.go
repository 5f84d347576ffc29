package sim

import (
	"os"
	"strings"
	"testing"
)

func TestScriptMistakes(t *testing.T) {
	const files = "-- gslb.yaml --\ndatacenters: {one: {}}\n"
	const sound = files + "-- script --\n> start\n"
	for _, tc := range []struct{ name, script, want string }{
		{"no story", files, "s: there is no story: no line is -- script --"},
		{"no configuration", "-- script --\n", "s: there is no configuration: no file is named gslb.yaml"},
		{"text before the files", "hello\n" + sound, "s: line 1: only comments, which begin with #, may come before the first file"},
		{"two files of a name", files + sound, "s: line 3: there are two files named gslb.yaml"},
		{"output of nothing", files + "-- script --\n  hello\n", "s: line 4: there is no command right above to which this belongs"},
		{"input after output", sound + "  serving at once\n| x\n", "s: line 6: there is no command right above to which this belongs"},
		{"a line of no kind", sound + "hello\n", "s: line 5: a line begins with > for a command, | for its input, two spaces for what it came to, or # for a comment"},
		{"an open quotation", sound + "> ask \"x\n", "s: line 5: a quotation does not end"},
		{"an empty command", sound + ">  \n", "s: line 5: the line is empty"},
		{"an unknown command", sound + "> jump\n", "s: line 5: jump: there is no such command"},
		{"before the start", files + "-- script --\n> run 5s\n", "s: line 4: run: the server does not run: it wants start, and a configuration without errors"},
		{"a configuration with errors", "-- gslb.yaml --\nservices: {www: {check: web}}\n-- script --\n> start\n> run 5s\n",
			"s: line 5: run: the server does not run, for its configuration has errors:\ngslb.yaml:1:12: services.www: lacks the key at\ngslb.yaml:1:18: services.www.check: no check is named web"},
		{"a second start", sound + "> start\n", "s: line 5: start: the server runs already"},
		{"no time", sound + "> run soon\n", `s: line 5: run: "soon" is not a time of at most 31 days, as 90s`},
		{"too much time", sound + "> run 1000h\n", `s: line 5: run: "1000h" is not a time of at most 31 days, as 90s`},
		{"probes of nobody", sound + "> run 3 probes of 192.0.2.1\n", "s: line 5: run: 192.0.2.1 is not probed so often"},
		{"no cause", sound + "> fail 192.0.2.1\n", "s: line 5: fail: is said as: fail ADDRESS CAUSE, hang ADDRESS, flaky ADDRESS SSF, delay ADDRESS 800ms, or heal ADDRESS"},
		{"no client", sound + "> ask www.ok.test A\n", "s: line 5: ask: a question has a client: from ADDRESS"},
		{"no type", sound + "> ask www.ok.test WHAT from 192.0.2.1\n", "s: line 5: ask: www.ok.test WHAT is not a name and a type"},
		{"no option", sound + "> ask www.ok.test A from 192.0.2.1 loudly\n", `s: line 5: ask: "loudly" is none of from CLIENT, ecs NETWORK, tcp, x1000, ordered, bytes`},
		{"no file", sound + "> remove what.yaml\n", "s: line 5: remove: there is no file what.yaml"},
		{"an ambiguous edit", sound + "> edit gslb.yaml e o\n", `s: line 5: edit: "e" stands 3 times in gslb.yaml, not once`},
		{"input for nothing", sound + "> status\n| x\n", "s: line 5: status: takes no input"},
		{"a bad globe", files + "-- geo --\n\nMoscow country=RU\n-- script --\n", `s: geo:2: "Moscow" is not a network`},
		{"two globes", files + "-- geo --\n192.0.2.0/24 country=RU\nbuiltin\n-- script --\n", "s: geo:2: builtin is a whole map: no other line stands beside it"},
		{"a globe and more", files + "-- geo --\n# all\nbuiltin\n192.0.2.0/24 country=RU\n-- script --\n", "s: geo:3: builtin is a whole map: no other line stands beside it"},
		{"a bad location", files + "-- geo --\n192.0.2.0/24 at=north\n-- script --\n", `s: geo:1: at: "north" is not latitude,longitude in degrees`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Run("s", []byte(tc.script))
			if err == nil || err.Error() != tc.want {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestRefusedConfigurationDoesNotStart(t *testing.T) {
	const script = "-- gslb.yaml --\nservices: {www: {check: web}}\n-- script --\n> start\n"
	got, err := Run("s", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	if story := strings.TrimPrefix(string(got), script); !strings.Contains(story, "no check is named web") || strings.Contains(story, "serving") {
		t.Errorf("got %s", story)
	}
}

// A script that was written again is the same script.
func FuzzParse(f *testing.F) {
	for _, file := range scenarios(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("# c\n\n-- gslb.yaml --\n-- geo --\n::/0 at=1,2\n-- script --\n> a \"b\\\" c\" d\n|\n| x\n  y\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(text)
		if err != nil {
			return
		}
		again := s.format(func(st *step) []string { return st.output })
		if again != strings.TrimSuffix(text, "\n")+"\n" {
			t.Errorf("written again:\n%q\nwas:\n%q", again, text)
		}
		_, _ = readGlobe(s.geo)
		for _, l := range s.lines {
			if l.step != nil {
				_, _ = readAsk(l.step.words)
				_, _ = readExplain(l.step.words)
			}
		}
	})
}
