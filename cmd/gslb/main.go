// Command gslb is the traffic manager: one binary, a verb for everything. See "gslb help".
//
// Each verb has a file; it reads flags and calls what does the work. The running server is the
// daemon of daemon.go, which wires the packages together and reloads the configuration.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is the release, set by the linker (-ldflags "-X main.version=1.0").
var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return execute(ctx, os.Args[1:], streams{os.Stdout, os.Stderr})
}
