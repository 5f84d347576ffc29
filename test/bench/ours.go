package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ours is the mixes that only we are asked: by partner prefix, by hash, and of a service that nothing serves.
var ours = []string{"routed", "hashed", "down"}

// startOurs configures our server and runs it: as the others are, or with partners and all that only we are asked.
func startOurs(w world, binary, cpu string, port int, alone bool) (*running, error) {
	w.Port = port
	values := struct {
		world
		Home     string
		Partners []string // addresses of their routers
	}{world: w, Home: w.path("gslb")}
	kinds := mixes
	if alone {
		values.Home, values.Partners, kinds = w.path("alone"), routers[:], append([]string{"static"}, ours...)
	}
	if err := os.MkdirAll(values.Home+"/gslb.yaml.d", 0o755); err != nil {
		return nil, err
	}
	static, err := os.ReadFile(w.path("static.zone"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(values.Home+"/zone", static, 0o644); err != nil {
		return nil, err
	}
	if err := fill("gslb.yaml", values.Home+"/gslb.yaml", values); err != nil {
		return nil, err
	}
	return launch("gslb", []string{binary, "serve", "-c", values.Home + "/gslb.yaml"}, values.Home, cpu, port, kinds)
}

// converged waits until clients are steered by what the partners announced.
func converged(s *running) error {
	m, err := newMix("routed", 1)
	if err != nil {
		return err
	}
	for right, end := 0, time.Now().Add(2*time.Minute); right < verified; {
		if time.Now().After(end) {
			return fmt.Errorf("clients are not steered by the partners' networks after two minutes")
		}
		reply, _ := askOnce(m, 1, s.address)
		if addressIn(reply) != netip.AddrFrom4([4]byte{192, 0, 2, 70 + byte(m.network%uint32(len(routers)))}) {
			right = 0
			time.Sleep(100 * time.Millisecond)
			continue
		}
		right++
	}
	return nil
}

// trouble is what goes on beside the queries. It goes on until the context ends.
type trouble struct {
	name   string
	mix    string        // that is asked meanwhile
	settle time.Duration // until it goes on evenly
	run    func(ctx context.Context, w *world, r routing) error
}

var troubles = []trouble{
	{"reload", "static", 2 * time.Second, reloadOften},
	{"churn", "routed", 2 * time.Second, func(ctx context.Context, _ *world, r routing) error { return r.churn(ctx, 1000) }},
	{"checks", "static", 15 * time.Second, checkMuch}, // new endpoints are probed soon
}

// reloadOften changes the configuration a hundred times a minute.
func reloadOften(ctx context.Context, w *world, _ routing) error {
	file := w.path("alone/gslb.yaml.d/reload.yaml")
	defer os.Remove(file)
	for n := 1; ; n++ {
		text := fmt.Sprintf("services: {again: {ttl: %d, steer: [datacenters], at: {NA: [192.0.2.90]}}}\n", n%1000+1)
		if err := replaceFile(file, text); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Minute / 100):
		}
	}
}

// Endpoints that are checked: so many checks of so many addresses each, every 10 s.
const manyChecks, manyAddresses = 100, 100

// checkMuch has ten thousand endpoints checked.
func checkMuch(ctx context.Context, w *world, _ routing) error {
	file := w.path("alone/gslb.yaml.d/checks.yaml")
	defer os.Remove(file)
	var addresses, checks, services strings.Builder
	for i := range manyAddresses {
		fmt.Fprintf(&addresses, "127.0.7.%d, ", i+1)
	}
	for i := range manyChecks {
		// Each has a timeout of its own: checks that ask the same are one probe.
		fmt.Fprintf(&checks, "  many-%d: {tcp: {port: %d}, interval: 10s, timeout: %dms}\n", i, w.Check, 5000+i)
		fmt.Fprintf(&services, "  many-%d: {check: many-%d, steer: [datacenters], at: {NA: [%s]}}\n", i, i, strings.TrimSuffix(addresses.String(), ", "))
	}
	if err := replaceFile(file, "checks:\n"+checks.String()+"services:\n"+services.String()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// replaceFile gives a file new content at once: nobody reads a half of it.
func replaceFile(file, text string) error {
	next := filepath.Join(filepath.Dir(filepath.Dir(file)), "next")
	if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// acceptChecks accepts connections on every address that is checked, and closes them.
func acceptChecks(port int) (closing func(), err error) {
	var doors []net.Listener
	closing = func() {
		for _, d := range doors {
			_ = d.Close()
		}
	}
	var addresses []string
	for _, e := range endpoints {
		addresses = append(addresses, e.Address)
	}
	for i := range manyAddresses {
		addresses = append(addresses, fmt.Sprintf("127.0.7.%d", i+1))
	}
	for _, a := range addresses {
		d, err := net.Listen("tcp4", net.JoinHostPort(a, fmt.Sprint(port)))
		if err != nil {
			closing()
			return nil, err
		}
		doors = append(doors, d)
		go func() {
			for {
				conn, err := d.Accept()
				if err != nil {
					return
				}
				_ = conn.Close()
			}
		}()
	}
	return closing, nil
}
