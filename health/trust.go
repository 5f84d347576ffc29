package health

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"gslb/config/regular"
)

// Trust says whose certificate a probe accepts inside TLS, and how it shows itself. The zero value
// accepts what the system's authorities have signed for the endpoint's name.
type Trust struct {
	Name  string // server name that is asked for and must be in the certificate; empty: as the kind says
	CA    string // file of the authorities that count instead of the system's (PEM)
	Blind bool   // accept any certificate: nothing is verified but its days
	Cert  string // file of our certificate, with the chain (PEM); empty: none
	Key   string // file of its key (PEM)
	Days  int    // for which the certificate must be valid still
}

func (t Trust) tell(add func(field, value string)) {
	add("server_name", t.Name)
	add("ca_file", t.CA)
	add("no_verify", truth(t.Blind))
	add("cert_file", t.Cert)
	add("key_file", t.Key)
	add("min_days", number(t.Days))
}

// handshake begins TLS on the connection with the server of this name, offering these protocols.
func (o *Outside) handshake(conn net.Conn, t Trust, name string, protocols ...string) (*tls.Conn, error) {
	own, err := o.trust.of(t)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, &tls.Config{
		RootCAs: cmp.Or(own.roots, o.roots), Certificates: own.pairs, InsecureSkipVerify: t.Blind,
		ServerName: cmp.Or(t.Name, name), NextProtos: protocols,
	})
	if err := secure.Handshake(); err != nil {
		return nil, tlsFault(err)
	}
	if t.Days > 0 && !time.Now().Before(t.until(secure)) {
		return nil, fault(fmt.Sprintf("tls: certificate ends within %d days", t.Days))
	}
	return secure, nil
}

// until is when the certificate of a connection stops being valid for as many days as are asked for.
func (t Trust) until(secure *tls.Conn) time.Time {
	return secure.ConnectionState().PeerCertificates[0].NotAfter.Add(-time.Duration(t.Days) * 24 * time.Hour)
}

// serverName is the name of an endpoint for TLS: its host without a port, or else the address.
func serverName(at netip.Addr, host string) string {
	if host == "" {
		return at.WithZone("").String()
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// tlsFault gives an error of a TLS handshake its cause; what the network did is left to cause.
func tlsFault(err error) error {
	var (
		invalid   x509.CertificateInvalidError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		record    tls.RecordHeaderError
		network   net.Error
	)
	switch {
	case errors.As(err, &invalid):
		return invalidFault(invalid)
	case errors.As(err, &authority):
		return fault("tls: unknown authority")
	case errors.As(err, &name):
		return fault("tls: name mismatch")
	case errors.As(err, &record):
		return fault("tls: not TLS")
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	return fault("tls: handshake failed")
}

func invalidFault(err x509.CertificateInvalidError) error {
	switch {
	case err.Reason != x509.Expired:
		return fault("tls: certificate invalid")
	case err.Cert != nil && time.Now().Before(err.Cert.NotBefore):
		return fault("tls: certificate not yet valid")
	}
	return fault("tls: certificate expired")
}

// trustFiles is what the files of each Trust were read into. Files that change are read again; while they
// cannot be, what they held before counts, so that a mistake on our disk does not look like one of
// every endpoint.
type trustFiles struct {
	mu   sync.Mutex
	held map[fileNames]credentials
}

// fileNames are the files of a Trust: authorities, certificate, key.
type fileNames [3]string

// credentials is what files held when they were like this.
type credentials struct {
	like  [3]likeness
	roots *x509.CertPool    // nil: no file
	pairs []tls.Certificate // one, or none without a file
}

// likeness tells an edited file from the one before.
type likeness struct {
	at   time.Time
	size int64
}

// of gives what the files of a Trust hold.
func (f *trustFiles) of(t Trust) (credentials, error) {
	names := t.files()
	if names == (fileNames{}) {
		return credentials{}, nil
	}
	like := names.like()
	f.mu.Lock()
	old, known := f.held[names]
	f.mu.Unlock()
	if known && old.like == like {
		return old, nil
	}
	now, _, err := names.read()
	switch {
	case err != nil && !known:
		return credentials{}, hindrance("tls: our own files are unreadable")
	case err != nil:
		now = old
	}
	now.like = like
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		f.held = map[fileNames]credentials{}
	}
	f.held[names] = now
	return now, nil
}

// ready says which file holds nothing of use; see [Ready].
func (t Trust) ready() (key string, err error) {
	_, key, err = t.files().read()
	return key, err
}

func (t Trust) files() fileNames { return fileNames{t.CA, t.Cert, t.Key} }

func (n fileNames) like() (all [3]likeness) {
	for i, name := range n {
		if s, err := os.Stat(name); err == nil {
			all[i] = likeness{s.ModTime(), s.Size()}
		}
	}
	return all
}

// read gives what the files hold, or the key of the config that names one that holds nothing of use.
func (n fileNames) read() (c credentials, key string, err error) {
	if n[0] != "" {
		text, err := regular.PEM(n[0])
		if err != nil {
			return c, "ca_file", err
		}
		c.roots = x509.NewCertPool()
		if !c.roots.AppendCertsFromPEM(text) {
			return c, "ca_file", fmt.Errorf("%s holds no certificate", n[0])
		}
	}
	if n[1] != "" {
		pair, err := regular.KeyPair(n[1], n[2])
		if err != nil {
			return c, "cert_file", err
		}
		c.pairs = []tls.Certificate{pair}
	}
	return c, "", nil
}
