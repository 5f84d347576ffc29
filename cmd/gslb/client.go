package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"gslb/config"
	"gslb/dns/admin"
)

// client asks the running server.
type client struct {
	address netip.AddrPort
	file    string // the configuration that says so
	door    config.Admin
	doubt   string // why the address may be another; empty: it is sure
}

// answerTime bounds how long a command waits for the server. A reload of a large configuration takes
// its time.
const answerTime = 60 * time.Second

// errNotRunning says that nobody answers where the server would.
var errNotRunning = errors.New("is it running?")

// findServer finds the server of a configuration by its admin.listen. Problems elsewhere in the
// configuration do not hinder.
func findServer(file string) (client, error) {
	cfg, problems := config.Load(file)
	wrong := mistakes(problems)
	for _, p := range wrong {
		if strings.HasPrefix(p.Path, "admin") {
			return client{}, errors.New(p.String())
		}
	}
	if err := unread(file, wrong); err != nil {
		return client{}, err
	}
	doubt := ""
	if len(wrong) > 0 && cfg.At("admin") == (config.Pos{}) {
		if door, ok := config.LoadAdmin(file); ok {
			cfg.Admin = door
		} else {
			doubt = "\nadmin.listen may be another: " + wrong[0].String()
		}
	}
	if !cfg.Admin.Listen.IsValid() {
		return client{}, fmt.Errorf("no server can be asked: admin.listen is off in %s (give it an address, such as 127.0.0.1:8053, and restart the server)", file)
	}
	server := clientOf(cfg)
	server.file, server.doubt = file, doubt
	return server, nil
}

// clientOf gives the client of a configuration's server. A door that is open on every address is
// asked on loopback.
func clientOf(cfg *config.Config) client {
	address := cfg.Admin.Listen
	switch a := address.Addr(); {
	case !a.IsUnspecified():
	case a.Is4():
		address = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), address.Port())
	default:
		address = netip.AddrPortFrom(netip.IPv6Loopback(), address.Port())
	}
	return client{address: address, door: cfg.Admin}
}

// get asks and reads the answer into a value.
func get[T any](ctx context.Context, c client, path string, query url.Values) (answer T, err error) {
	err = c.ask(ctx, http.MethodGet, path, query, &answer)
	return answer, err
}

// reload has the server read its configuration again.
func (c client) reload(ctx context.Context) (outcome admin.Reload, err error) {
	err = c.ask(ctx, http.MethodPost, "/v1/reload", nil, &outcome)
	return outcome, err
}

func (c client) ask(ctx context.Context, method, path string, query url.Values, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := c.request(ctx, method, path, query)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: doorTransport(c.door)}).Do(request)
	if errors.Is(err, errOtherCertificate) {
		return fmt.Errorf("the server on %s (admin.listen) is not trusted: %w", c.address, errOtherCertificate)
	}
	if err != nil {
		return &unanswered{c.address.String(), c.file, c.doubt, err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("the server on %s: %w", c.address, err)
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusUnprocessableEntity {
		var failure admin.Failure
		if json.Unmarshal(body, &failure) == nil && failure.Error != "" {
			return &refusal{response.StatusCode, failure.Error}
		}
		return c.stranger(ctx, path, response.Status)
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("%s (admin.listen) does not answer as gslb does: %w", c.address, err)
	}
	return nil
}

// refusal is what the server says instead of what it was asked for.
type refusal struct {
	code int // of HTTP
	text string
}

func (e *refusal) Error() string { return e.text }

// stranger says that who answers does not know what it was asked for: it is another release of gslb, or no gslb at all.
func (c client) stranger(ctx context.Context, path, answered string) error {
	var theirs admin.Version
	if path == versionPath || c.ask(ctx, http.MethodGet, versionPath, nil, &theirs) != nil || theirs.Version == "" {
		return fmt.Errorf("%s (admin.listen of %s) answers %s: is it gslb?", c.address, c.file, answered)
	}
	return fmt.Errorf("the server on %s is gslb %s, which does not know %s; this is gslb %s: restart the server with it", c.address, theirs.Version, path, version)
}

const versionPath = "/v1/version"

// request makes a request, with the token where there is one.
func (c client) request(ctx context.Context, method, path string, query url.Values) (*http.Request, error) {
	where := url.URL{Scheme: "http", Host: c.address.String(), Path: path, RawQuery: query.Encode()}
	if c.door.TLS != nil {
		where.Scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, method, where.String(), nil)
	if err != nil || len(c.door.Tokens) == 0 {
		return request, err
	}
	token, err := findToken()
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request, err
}
