package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"gslb/test/golden"
)

// TestErrorsSayWhatToDo makes the mistakes of testdata/errors.txt, one after another, and holds what is said of them
// against it. The last folder of its header is one that holds the configurations which follow there.
func TestErrorsSayWhatToDo(t *testing.T) {
	file, err := filepath.Abs("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	globe, err := filepath.Abs("testdata/globe.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv(tokenVariable, "")
	t.Setenv("USER", "nikita")
	t.Setenv("SUDO_USER", "")
	doors := strangeDoors(t, "$GLOBE", globe, globe, "$GLOBE")
	files, mistakes, _ := strings.Cut(string(text), "\n\n$ ")
	writeFiles(t, doors.Replace(files))
	var got strings.Builder
	got.WriteString(files + "\n")
	for mistake := range strings.SplitSeq("\n\n$ "+mistakes, "\n\n$ ") {
		switch line, said, _ := strings.Cut(mistake, "\n"); {
		case line == "":
		case line == "gslb status -c bad.yaml" && answers("127.0.0.1:8053"):
			t.Logf("not made, since somebody is at the usual address: %s", line)
			fmt.Fprintf(&got, "\n$ %s\n%s\n", line, said)
		default:
			fmt.Fprintf(&got, "\n$ %s\n%s", line, saidOf(t, doors, line))
		}
	}
	golden.Compare(t, file, got.String())
}

// answers tells whether somebody listens on an address: a server of somebody else's, or of a demo.
func answers(address string) bool {
	c, err := net.Dial("tcp", address)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// saidOf makes one mistake, and gives what is written to the standard error, and the exit code. Words before "gslb" are
// variables.
func saidOf(t *testing.T, doors *strings.Replacer, line string) string {
	t.Helper()
	before, arguments, ok := strings.Cut(line, "gslb")
	if !ok {
		t.Fatalf("%q is no command", line)
	}
	t.Setenv(configVariable, "")
	t.Setenv(tokenFileVariable, "")
	for v := range strings.FieldsSeq(before) {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out, err bytes.Buffer
	code := execute(ctx, strings.Fields(arguments), streams{&out, &err})
	said := doors.Replace(err.String()) // what names an address is said by its word
	if first, _ := utf8.DecodeRuneInString(said); code != exitFine && (said == "" || unicode.IsUpper(first)) {
		t.Errorf("%s: says %q", line, said)
	}
	return fmt.Sprintf("%s=> %d\n", said, code)
}

// writeFiles writes the files of the header: after "-- NAME --" comes the text.
func writeFiles(t *testing.T, text string) {
	t.Helper()
	for part := range strings.SplitSeq(text, "\n-- ") {
		name, body, ok := strings.Cut(part, " --\n")
		if !ok {
			continue
		}
		if err := os.WriteFile(name, []byte(body+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// strangeDoors opens doors where gslb is not what it should be, and gives what puts their addresses for their words,
// and back; so it does with other words.
func strangeDoors(t *testing.T, words ...string) *strings.Replacer {
	t.Helper()
	old := http.NewServeMux()
	old.HandleFunc(versionPath, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"version": %q}`, "0.9")
	})
	refusing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error": %q}`, "none of the tokens")
	})
	for word, handler := range map[string]http.Handler{
		"$OLD": old, "$OTHER": http.NotFoundHandler(), "$REFUSING": refusing,
		"$TEXT": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }),
	} {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		address := server.Listener.Addr().String()
		words = append(words, word, address, address, word)
	}
	return strings.NewReplacer(append(words, "$NOBODY", freeAddress(t))...)
}
