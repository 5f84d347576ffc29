package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gslb/config/state"
)

func Example() {
	folder, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)

	store, notice, err := state.Open(filepath.Join(folder, "state.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	fmt.Printf("notice %q\n", notice)

	now := time.Date(2026, 11, 29, 20, 30, 0, 0, time.UTC)
	err = store.Write(func(w *state.Writer) error {
		return w.Append(state.Event{Time: now, Kind: "place", Text: "msk-2/web withdrawn"})
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	events, err := store.Events(now.Add(-time.Hour), 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range events {
		fmt.Println(e.Time.Format(time.TimeOnly), e.Kind, e.Text)
	}
	// Output:
	// notice ""
	// 20:30:00 place msk-2/web withdrawn
}
