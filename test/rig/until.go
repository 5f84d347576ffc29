package rig

import (
	"sync"
	"testing"
	"time"
)

// Soon bounds the wait for what takes a moment on an idle machine and longer on a busy one.
const Soon = time.Minute

// Until polls until it gets what is wanted.
func Until(t testing.TB, patience time.Duration, want string, get func() string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		got := get()
		if got == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("got %s, want %s for %v", got, want, patience)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Output gathers what a process prints. The zero value is empty. It is safe for concurrent use.
type Output struct {
	mu   sync.Mutex
	text []byte
}

// Write adds to it.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, b...)
	return len(b), nil
}

// String is all of it.
func (o *Output) String() string { return o.Since(0) }

// Mark is where it stands now.
func (o *Output) Mark() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.text)
}

// Since is what was printed after a mark.
func (o *Output) Since(mark int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text[mark:])
}
