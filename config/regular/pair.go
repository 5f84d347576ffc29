package regular

import "crypto/tls"

// largestPEM is the most bytes of a file with certificates or a key.
const largestPEM = 4 << 20

// PEM reads a file of certificates or a key.
func PEM(name string) ([]byte, error) { return Read(name, largestPEM) }

// KeyPair reads a certificate with its chain, and its key, both in PEM.
func KeyPair(certificate, key string) (tls.Certificate, error) {
	chain, err := PEM(certificate)
	if err != nil {
		return tls.Certificate{}, err
	}
	secret, err := PEM(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(chain, secret)
}
