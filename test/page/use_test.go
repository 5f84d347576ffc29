package page

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gslb/test/rig"
)

func TestWhyGivesTheReasonsOfDig(t *testing.T) {
	t.Parallel()
	s := serving(t, "")
	s.endpoints[2].broken.Store(true)
	p := openTab(t, s.origin())
	p.on(screen{width: 1280, height: 800})
	p.open("#/journal", "Journal")
	p.sees(".events", "ams/web withdrawn")

	p.click("nav a", "Why")
	p.await("document.querySelector('input[name=name]')")
	p.click("input[name=name]", "")
	p.write("video.ok.test")
	p.press("Tab")
	p.write("203.0.113.0/24")
	p.press("Enter")
	p.sees(".reasons", "place=nsk tier=1 verdict=chosen")
	p.sees(".reasons .verdict-withdrawn", "place=ams")
	diff := "not compared"
	for end := time.Now().Add(rig.Soon); diff != "" && time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		got := value[[]string](p, "[...document.querySelectorAll('.reasons li')].map((e) => e.textContent)")
		diff = cmp.Diff(withoutClocks(s.dig("CH", "TXT", "video.ok.test", "+subnet=203.0.113.0/24")), withoutClocks(got))
	}
	if diff != "" {
		t.Errorf("the page still differs from dig (-dig +page):\n%s", diff)
	}
	p.sees("code.wrap", "CH TXT video.ok.test +subnet=203.0.113.0/24")
	if hash := value[string](p, "location.hash"); hash != "#/why?name=video.ok.test&client=203.0.113.0%2F24" {
		t.Errorf("the address is %s: it cannot be sent to a colleague", hash)
	}
	p.shoot("why")

	// The server believes no resolver that names such a client, so dig cannot ask in its name.
	p.open("#/why?name=video.ok.test&client=10.1.2.3", "Why")
	p.sees(".reasons", "client=10.1.2.3 via=source")
	p.sees("code.wrap", "gslb explain video.ok.test --client 10.1.2.3")
}

// withoutClocks leaves out what differs from one moment to the next.
func withoutClocks(lines []string) []string {
	var rest []string
	for _, line := range lines {
		var words []string
		for word := range strings.FieldsSeq(line) {
			if key, _, _ := strings.Cut(word, "="); key != "since" && key != "health" && key != "age" && key != "failed" && key != "ttl" {
				words = append(words, word)
			}
		}
		rest = append(rest, strings.Join(words, " "))
	}
	return rest
}

func TestDrainByThePageIsInForceAndHasAClock(t *testing.T) {
	t.Parallel()
	s := serving(t, "")
	p := openTab(t, s.origin())
	p.on(screen{width: 1280, height: 1000})
	p.open("#/places/msk-1", "msk-1")
	p.click("a.button", "Drain msk-1")
	p.sees(".advice", "Every service keeps a serving place")
	p.click("input[name=reason]", "")
	p.write("cooling work")
	p.press("Tab")
	p.write("nikita")
	p.click("button[type=submit]", "Drain msk-1")
	p.sees(".told", "msk-1 is drained: gslb.yaml.d/drain-msk-1.yaml")
	p.sees(".drain", "cooling work · by nikita")
	p.sees(".drain .clock", "1h 59m left")
	p.sees(".drain", "drained for")
	p.sees(".departure", "Not known to be safe to power off: its load is not measured")
	p.sees(".departure", "those that keep to the TTL have it for another")
	p.sees(".forecast", "a model, not a measurement")
	p.shoot("drains")
	if reasons := strings.Join(s.dig("CH", "TXT", "www.ok.test"), "\n"); !strings.Contains(reasons, `place=msk-1`) || !strings.Contains(reasons, `verdict=drained reason="cooling work"`) {
		t.Errorf("dig does not know of the drain:\n%s", reasons)
	}
	if _, err := os.Stat(filepath.Join(s.folder, "gslb.yaml.d", "drain-msk-1.yaml")); err != nil {
		t.Error(err)
	}
	p.click("nav a", "Overview")
	p.sees(".map a.marker.is-drained text", "msk-1")
	p.shoot("overview-drained")

	p.click("nav a", "Drains")
	p.click(".drain button", "End this drain")
	p.click(".drain button", "Yes, give msk-1 its clients back")
	p.sees(".told", "msk-1 is no longer drained")
	p.sees(".panel", "no drain holds")
}

func TestDrainThatIsRefusedSaysWhy(t *testing.T) {
	t.Parallel()
	s := serving(t, "  lone: {at: {msk-1: [HOST1]}}\n")
	p := openTab(t, s.origin())
	p.allow("409 (Conflict)") // Chromium logs each answer that is none
	p.open("#/drains?place=msk-1", "Drains")
	p.sees(".advice", "Without msk-1 no place serves lone")
	p.click("button[type=submit]", "Drain msk-1")
	p.sees(".trouble[class], .trouble", "without msk-1 no place serves lone")
	p.sees(".panel", "no drain holds")
}

func TestJournalComesAsItHappens(t *testing.T) {
	t.Parallel()
	s := serving(t, "")
	p := openTab(t, s.origin())
	p.open("#/journal", "Journal")
	p.sees(".filter output", "as it happens")
	before := len(value[[]string](p, "[...document.querySelectorAll('.events li')].map((e) => e.textContent)"))
	s.endpoints[0].broken.Store(true)
	p.sees(".events li:first-child, .events li", "msk-1/web withdrawn: 10 of 20 failed, last: status 503")
	s.endpoints[0].broken.Store(false)
	p.sees(".events li:first-child, .events li", "msk-1/web restored: 20 of the last 20 succeeded")
	if after := value[int](p, "document.querySelectorAll('.events li').length"); after <= before {
		t.Errorf("the journal had %d lines, and has %d", before, after)
	}
	p.shoot("journal")
	p.open("#/journal?q=restored", "Journal")
	p.await("[...document.querySelectorAll('.events li')].every((e) => e.textContent.includes('restored'))")
}

func TestPageFitsAPhoneInTheDark(t *testing.T) {
	t.Parallel()
	s := serving(t, "")
	p := openTab(t, s.origin())
	p.on(screen{width: 360, height: 740, phone: true, dark: true})
	for _, view := range []struct{ hash, heading string }{
		{"", "Overview"}, {"#/services", "Services"}, {"#/services/www", "www"}, {"#/places", "Places"}, {"#/places/msk-1", "msk-1"},
		{"#/why?name=www.ok.test&client=203.0.113.7", "Why"}, {"#/drains?place=ams", "Drains"}, {"#/partners", "Partners"}, {"#/journal", "Journal"},
	} {
		p.open(view.hash, view.heading)
		p.await("document.querySelector('main table, main .reasons, main form, main .events')")
		if wide := value[int](p, "document.documentElement.scrollWidth"); wide > 360 {
			t.Errorf("%s is %d pixels wide on a phone of 360", view.heading, wide)
		}
		if ground := value[string](p, "getComputedStyle(document.body).backgroundColor"); ground != "rgb(15, 19, 22)" {
			t.Errorf("%s has a ground of %s in the dark", view.heading, ground)
		}
		if view.hash == "" {
			p.await("document.querySelector('.map svg .marker')")
		}
		p.shoot("phone-" + strings.ToLower(view.heading))
	}
	p.open("", "Overview")
	p.await("document.querySelector('.u-wrap canvas')")
	p.on(screen{width: 1280, height: 900, dark: true})
	p.await("innerWidth === 1280")
	p.shoot("overview-dark")
}

func TestPageIsUsedWithTheKeyboardOnly(t *testing.T) {
	t.Parallel()
	s := serving(t, "")
	p := openTab(t, s.origin())
	p.on(screen{width: 1280, height: 900})
	p.open("", "Overview")
	p.tabTo("e.textContent === 'to the content'")
	p.press("2")
	p.await("document.querySelector('h1').textContent === 'Services'")
	p.sees("tbody", "video")
	p.press("/")
	p.await("document.activeElement.matches('input[type=search]')")
	p.write("w")
	p.await("document.querySelectorAll('tbody tr').length === 1")
	p.press("Escape")
	p.press("/")
	p.tabTo("e.closest('tbody') && e.textContent === 'www'")
	if outline := value[string](p, "getComputedStyle(document.activeElement).outlineStyle"); outline != "solid" {
		t.Errorf("the link that has the focus has an outline of %s", outline)
	}
	p.shoot("keyboard")
	p.press("Enter")
	p.await("document.querySelector('h1').textContent === 'www'")
	p.sees("main table", "msk-2")
	p.tabTo("e.closest('tbody') && e.textContent === 'msk-1'")
	p.press("ArrowDown")
	p.await("document.activeElement.textContent === 'msk-2'")
	p.press("Enter")
	p.await("document.querySelector('h1').textContent === 'msk-2'")
	p.tabTo("e.textContent.startsWith('Drain msk-2')")
	p.press("Enter")
	p.await("document.querySelector('h1').textContent === 'Drains'")
	p.tabTo("e.matches('button[type=submit]')")
	p.press("Enter")
	p.sees(".told", "msk-2 is drained")
}

// Who types into a filter as soon as it is there, before the page has listened for anything, has filtered.
func TestFilterIsHeardFromItsFirstMoment(t *testing.T) {
	t.Parallel()
	s := serving(t, "")
	p := openTab(t, s.origin())
	p.open("", "Overview")
	value[bool](p, `new MutationObserver((_, self) => {
		const input = document.querySelector("main input[type=search]");
		if (!input) return;
		self.disconnect();
		input.value = "w";
		input.dispatchEvent(new Event("input", { bubbles: true }));
	}).observe(document.body, { childList: true, subtree: true }) ?? true`)
	p.press("2")
	p.await("document.querySelector('h1').textContent === 'Services'")
	p.await("document.querySelectorAll('tbody tr').length === 1")
}

func TestTokenIsAskedForOnceAndShown(t *testing.T) {
	t.Parallel()
	const token = "a-token-that-nobody-guesses"
	s := guarded(t, "", fmt.Sprintf(`night: {token: "sha256:%x", role: read}`, sha256.Sum256([]byte(token))))
	p := openTab(t, s.origin())
	p.allow("401 (Unauthorized)", "403 (Forbidden)")
	p.open("#/places", "A token is wanted")
	p.await("document.activeElement.matches('input[type=password]')")
	p.shoot("token")
	p.write("wrong")
	p.press("Enter")
	p.sees(".trouble", "does not take the token")
	p.await("document.activeElement.matches('input[type=password]') && document.activeElement.value === ''")
	if n := value[int](p, "performance.getEntriesByType('resource').filter((r) => r.responseStatus === 401).length"); n != 2 {
		t.Errorf("the page was refused %d times, want 2, for a missing and a wrong token: who is refused often is shut out", n)
	}
	p.write(token)
	p.press("Enter")
	p.sees("tbody", "msk-1")
	p.sees(".fresh", "live") // the journal, too, is shown the token
	p.open("#/drains?place=ams", "Drains")
	p.click("button[type=submit]", "Drain ams")
	p.sees(".trouble", "token night does not allow this")
}

func TestPageSaysThatWhatItShowsIsOld(t *testing.T) {
	t.Parallel()
	s := serving(t, "")
	p := openTab(t, s.origin())
	p.allow("net::ERR_CONNECTION_REFUSED", "net::ERR_INCOMPLETE_CHUNKED_ENCODING", "net::ERR_CONNECTION_RESET", "net::ERR_EMPTY_RESPONSE")
	p.open("#/places", "Places")
	p.sees("tbody", "msk-1")
	s.end()
	p.sees(".fresh", "the server does not answer; what you see is")
	p.sees("tbody", "msk-1")
	p.shoot("old")
}

func TestAThousandServicesAreShownWithoutDelay(t *testing.T) {
	t.Parallel()
	var more strings.Builder
	for i := range 998 {
		fmt.Fprintf(&more, "  s%d: {check: web, at: {msk-1: [HOST1], msk-2: [HOST2], ams: [HOST3]}}\n", i)
	}
	s := serving(t, more.String())
	p := openTab(t, s.origin())
	p.on(screen{width: 1280, height: 900})
	p.do("Page.addScriptToEvaluateOnNewDocument", args{"source": marking})
	p.open("#/services", "Services")
	p.sees(".filter output", "1 000")
	sparing(t, p)
	clock(t, p, "a browser that just began")
	p.do("Page.reload", args{"ignoreCache": true})
	p.await("performance.getEntriesByType('resource').some((r) => r.name.includes('&from=')) && document.querySelectorAll('tbody tr').length > 0")
	clock(t, p, "a browser that runs")
	if rows := value[int](p, "document.querySelectorAll('tbody tr').length"); rows > 60 {
		t.Errorf("%d rows are drawn of a table that shows some twenty", rows)
	}
	typed := value[float64](p, `(async () => {
		const input = document.querySelector('main input'), begun = performance.now();
		input.value = 's99'; input.dispatchEvent(new Event('input'));
		while (!document.querySelector('output').textContent.startsWith('9 of')) await new Promise(requestAnimationFrame);
		return performance.now() - begun;
	})()`)
	t.Logf("a filter of 1,000 services is drawn after %.0f ms", typed)
	p.shoot("services-1000")
	p.open("#/services?sort=-0", "Services")
	p.await("document.querySelector('tbody a').textContent === 'www'")
	p.do("Runtime.evaluate", args{"expression": "document.querySelector('tbody a').focus()"})
	p.press("End")
	p.await("document.activeElement.closest('tr')?.dataset.row === '999'")
	p.press("Home")
	p.await("document.activeElement.textContent === 'www'")
}
