package admin_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb/config/state"
	"gslb/dns/admin"
)

// journal is one that a test writes.
type journal struct {
	mu     sync.Mutex
	events []state.Event
	more   chan struct{}
}

func (j *journal) add(place string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	id := fmt.Sprintf("%024x", len(j.events)+1)
	j.events = append(j.events, state.Event{ID: id, Time: now, Kind: "place", Text: place + " withdrawn", Fields: map[string]string{"place": place}})
	close(j.more)
	j.more = make(chan struct{})
}

func (j *journal) after(id string, limit int) (events []state.Event, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(id) != 24 {
		return nil, state.ErrID
	}
	for _, e := range j.events {
		if e.ID > id && len(events) < limit {
			events = append(events, e)
		}
	}
	return events, nil
}

func (j *journal) newest() (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return fmt.Sprintf("%024x", len(j.events)), nil
}

func (j *journal) appended() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.more
}

// followed is a server whose journal can be followed.
func followed(t *testing.T) (*journal, *httptest.Server) {
	t.Helper()
	w, j := newWorld(t), &journal{more: make(chan struct{})}
	w.deps.After, w.deps.Newest, w.deps.Appended = j.after, j.newest, j.appended
	server := httptest.NewServer(admin.New(w.deps))
	t.Cleanup(server.Close)
	return j, server
}

// follow opens a stream.
func follow(t *testing.T, server *httptest.Server, query, last string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/v1/events/stream?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

// next reads the next event: its ID and its data.
func next(t *testing.T, lines *bufio.Reader) (id, data string) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "id":
			id = value
		case "data":
			return id, value
		}
	}
}

func TestStreamTellsWhatHappensAndGoesOnWhereItWas(t *testing.T) {
	j, server := followed(t)
	j.add("before")
	response := follow(t, server, "", "")
	lines := bufio.NewReader(response.Body)
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("content type %q", kind)
	}
	j.add("msk")
	id, data := next(t, lines)
	if e := read[admin.Event](t, data); e.Text != "msk withdrawn" || e.ID != id || id != fmt.Sprintf("%024x", 2) {
		t.Errorf("got %s %s", id, data)
	}
	response.Body.Close()

	j.add("nsk")
	j.add("ekb")
	again := bufio.NewReader(follow(t, server, "place=ekb", id).Body)
	if _, data := next(t, again); !strings.Contains(data, "ekb withdrawn") {
		t.Errorf("after %s got %s", id, data)
	}
	all := bufio.NewReader(follow(t, server, "last="+id, "").Body)
	for _, want := range []string{"nsk", "ekb"} {
		if _, data := next(t, all); !strings.Contains(data, want) {
			t.Errorf("got %s, want %s", data, want)
		}
	}
}

func TestStreamsAreBounded(t *testing.T) {
	j, server := followed(t)
	var open []*http.Response
	for range 32 {
		response := follow(t, server, "", "")
		if response.StatusCode != http.StatusOK {
			t.Fatalf("stream %d: %s", len(open)+1, response.Status)
		}
		open = append(open, response)
	}
	if response := follow(t, server, "", ""); response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: %s", response.Status)
	}
	for _, r := range open {
		r.Body.Close()
	}
	for deadline := time.Now().Add(time.Minute); ; j.add("msk") { // who is gone is found out when there is something to tell
		if response := follow(t, server, "", ""); response.StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody is let in after all are gone")
		}
	}
	if response := follow(t, server, "", "yesterday"); response.StatusCode != http.StatusBadRequest {
		t.Errorf("an ID that is none: %s", response.Status)
	}
}
