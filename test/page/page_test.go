package page

import (
	"net/http"
	"testing"
)

func TestOverviewShowsAWithdrawnPlaceInWordsShapeAndColour(t *testing.T) {
	t.Parallel()
	s := serving(t, "")
	p := openTab(t, s.origin())
	p.on(screen{width: 1280, height: 1000})
	p.open("", "Overview")
	p.sees(".banner", "Nothing is amiss")
	p.sees("a.marker.is-serving text", "ams")
	p.shoot("overview")

	s.endpoints[2].broken.Store(true)
	p.sees(".banner", "ams is withdrawn for all of its 2 services")
	p.sees(".map a.marker.is-withdrawn text", "ams")
	p.await("document.querySelector('.map a.marker.is-withdrawn path.stroke')") // a cross, where the others are discs
	p.await("document.querySelector('.map a.marker.is-withdrawn').getAttribute('aria-label').startsWith('ams: 2 withdrawn')")
	p.await("document.title.includes('ams withdrawn')")
	p.sees(".events .mark.is-withdrawn", "ams/web withdrawn: 10 of 20 failed")
	p.shoot("overview-withdrawn")

	p.open("#/places/ams", "ams")
	p.await("document.querySelectorAll('.checks .bad').length >= 20") // of two services, ten and more each
	p.sees("td", "status 503")
	p.await("document.querySelector('.checks').getAttribute('aria-label').includes('failed')")
	p.shoot("place-withdrawn")
	p.open("#/services/www", "www")
	p.sees(".facts dd", "out at 10 failed, back at 20 good of 20")
	p.shoot("service")
	if title := value[string](p, "document.title"); title == "taken over" {
		t.Error("what an endpoint answers to a check was run")
	}
}

func TestPageIsServedWithAStrictPolicy(t *testing.T) {
	t.Parallel()
	s := serving(t, "")
	p := openTab(t, s.origin())
	p.open("", "Overview")
	p.mu.Lock()
	policy := http.Header{}
	for name, value := range p.headers {
		policy.Set(name, value)
	}
	p.mu.Unlock()
	if got := policy.Get("Content-Security-Policy"); got == "" {
		t.Errorf("the document has no Content-Security-Policy: %v", p.headers)
	}
	// The browser enforces it: markup that is put in runs nothing, and nobody else can be asked.
	p.allow("Content Security Policy", "TrustedHTML")
	if !value[bool](p, "(() => { try { document.body.innerHTML = '<b>x</b>'; return false } catch { return true } })()") {
		t.Error("markup can be written into the page")
	}
	if !value[bool](p, "fetch('http://127.0.0.1:9/').then(() => false, () => true)") {
		t.Error("another server can be asked")
	}
	if !value[bool](p, "new Promise((done) => { const s = document.createElement('style'); s.textContent = 'body { display: none }'; document.head.append(s); done(getComputedStyle(document.body).display !== 'none') })") {
		t.Error("a style can be put in")
	}
}
