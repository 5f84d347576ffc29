package page

import "testing"

// sparing holds what a browser has to get and to draw before it shows the first of a thousand services: that, and not the
// time that this machine happens to take, is what a slow line feels.
func sparing(t *testing.T, p *tab) {
	t.Helper()
	p.await("document.querySelector('main table').getAttribute('aria-rowcount') === '1001'") // all of them
	type sent struct{ Requests, Octets, First, Rest, Unpacked, Rows int }
	s := value[sent](p, `(() => {
		const all = performance.getEntriesByType('resource'), sum = (list, of) => list.reduce((n, r) => n + r[of], 0);
		const [document_] = performance.getEntriesByType('navigation');
		const first = all.find((r) => r.name.includes('/v1/services?')), rest = all.filter((r) => r.name.includes('&from='));
		const before = all.filter((r) => r.responseEnd > 0 && r.responseEnd <= first.responseEnd);
		return {
			requests: 1 + before.length, octets: document_.encodedBodySize + sum(before, 'encodedBodySize'), first: first.encodedBodySize,
			rest: sum(rest, 'encodedBodySize'), unpacked: sum(rest, 'decodedBodySize'), rows: document.querySelectorAll('tbody tr').length,
		};
	})()`)
	t.Logf("until the first of 1,000 services is shown: %d requests, %d octets, of them %d of services; the others take %d octets, %d unpacked", s.Requests, s.Octets, s.First, s.Rest, s.Unpacked)
	for _, c := range []struct {
		what      string
		got, most int
	}{
		{"requests before the first row", s.Requests, 12},
		{"octets before the first row", s.Octets, 80_000},
		{"octets of the first services", s.First, 4_000},
		{"octets of the other services", s.Rest, 60_000},
		{"rows that are drawn", s.Rows, 60},
	} {
		if c.got > c.most || c.got == 0 {
			t.Errorf("%s: %d, want at most %d", c.what, c.got, c.most)
		}
	}
	if s.Unpacked < 3*s.Rest {
		t.Errorf("answers are not compressed: %d octets of %d", s.Rest, s.Unpacked)
	}
}

// marking notes when the first row of a table is there.
const marking = `new MutationObserver((_, observer) => {
	if (!document.querySelector('tbody tr')) return;
	observer.disconnect();
	performance.mark('first-rows');
}).observe(document, { childList: true, subtree: true })`

// clock logs how long the page of a thousand services took to show the first of them.
func clock(t *testing.T, p *tab, in string) {
	t.Helper()
	type load struct{ Interactive, Painted, Shown float64 }
	l := value[load](p, `(() => {
		const [document] = performance.getEntriesByType('navigation');
		const at = (name) => performance.getEntriesByName(name)[0]?.startTime ?? 0;
		return { interactive: document.domInteractive, painted: at('first-contentful-paint'), shown: at('first-rows') };
	})()`)
	t.Logf("of 1,000 services in %s: document %.0f ms, first paint %.0f ms, first rows %.0f ms", in, l.Interactive, l.Painted, l.Shown)
}
