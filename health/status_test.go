package health

import (
	"testing"
)

func TestStatusSets(t *testing.T) {
	for _, c := range []struct {
		text, want string
		has, lacks []int
	}{
		{"200", "200", []int{200}, []int{199, 201, 0, -1, 1000}},
		{"200-299", "200-299", []int{200, 250, 299}, []int{199, 300}},
		{"200,204,300-302", "200,204,300-302", []int{200, 204, 300, 301, 302}, []int{201, 303}},
		{"204, 200-203", "200-204", []int{200, 203, 204}, []int{205}},
		{"100-599", "100-599", []int{100, 599}, []int{99, 600}},
		{"300-399,200-299,250", "200-399", []int{299, 300}, []int{400}},
	} {
		t.Run(c.text, func(t *testing.T) {
			s, err := ParseStatus(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if s.String() != c.want {
				t.Errorf("String() = %q, want %q", s, c.want)
			}
			for _, code := range c.has {
				if !s.Has(code) {
					t.Errorf("Has(%d) = false", code)
				}
			}
			for _, code := range c.lacks {
				if s.Has(code) {
					t.Errorf("Has(%d) = true", code)
				}
			}
		})
	}
}

func TestStatusMistakesAreTold(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `status "": "" is not a code from 100 to 599`},
		{"ok", `status "ok": "ok" is not a code from 100 to 599`},
		{"99", `status "99": "99" is not a code from 100 to 599`},
		{"200-600", `status "200-600": "600" is not a code from 100 to 599`},
		{"299-200", `status "299-200": the range 299-200 is empty`},
		{"200-250-299", `status "200-250-299": "250-299" is not a code from 100 to 599`},
		{"200,", `status "200,": "" is not a code from 100 to 599`},
		{"+200", `status "+200": "+200" is not a code from 100 to 599`},
	} {
		t.Run(c.text, func(t *testing.T) {
			_, err := ParseStatus(c.text)
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestEqualStatusSetsAreEqual(t *testing.T) {
	if mustStatus(t, "200-202") != mustStatus(t, "202,201,200") {
		t.Error("two ways to write one set differ")
	}
	if (StatusSet{}).String() != "" {
		t.Error("the zero set is not empty")
	}
}

func mustStatus(t testing.TB, text string) StatusSet {
	t.Helper()
	s, err := ParseStatus(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func FuzzParseStatus(f *testing.F) {
	for _, seed := range []string{"200", "200-299", "200,204,300-302", "599-", "-", ",", " 100 - 101 ", "200-299,x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseStatus(text)
		if err != nil {
			return
		}
		again, err := ParseStatus(s.String())
		if err != nil || again != s {
			t.Errorf("%q reads as %q, which reads as %q (%v)", text, s, again, err)
		}
	})
}
