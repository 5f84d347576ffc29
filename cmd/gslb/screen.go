package main

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// screen is a terminal that is drawn on as a whole. What stood there before comes back when it is closed.
type screen struct {
	in, out *os.File
	before  *unix.Termios
	keys    chan byte // closed when there are no more
}

// errNoScreen says that somebody else than a person at a terminal reads, or that the terminal cannot be drawn on.
var errNoScreen = errors.New("not a terminal that can be drawn on")

// openScreen takes the terminal over: keys come one by one, and are not shown.
func openScreen(in io.Reader, out io.Writer) (*screen, error) {
	if os.Getenv("TERM") == "dumb" {
		return nil, errNoScreen
	}
	if o, ok := out.(*outlet); ok {
		out = o.to
	}
	from, ok1 := in.(*os.File)
	to, ok2 := out.(*os.File)
	if !ok1 || !ok2 {
		return nil, errNoScreen
	}
	before, err := unix.IoctlGetTermios(int(from.Fd()), unix.TCGETS)
	if err != nil {
		return nil, errNoScreen
	}
	if _, err := unix.IoctlGetWinsize(int(to.Fd()), unix.TIOCGWINSZ); err != nil {
		return nil, errNoScreen
	}
	raw := *before
	raw.Lflag &^= unix.ICANON | unix.ECHO
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(from.Fd()), unix.TCSETS, &raw); err != nil {
		return nil, err
	}
	s := &screen{in: from, out: to, before: before, keys: make(chan byte)}
	go s.listen()                                   // ends with the process: a read from a terminal cannot be called back
	_, err = to.WriteString("\x1b[?1049h\x1b[?25l") // the other screen, without a cursor
	return s, err
}

func (s *screen) listen() {
	defer close(s.keys)
	var key [1]byte
	for {
		if n, err := s.in.Read(key[:]); err != nil || n == 0 {
			return
		}
		s.keys <- key[0]
	}
}

// size is the columns and lines that there are now.
func (s *screen) size() (width, height int) {
	w, err := unix.IoctlGetWinsize(int(s.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || w.Col == 0 || w.Row == 0 {
		return 80, 24
	}
	return int(w.Col), int(w.Row)
}

// draw replaces what is on the screen. Every line ends by clearing what an earlier, longer one has left.
func (s *screen) draw(text string) error {
	_, err := s.out.WriteString("\x1b[H" + strings.ReplaceAll(text, "\n", "\x1b[K\r\n") + "\x1b[J")
	return err
}

// Close gives the terminal back as it was.
func (s *screen) Close() {
	_, _ = s.out.WriteString("\x1b[?25h\x1b[?1049l")
	_ = unix.IoctlSetTermios(int(s.in.Fd()), unix.TCSETS, s.before)
}
