package bgp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxPassword is the longest key that Linux takes for TCP MD5, in bytes.
const maxPassword = 80

// readPassword gives the first line of the file. Its errors never hold any of the content.
func readPassword(file string) (string, error) {
	switch kind, err := os.Stat(file); {
	case err != nil:
		return "", fmt.Errorf("password file: %w", err)
	case !kind.Mode().IsRegular():
		return "", errors.New("password file " + file + ": it is not a regular file") // and might never end
	}
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("password file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return "", fmt.Errorf("password file: %w", err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	switch {
	case len(line) == 0:
		return "", errors.New("password file " + file + ": its first line is empty")
	case len(line) > maxPassword:
		return "", fmt.Errorf("password file %s: its first line is %d bytes long, TCP MD5 takes at most %d", file, len(line), maxPassword)
	}
	return string(line), nil
}
