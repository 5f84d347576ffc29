package bgp

import (
	"bytes"
	"errors"
	"fmt"

	"gslb/config/regular"
)

// maxPassword is the longest key that Linux takes for TCP MD5, in bytes.
const maxPassword = 80

// largestPassword is the most bytes of a file with a password in its first line.
const largestPassword = 64 << 10

// PasswordReady says why the first line of a file could not sign a session.
func PasswordReady(file string) error {
	_, err := readPassword(file)
	return err
}

// readPassword gives the first line of the file. Its errors never hold any of the content.
func readPassword(file string) (string, error) {
	text, err := regular.Read(file, largestPassword)
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
