package demo

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// tone is how a line feels.
type tone string

const (
	plain tone = ""
	bold  tone = "1"
	dim   tone = "2"
	bad   tone = "31"
	good  tone = "32"
	note  tone = "33"
	news  tone = "36"
)

// teller writes lines, each whole, in the order in which they come. It is safe for concurrent use.
type teller struct {
	out    io.Writer // writes under a lock of its own
	colour bool
}

func newTeller(w io.Writer, colour bool) *teller { return &teller{&orderly{w: w}, colour} }

// orderly lets one write happen after the other.
type orderly struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

func (o *orderly) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(b)
}

// say writes a line that happens now.
func (t *teller) say(as tone, text string) { t.sayAt(time.Now(), as, text) }

func (t *teller) sayAt(when time.Time, as tone, text string) {
	fmt.Fprintf(t.out, "%s %s\n", when.Local().Format(time.TimeOnly), t.paint(as, text))
}

// paint gives text its tone, where that can be seen.
func (t *teller) paint(as tone, text string) string {
	if !t.colour || as == plain {
		return text
	}
	return "\x1b[" + string(as) + "m" + text + "\x1b[0m"
}
