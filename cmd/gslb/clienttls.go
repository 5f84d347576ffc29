package main

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"gslb/config"
)

// Where a command finds the token that it shows to a door that takes one.
const (
	tokenVariable     = "GSLB_TOKEN"
	tokenFileVariable = "GSLB_TOKEN_FILE"
)

// tokenMax bounds what is read of a file with a token.
const tokenMax = 4 << 10

// findToken gives the token of the environment, or of the first line of the file that it names; "": there is none.
func findToken() (string, error) {
	if token := os.Getenv(tokenVariable); token != "" {
		return token, nil
	}
	name := os.Getenv(tokenFileVariable)
	if name == "" {
		return "", nil
	}
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("the token that $%s names: %w", tokenFileVariable, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, tokenMax))
	if err != nil {
		return "", fmt.Errorf("the token that $%s names: %w", tokenFileVariable, err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return "", fmt.Errorf("the token that $%s names: the first line of %s is empty", tokenFileVariable, name)
	}
	return line, nil
}

// doorTransport reaches a door by no proxy, and inside TLS only the server that shows the certificate of the
// configuration: no authority is asked, since the file is on this machine.
func doorTransport(door config.Admin) *http.Transport {
	t := &http.Transport{DisableKeepAlives: true}
	if door.TLS != nil {
		t.TLSClientConfig = &tls.Config{
			InsecureSkipVerify: true, // VerifyConnection is stricter
			VerifyConnection:   func(s tls.ConnectionState) error { return isCertificate(s, door.TLS.Certificate) },
		}
	}
	return t
}

// errOtherCertificate says that the server shows another certificate than that of the configuration.
var errOtherCertificate = errors.New("it shows another certificate than admin.tls.certificate")

// isCertificate says with an error why the certificate that a server shows is not the first of a file.
func isCertificate(s tls.ConnectionState, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("admin.tls.certificate: %w", err)
	}
	for rest := text; ; {
		var one *pem.Block
		if one, rest = pem.Decode(rest); one == nil {
			return fmt.Errorf("admin.tls.certificate: %s holds none", file)
		}
		if one.Type == "CERTIFICATE" {
			if !bytes.Equal(one.Bytes, s.PeerCertificates[0].Raw) {
				return errOtherCertificate
			}
			return nil
		}
	}
}
