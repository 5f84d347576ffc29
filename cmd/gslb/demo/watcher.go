package demo

import (
	"context"
	"slices"
	"strings"
	"time"

	"gslb/dns/admin"
)

// watcher shows what changes at the name server: events, what they do to the partners' prefixes and
// to answers, and, while the window of a place fills, how near a verdict is. Only the goroutine of run
// uses it.
type watcher struct {
	door   door
	tell   *teller
	scene  scene
	config string

	since   time.Time     // of the newest event that was shown
	shown   []admin.Event // those of that very time
	version string        // of the snapshot that answers were read from
	answers []string      // by viewer
	intakes []intake
	held    bool   // a change of these waits one look for the event that explains it
	hash    string // of the configuration that limits were read from
	limits  map[string]limits
	hints   hints
}

func newWatcher(d door, t *teller, s scene, config string) *watcher {
	return &watcher{door: d, tell: t, scene: s, config: config, since: time.Now(), hints: hints{places: map[string]string{}}}
}

// look is how often the server is looked at.
const look = 250 * time.Millisecond

// run looks until ctx ends. A look that fails is made again: whether the server has ended is told by
// its process.
func (w *watcher) run(ctx context.Context) {
	ticks := time.NewTicker(look)
	defer ticks.Stop()
	for {
		w.look(ctx)
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}

// look shows what is new: causes before effects.
func (w *watcher) look(ctx context.Context) {
	status, err := w.door.status(ctx)
	if err != nil {
		return
	}
	partners, err := w.door.partners(ctx)
	if err != nil {
		return
	}
	answers, err := w.read(ctx, status.Answers)
	if err != nil {
		return
	}
	events, err := w.door.events(ctx, w.since)
	if err != nil {
		return
	}
	explained := w.tellEvents(events)
	w.tellEffects(intakesOf(partners), answers, explained)
	if status.Config.Hash != w.hash {
		w.hash, w.limits = status.Config.Hash, readLimits(w.config)
	}
	if text := w.hints.next(status.Services, w.limits, time.Now()); text != "" {
		w.tell.say(dim, text)
	}
}

// read gives what every viewer is answered, unless the snapshot is the one that was read last.
func (w *watcher) read(ctx context.Context, version string) ([]string, error) {
	if version == w.version {
		return w.answers, nil
	}
	var answers []string
	for _, v := range w.scene.viewers() {
		e, err := w.door.explain(ctx, v)
		if err != nil {
			return nil, err
		}
		answers = append(answers, w.answer(e))
	}
	if !w.held {
		w.version = version
	}
	return answers, nil
}

// answer puts into words what is answered. Where each question is a draw of its own, all that can be
// drawn are named.
func (w *watcher) answer(e admin.Explanation) string {
	var drawn []string
	var answer, placed string
	for _, l := range e.Lines {
		if l.Get("share") != "" {
			drawn = append(drawn, l.Get("place"))
		}
		answer, placed = answer+l.Get("answer"), placed+l.Get("placed")
	}
	words := "nothing"
	switch {
	case drawn != nil:
		words = "any of " + strings.Join(drawn, ", ")
	case answer != "":
		var named []string
		for _, address := range strings.Fields(answer) {
			named = append(named, w.scene.world.name(address))
		}
		words = strings.Join(named, ", ")
	}
	if placed == "all_down" {
		words += " (nobody serves)"
	}
	return words
}

// tellEvents shows the events that were not shown yet, and tells whether there were any.
func (w *watcher) tellEvents(events []admin.Event) bool {
	told := false
	for _, e := range events {
		same := func(o admin.Event) bool { return o.Time.Equal(e.Time) && o.Text == e.Text }
		own := e.Kind == "server" // the demo starts and ends the server, and tells of it
		if own || e.Time.Before(w.since) || slices.ContainsFunc(w.shown, same) {
			continue
		}
		if e.Time.After(w.since) {
			w.since, w.shown = e.Time, nil
		}
		w.shown = append(w.shown, e)
		w.tell.sayAt(e.Time, toneOf(e), e.Text)
		told = true
	}
	return told
}

func toneOf(e admin.Event) tone {
	for _, t := range []struct {
		word string
		tone tone
	}{
		{"no longer drained", good}, {"restored", good}, {"served again", good},
		{"session up", good}, {"session down", bad}, {"sessions lost", bad}, {"withdrawn", bad}, {"refused", bad}, {"nobody serves", bad}, {"drained", note},
	} {
		if strings.Contains(e.Text, t.word) {
			return t.tone
		}
	}
	return plain
}

// tellEffects shows which prefixes and answers have changed; when no event explains it, one look later.
func (w *watcher) tellEffects(intakes []intake, answers []string, explained bool) {
	switch {
	case w.answers == nil:
		w.intakes, w.answers = intakes, answers
		return
	case slices.Equal(intakes, w.intakes) && slices.Equal(answers, w.answers):
		w.held = false
		return
	case !explained && !w.held:
		w.held = true
		w.version = "" // so that the answers are read again
		return
	}
	w.held = false
	w.tellIntakes(intakes)
	for i, v := range w.scene.viewers() {
		if answers[i] != w.answers[i] {
			w.tell.say(news, "  "+v.Name+" for "+v.From+" is now "+answers[i]+", was "+w.answers[i])
		}
	}
	w.answers = answers
}
