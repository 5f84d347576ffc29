package health

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"

	"gslb/config/regular"
)

// Token is what a report of a push check has to show.
type Token struct {
	Hash string // SHA-256, in hex; empty: that of the first line of File
	File string // which is read each time
}

// Fits gives an error that says why a text is not the token, or why it could not be compared with it. The comparison
// takes the same time whatever the text is, and the errors hold nothing of either.
func (t Token) Fits(text string) error {
	want, err := t.sum()
	if err != nil {
		return err
	}
	got := sha256.Sum256([]byte(text))
	if subtle.ConstantTimeCompare(got[:], want) != 1 {
		return ErrToken
	}
	return nil
}

// ErrToken says that a token is not that of the check.
var ErrToken = errors.New("the token is not that of a push check of this name")

// largestToken is the most bytes of a file with a token in its first line.
const largestToken = 64 << 10

// sum is the hash of the token.
func (t Token) sum() ([]byte, error) {
	if t.File == "" {
		return hex.DecodeString(t.Hash)
	}
	text, err := regular.Read(t.File, largestToken)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if line = bytes.TrimRight(line, "\r"); len(line) == 0 {
		return nil, errors.New("token file " + t.File + ": its first line is empty")
	}
	sum := sha256.Sum256(line)
	return sum[:], nil
}

// Ready says why the token could not be compared with any.
func (t Token) Ready() error {
	_, err := t.sum()
	return err
}
