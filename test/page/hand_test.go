package page

import (
	"encoding/json"
	"fmt"
	"time"

	"gslb/test/rig"
)

// What a test does with a tab as people do: look, press keys, click.

// open goes to an address of the page, such as #/services, and waits until its heading stands.
func (p *tab) open(hash, heading string) {
	p.t.Helper()
	p.do("Page.navigate", args{"url": p.origin + "/" + hash})
	p.await(fmt.Sprintf("document.querySelector('h1')?.textContent === %q", heading))
}

// value evaluates an expression, and waits for its promise.
func value[T any](p *tab, expression string) T {
	p.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	p.must(p.session, "Runtime.evaluate", args{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	var v T
	if r.ExceptionDetails != nil {
		p.t.Fatalf("%s: %s %s", expression, r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description)
	}
	if len(r.Result.Value) == 0 {
		return v // undefined
	}
	if err := json.Unmarshal(r.Result.Value, &v); err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// await waits until an expression is true.
func (p *tab) await(expression string) {
	p.t.Helper()
	for end := time.Now().Add(rig.Soon); ; time.Sleep(50 * time.Millisecond) {
		if value[bool](p, "Boolean("+expression+")") {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("not so after %s: %s\nthe page shows:\n%s", rig.Soon, expression, value[string](p, "document.body.innerText"))
		}
	}
}

// sees waits until the element that a selector names has a text in it.
func (p *tab) sees(selector, text string) {
	p.t.Helper()
	p.await(fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.textContent.replace(/\\s+/g, ' ').includes(%q))", selector, text))
}

// click clicks the middle of the first element of a selector that has a text, once it stands still there: views that have
// just opened still move.
func (p *tab) click(selector, text string) {
	p.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll(%q)].find((e) => e.textContent.includes(%q) && !e.disabled)", selector, text)
	p.await(find)
	at := value[[2]float64](p, `(async () => {
		for (let before = '', still = 0; ;) {
			const e = `+find+`;
			e?.scrollIntoView({ block: 'center' });
			const r = e?.getBoundingClientRect(), now = JSON.stringify(r);
			still = now === before ? still + 1 : 0;
			before = now;
			if (e && still > 5) return [r.x + r.width / 2, r.y + r.height / 2];
			await new Promise(requestAnimationFrame);
		}
	})()`)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.do("Input.dispatchMouseEvent", args{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1})
	}
}

// keys are those that write nothing.
var keys = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40}

// press presses a key and lets it go.
func (p *tab) press(key string) {
	p.t.Helper()
	code, named := keys[key]
	down := args{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code}
	switch {
	case key == "Enter":
		down["text"] = "\r"
	case !named:
		down = args{"type": "keyDown", "key": key, "text": key}
	}
	p.do("Input.dispatchKeyEvent", down)
	p.do("Input.dispatchKeyEvent", args{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code})
}

// write types a text into what has the focus.
func (p *tab) write(text string) {
	p.t.Helper()
	for _, r := range text {
		p.press(string(r))
	}
}

// tabTo presses the tabulator until the focus is on an element for which an expression of e is true.
func (p *tab) tabTo(expression string) {
	p.t.Helper()
	for range 80 {
		p.press("Tab")
		if value[bool](p, "((e) => Boolean("+expression+"))(document.activeElement)") {
			return
		}
	}
	p.t.Fatalf("80 tabulators do not lead to %s; the focus is on %s", expression, value[string](p, "document.activeElement.outerHTML"))
}

// screen is what somebody looks at the page with.
type screen struct {
	width, height int
	phone, dark   bool
}

func (p *tab) on(s screen) {
	p.t.Helper()
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	factor := 1
	if s.phone {
		factor = 2
	}
	p.do("Emulation.setDeviceMetricsOverride", args{"width": s.width, "height": s.height, "deviceScaleFactor": factor, "mobile": s.phone})
	p.do("Emulation.setEmulatedMedia", args{"features": []args{{"name": "prefers-color-scheme", "value": scheme}}})
}
