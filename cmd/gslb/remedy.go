package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"gslb/config/state"
)

// remedy is what the operator may do about an error, where the error itself does not say it; "" where it does.
func remedy(err error) string {
	var unheard *unanswered
	var socket *net.OpError
	switch {
	case errors.As(err, &unheard):
		return unheard.remedy()
	case errors.Is(err, state.ErrInUse):
		return "is another gslb serve running? Each needs a server.state of its own"
	case errors.As(err, &socket) && socket.Op == "listen":
		return bindRemedy(socket)
	case errors.Is(err, syscall.EROFS):
		return "nothing can be written there: have it mounted for writing, or name another path"
	case errors.Is(err, fs.ErrPermission):
		return notAllowed()
	}
	return ""
}

func notAllowed() string {
	return fmt.Sprintf("user %d may not do that: run it as root, or as the user of the server (sudo -u gslb)", os.Geteuid())
}

// bindRemedy is what may be done about an address that cannot be listened on.
func bindRemedy(socket *net.OpError) string {
	switch {
	case errors.Is(socket.Err, syscall.EADDRINUSE):
		_, port, _ := net.SplitHostPort(socket.Addr.String())
		return fmt.Sprintf("who has it: ss -lntup 'sport = :%s'; end that one, or listen elsewhere", port)
	case errors.Is(socket.Err, syscall.EACCES):
		return "ports below 1024 are for root and CAP_NET_BIND_SERVICE: the unit gslb.service gives it; so does setcap cap_net_bind_service=+ep on the program"
	case errors.Is(socket.Err, syscall.EADDRNOTAVAIL):
		return "this machine does not have the address (ip address shows those that it has): listen on another, or add it first"
	}
	return ""
}

// withoutConfig are the commands that read no configuration, or are given theirs by name.
var withoutConfig = [...]string{"diff", "simulate", "schema", "man", "version", "demo"}

// whereabouts says what to do about a configuration that is not there, to whom did not name it, or that may not be read.
func (o *options) whereabouts(c *cobra.Command) string {
	if slices.Contains(withoutConfig[:], c.Name()) || len(c.Flags().Args()) > 0 && c.Name() == "check" {
		return ""
	}
	file, err := os.OpenFile(o.file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is not waited for
	if err == nil {
		_ = file.Close() // of what was only looked for
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return notAllowed()
	case !errors.Is(err, fs.ErrNotExist) || c.Flags().Changed("config"):
		return ""
	case os.Getenv(configVariable) != "":
		return "$" + configVariable + " names it: correct that, or name the configuration with -c FILE"
	}
	return "name the configuration with -c FILE or in $" + configVariable + "; gslb demo shows everything without one"
}

// unanswered says that nobody answers where the server would. It is an [errNotRunning].
type unanswered struct {
	address string
	file    string // the configuration by which the server was looked for
	doubt   string // why the address may be another; empty: it is sure
	cause   error
}

func (e *unanswered) Error() string {
	return fmt.Sprintf("gslb is not answering on %s (admin.listen): %v%s", e.address, errNotRunning, e.doubt)
}

func (e *unanswered) Is(target error) bool { return target == errNotRunning }

func (e *unanswered) Unwrap() error { return e.cause }

func (e *unanswered) remedy() string {
	var network net.Error
	switch {
	case errors.Is(e.cause, syscall.ECONNREFUSED):
		return fmt.Sprintf("nobody listens there: start it with gslb serve -c %s, or ask systemctl status gslb why its unit ended", e.file)
	case errors.Is(e.cause, context.DeadlineExceeded), errors.As(e.cause, &network) && network.Timeout():
		return "no answer in time: is the way to it shut, or the machine overloaded?"
	}
	return fmt.Sprintf("%v: if admin.tls was changed since the server began, restart it", errors.Unwrap(e.cause))
}
