// Package doh answers the question of the web's envelope: which DNS message does an HTTP request carry, and how is its
// answer sent back (RFC 8484)?
//
// Its nouns are the message and the reply. It knows nothing of what is in them:
//
//	s := doh.Server{Path: path, TLS: config, Answer: answer, Longest: 4096, Idle: 10 * time.Second}
//	err := s.Run(ctx, listener)
//
// It has no pages, no other media type, and takes nothing that does not come inside TLS. It is apart from package dns
// so that HTTP stays where it is needed: nothing else of what answers questions can reach it.
package doh

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"sync"
	"time"
)

// mediaType is what a DNS message is to HTTP (RFC 8484 section 6).
const mediaType = "application/dns-message"

const (
	// headerSize is how many octets the head of a request may have: a question in a URL is the longest of it.
	headerSize = 16 << 10
	// streams is how many requests one HTTP/2 connection may have under way (RFC 9113 section 6.5.2 advises no fewer).
	streams = 100
	// receiveSize is how many octets of bodies may be on their way to us in one connection, the least that can be set.
	receiveSize = 64 << 10
)

// Server answers DNS messages that come by HTTP. It is not changed once it runs, but for what its functions give.
type Server struct {
	Path   func() string // where questions are asked, such as /dns-query
	TLS    *tls.Config   // without protocols: they are HTTP's
	Answer Answer

	Longest int           // octets of a message
	Idle    time.Duration // for which a connection may be silent, and a request may take to come
	Write   time.Duration // that a client may take to accept an answer
}

// Answer gives the reply to a message that came by a connection, which is one that the listener gave, and for how long
// it may be kept. No reply is for what is no request.
type Answer func(conn net.Conn, message []byte) (reply []byte, keep time.Duration)

// Run answers what comes by the listener, until ctx ends. It returns when nothing is answered any more.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	var answering sync.RWMutex // held for writing when no answer is to be made any more
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, &answering) }),
		TLSConfig:         s.TLS,
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: streams, MaxReceiveBufferPerConnection: receiveSize, MaxReceiveBufferPerStream: 2 * s.Longest, WriteByteTimeout: s.Write},
		ReadHeaderTimeout: s.Idle,
		ReadTimeout:       s.Idle,
		WriteTimeout:      s.Idle + s.Write, // it begins with the request
		IdleTimeout:       s.Idle,
		MaxHeaderBytes:    headerSize,
		ErrorLog:          log.New(io.Discard, "", 0), // of clients that come and go
		ConnContext:       remember,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.ServeTLS(l, "", "")
	_ = server.Close()
	answering.Lock()
	if !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		return fmt.Errorf("serve HTTP: %w", err)
	}
	return nil
}

// connKey is where a request's connection is in its context.
type connKey struct{}

func remember(ctx context.Context, conn net.Conn) context.Context {
	if inside, ok := conn.(*tls.Conn); ok {
		conn = inside.NetConn()
	}
	return context.WithValue(ctx, connKey{}, conn)
}

// serve answers one request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, answering *sync.RWMutex) {
	if r.URL.Path != s.Path() {
		refuse(w, http.StatusNotFound)
		return
	}
	message, status := s.message(w, r)
	if status != http.StatusOK {
		refuse(w, status)
		return
	}
	conn, ok := r.Context().Value(connKey{}).(net.Conn)
	if !ok || !answering.TryRLock() {
		refuse(w, http.StatusServiceUnavailable)
		return
	}
	reply, keep := s.Answer(conn, message)
	answering.RUnlock()
	if len(reply) == 0 {
		refuse(w, http.StatusBadRequest)
		return
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", fmt.Sprint(len(reply)))
	// RFC 8484 section 5.1. Private, for the next client of a shared cache may be to get another answer.
	h.Set("Cache-Control", fmt.Sprintf("private, max-age=%d", int(keep/time.Second)))
	_, _ = w.Write(reply) // a client that is gone asks again
}

// refuse answers by a status alone, which nobody keeps.
func refuse(w http.ResponseWriter, status int) {
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", "GET, HEAD, POST")
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, http.StatusText(status), status)
}

// message gives the DNS message of a request (RFC 8484 section 4.1), or the status that says why there is none.
func (s *Server) message(w http.ResponseWriter, r *http.Request) (message []byte, status int) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return s.asked(r)
	case http.MethodPost:
		return s.posted(w, r)
	}
	return nil, http.StatusMethodNotAllowed
}

// asked gives the message that stands in the URL.
func (s *Server) asked(r *http.Request) (message []byte, status int) {
	words := r.URL.Query()["dns"]
	if len(words) != 1 {
		return nil, http.StatusBadRequest
	}
	if base64.RawURLEncoding.DecodedLen(len(words[0])) > s.Longest {
		return nil, http.StatusRequestURITooLong
	}
	message, err := base64.RawURLEncoding.DecodeString(words[0])
	if err != nil {
		return nil, http.StatusBadRequest
	}
	return message, http.StatusOK
}

// posted gives the message that is the body.
func (s *Server) posted(w http.ResponseWriter, r *http.Request) (message []byte, status int) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != mediaType {
		return nil, http.StatusUnsupportedMediaType
	}
	message, err = io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.Longest)))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, http.StatusRequestEntityTooLarge
	case err != nil: // it did not come, or not in time
		return nil, http.StatusRequestTimeout
	}
	return message, http.StatusOK
}
