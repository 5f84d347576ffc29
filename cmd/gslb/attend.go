package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"gslb/config"
	"gslb/dns"
	"gslb/dns/admin"
)

// Bounds of the admin door: it serves a few tools, and a slow one must not keep it busy.
const (
	adminHeader = 5 * time.Second
	adminRead   = 10 * time.Second
	adminWrite  = 60 * time.Second // a reload may take its time
	adminIdle   = 2 * time.Minute
	adminClose  = 500 * time.Millisecond // for requests that are under way at the end
	adminHead   = 64 << 10               // bytes of a request's header

	adminConnections = 512
	adminPerSource   = 128 // of one IPv4 address or IPv6 /64
)

// attend serves the admin door until ctx ends.
func (d *daemon) attend(ctx context.Context) error {
	if d.door == nil {
		return nil
	}
	server := &http.Server{
		Handler:           admin.New(d.deps()),
		ReadHeaderTimeout: adminHeader,
		ReadTimeout:       adminRead,
		WriteTimeout:      adminWrite,
		IdleTimeout:       adminIdle,
		MaxHeaderBytes:    adminHead,
		ConnState:         served,
		BaseContext:       func(net.Listener) context.Context { return ctx }, // who follows the journal is told of the end
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- d.serveDoor(server) }()
	d.log.Info("admin door open", "address", d.door.Addr().String(), "tls", d.doorCertificate != nil)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), adminClose)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close() // whoever still waits had its time
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// served has a connection count as busy when a request of it was answered.
func served(conn net.Conn, state http.ConnState) {
	if state == http.StateIdle {
		dns.Served(conn)
	}
}

// serveDoor serves the door, inside TLS where it has a certificate.
func (d *daemon) serveDoor(server *http.Server) error {
	if d.doorCertificate == nil {
		return server.Serve(d.door)
	}
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: d.doorCertificate.Show}
	return server.ServeTLS(d.door, "", "")
}

// openDoor opens the admin door of a configuration, unless it is off.
func (d *daemon) openDoor(cfg *config.Config) (err error) {
	listen := cfg.Admin.Listen
	if !listen.IsValid() {
		return nil
	}
	if own := cfg.Admin.TLS; own != nil {
		if d.doorCertificate, err = dns.LoadCertificate(own.Certificate, own.Key, d.log); err != nil {
			return located(cfg, "admin.tls.certificate", err)
		}
	}
	network := "tcp"
	if listen.Addr().Is4() {
		network = "tcp4" // or 0.0.0.0 would be all addresses of IPv6, too
	}
	door, err := net.Listen(network, listen.String())
	if err != nil {
		return located(cfg, "admin.listen", err)
	}
	d.door = dns.NewBounded(door, adminConnections, adminPerSource)
	return nil
}

// tokens is who may ask at the door. It stays where it was until a restart: while others reach it and the
// configuration has no tokens any more, nobody may.
func (d *daemon) tokens() []config.AdminToken {
	now := d.latest.Load().config.Admin.Tokens
	if len(now) == 0 && !d.fixed.admin.Addr().IsLoopback() {
		return []config.AdminToken{{}} // which none fits
	}
	return now
}

func (d *daemon) deps() admin.Deps {
	deps := d.looks()
	deps.Tokens, deps.Log = d.tokens, d.log
	if d.doorCertificate != nil {
		deps.Certified = d.doorCertificate.For
	}
	return deps
}

// looks is how the door looks at the server.
func (d *daemon) looks() admin.Deps {
	return admin.Deps{
		Version:  version,
		Listen:   d.fixed.admin,
		Snapshot: d.publisher.Latest,
		Server:   d.view,
		Events:   d.store.Events,
		After:    d.store.After,
		Newest:   d.store.Newest,
		Appended: d.keeper.Appended,
		Reload:   d.Reload,
		Counts:   d.responder.Counts,
		Buffers:  d.server.Buffers,
		Traces:   d.tracing.Views,
		Happened: d.keeper.happened,

		Routes:    d.peering.rib.Latest,
		Peers:     d.peering.sessions.Peers,
		Listeners: d.peering.sessions.Listeners,
		RPKI:      d.peering.vrps.Views,
		Reset:     d.peering.sessions.Reset,

		Drain:   d.drain,
		Undrain: d.undrain,
		Begun:   d.publisher.Begun,
		Load:    d.outside.Load,

		History:  d.board.History,
		Gaps:     d.runner.Gaps,
		Lag:      d.runner.Lag,
		Probes:   d.runner.Took,
		InFlight: d.runner.InFlight,
		Built:    d.publisher.Built,

		Signed:   d.signer.Counts,
		Outlooks: d.signer.Outlooks,
		Shown:    d.certificates,
		Report:   d.outside.Report,
	}
}

// certificates tells how long the certificates are good that are shown to clients.
func (d *daemon) certificates() map[string]admin.Lifetime {
	shown := map[string]*dns.Certificate{}
	for over, c := range d.server.Certificates() {
		shown[over.String()] = c
	}
	if d.doorCertificate != nil {
		shown["admin"] = d.doorCertificate
	}
	lives := make(map[string]admin.Lifetime, len(shown))
	for door, c := range shown {
		from, until := c.Span()
		lives[door] = admin.Lifetime{From: from, Until: until}
	}
	return lives
}

// view is how the server stands, for the operator.
func (d *daemon) view() admin.Server {
	now, saving := d.latest.Load(), d.keeper.stands()
	saving.File = d.fixed.state
	return admin.Server{
		Ready: now.open, Since: d.started, Listen: d.server.Addresses(), Saving: saving,
		Config: admin.Config{
			File: now.config.File, Number: now.number, Hash: now.config.Hash(), Loaded: now.loaded,
			Refused: now.refused, Failures: now.fails, Reloads: now.turns,
		},
	}
}
