package main

import (
	"embed"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"
)

//go:embed peers
var configs embed.FS

// peer is a name server that is measured.
type peer struct {
	name    string
	program string            // what has to be installed
	files   map[string]string // configuration, by template
	zone    string            // a zone file of its own holds this after the static names; "": it needs none
	folders []string
	command func(w *world, program string) []string
	mixes   []string
}

// peers are the servers beside ours.
var peers = []peer{
	{
		name: "gdnsd", program: "gdnsd", mixes: mixes,
		files:   map[string]string{"gdnsd.config": "gdnsd/config"},
		zone:    "gdnsd/zones/" + zoneName,
		folders: []string{"gdnsd/zones", "gdnsd/geoip", "gdnsd/run", "gdnsd/state"},
		command: func(w *world, program string) []string { return []string{program, "-c", w.path("gdnsd"), "start"} },
	}, {
		name: "knot", program: "knotd", mixes: mixes,
		files:   map[string]string{"knot.conf": "knot/knot.conf", "knot.geo.conf": "knot/geo.conf", "knot.lb.conf": "knot/lb.conf"},
		zone:    "knot/zone",
		folders: []string{"knot"},
		command: func(w *world, program string) []string { return []string{program, "-c", w.path("knot/knot.conf")} },
	}, {
		name: "nsd", program: "nsd", mixes: []string{"static", "nx"},
		files:   map[string]string{"nsd.conf": "nsd/nsd.conf"},
		folders: []string{"nsd"},
		command: func(w *world, program string) []string { return []string{program, "-d", "-c", w.path("nsd/nsd.conf")} },
	}, {
		name: "bind", program: "named", mixes: []string{"static", "nx"},
		files:   map[string]string{"named.conf": "bind/named.conf"},
		folders: []string{"bind"},
		command: func(w *world, program string) []string {
			return []string{program, "-f", "-n", "1", "-c", w.path("bind/named.conf")}
		},
	}, {
		name: "floor", program: "gcc", mixes: []string{"static", "geo", "ecs"},
		folders: []string{"floor"},
		command: func(w *world, _ string) []string {
			return []string{w.path("floor/floor"), strconv.Itoa(w.Port)}
		},
	},
}

// dynamic is what stands in a zone of a peer for the names that it steers.
var dynamic = map[string]string{
	"gdnsd": "geo 60 DYNA geoip!geo\nlb 10 DYNA metafo!lb\n",
	"knot":  "geo 60 A 192.0.2.10\nlb 10 A 127.0.0.11\n",
}

// running is a server that was started.
type running struct {
	name    string
	address netip.AddrPort
	mixes   []string
	command *exec.Cmd
	log     string // its path
}

// errAbsent means that a peer is not installed.
var errAbsent = errors.New("not installed")

// start configures a peer and runs it on the processor that servers are measured on.
func (p *peer) start(w world, cpu string, port int) (*running, error) {
	program, err := exec.LookPath(p.program)
	if err != nil {
		return nil, errAbsent
	}
	w.Port = port
	for _, folder := range p.folders {
		if err := os.MkdirAll(w.path(folder), 0o755); err != nil {
			return nil, err
		}
	}
	for name, file := range p.files {
		if err := fill(name, w.path(file), w); err != nil {
			return nil, err
		}
	}
	if err := p.extra(&w, program); err != nil {
		return nil, err
	}
	return launch(p.name, p.command(&w, program), w.Folder, cpu, port, p.mixes)
}

// extra makes what a peer needs beside its configuration.
func (p *peer) extra(w *world, program string) error {
	switch p.name {
	case "gdnsd":
		if err := os.Link(w.Database, w.path("gdnsd/geoip/country.mmdb")); err != nil {
			return err
		}
	case "floor":
		if out, err := exec.Command(program, "-O2", "-o", w.path("floor/floor"), "test/bench/testdata/floor.c").CombinedOutput(); err != nil {
			return fmt.Errorf("compile the floor: %w: %s", err, out)
		}
	}
	if p.zone == "" {
		return nil
	}
	static, err := os.ReadFile(w.path("static.zone"))
	if err != nil {
		return err
	}
	return os.WriteFile(w.path(p.zone), append(static, dynamic[p.name]...), 0o644)
}

// fill writes a configuration from its template.
func fill(name, file string, values any) error {
	t, err := template.ParseFS(configs, "peers/"+name+".tmpl")
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := t.Execute(&text, values); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
}

// launch runs a server in a session of its own, by which all its processes are known.
func launch(name string, command []string, folder, cpu string, port int, mixes []string) (*running, error) {
	r := &running{name: name, address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port)), mixes: mixes,
		log: filepath.Join(folder, name+".log")}
	log, err := os.Create(r.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r.command = exec.Command("taskset", slices.Concat([]string{"-c", cpu}, command)...)
	r.command.Stdout, r.command.Stderr = log, log
	r.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	if err := r.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return r, nil
}

// ready waits until the server answers its first mix.
func (r *running) ready() error {
	m, err := newMix(r.mixes[0], 1)
	if err != nil {
		return err
	}
	for range 120 {
		if reply, _ := askOnce(m, 1, r.address); m.good(reply) {
			return nil
		}
		time.Sleep(250 * time.Millisecond)
	}
	text, _ := os.ReadFile(r.log)
	return fmt.Errorf("%s does not answer; its log ends: %s", r.name, text[max(0, len(text)-1000):])
}

// stop ends the server with all its processes.
func (r *running) stop() {
	members := family(r.command.Process.Pid)
	for _, p := range members {
		_ = syscall.Kill(p, syscall.SIGTERM)
	}
	ended := time.AfterFunc(5*time.Second, func() {
		for _, p := range members {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
	})
	defer ended.Stop()
	_ = r.command.Wait()
}
