package dns

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"gslb/test/rig"
)

// confining is what makes the test's own binary confine itself and become the program that it names: the file of the
// filter, and then the program and its arguments.
const confining = "GSLB_CONFINING"

// confine applies a filter of system calls to this process, which becomes another program under it. It returns when
// that is not to be done.
func confine() {
	file := os.Getenv(confining)
	if file == "" {
		return
	}
	if err := applyFilter(file); err != nil {
		fmt.Fprintln(os.Stderr, "confine:", err)
		os.Exit(1)
	}
	_ = os.Unsetenv(confining)
	fmt.Fprintln(os.Stderr, "confine:", syscall.Exec(os.Args[1], os.Args[1:], os.Environ()))
	os.Exit(1)
}

func applyFilter(file string) error {
	code, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(code)/8)
	if err := binary.Read(bytes.NewReader(code), binary.NativeEndian, filter); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}

// Where the kernel puts what a filter looks at (struct seccomp_data), and what it answers.
const (
	dataNumber = 0
	dataArg0   = 16
	dataArg2   = 32

	allowed = unix.SECCOMP_RET_ALLOW
	refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	missing = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// unitFilter is what the unit's words make of system calls, as systemd would: those that SystemCallFilter names, and of
// these less by RestrictAddressFamilies, MemoryDenyWriteExecute and RestrictNamespaces.
func unitFilter(t *testing.T, unit string) []byte {
	t.Helper()
	numbers := callNumbers(t)
	calls := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^SystemCallFilter=(~?)(.*)$`).FindAllStringSubmatch(unit, -1) {
		for _, set := range strings.Fields(m[2]) {
			for _, call := range callsOf(t, set) {
				calls[call] = m[1] == ""
			}
		}
	}
	if len(calls) < 200 {
		t.Fatalf("the unit names %d system calls", len(calls))
	}
	code := []bpf.Instruction{bpf.LoadAbsolute{Off: dataNumber, Size: 4}}
	when := func(call string, then ...bpf.Instruction) {
		code = append(append(code, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: numbers[call], SkipTrue: uint8(len(then))}), then...)
	}
	refuse, permit := bpf.RetConstant{Val: refused}, bpf.RetConstant{Val: allowed}
	var families []uint32
	for _, word := range strings.Fields(regexp.MustCompile(`(?m)^RestrictAddressFamilies=(.*)$`).FindStringSubmatch(unit)[1]) {
		families = append(families, map[string]uint32{"AF_INET": unix.AF_INET, "AF_INET6": unix.AF_INET6, "AF_UNIX": unix.AF_UNIX, "AF_NETLINK": unix.AF_NETLINK}[word])
	}
	socket := []bpf.Instruction{bpf.LoadAbsolute{Off: dataArg0, Size: 4}}
	for _, f := range families {
		socket = append(socket, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: f, SkipTrue: 1}, permit)
	}
	when("socket", append(socket, refuse)...)
	when("mmap", bpf.LoadAbsolute{Off: dataArg2, Size: 4}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: unix.PROT_WRITE | unix.PROT_EXEC},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.PROT_WRITE | unix.PROT_EXEC, SkipTrue: 1}, refuse, permit)
	when("mprotect", bpf.LoadAbsolute{Off: dataArg2, Size: 4}, bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: unix.PROT_EXEC, SkipTrue: 1}, refuse, permit)
	const namespaces = unix.CLONE_NEWCGROUP | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUSER | unix.CLONE_NEWUTS
	when("clone", bpf.LoadAbsolute{Off: dataArg0, Size: 4}, bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: namespaces, SkipTrue: 1}, refuse, permit)
	when("clone3", bpf.RetConstant{Val: missing}) // its flags cannot be looked at
	when("unshare", refuse)
	when("setns", refuse)
	for call, may := range calls {
		if number, known := numbers[call]; may && known {
			code = append(code, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: number, SkipTrue: 1}, permit)
		}
	}
	code = append(code, refuse)
	raw, err := bpf.Assemble(code)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, r := range raw {
		_ = binary.Write(&out, binary.NativeEndian, unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K})
	}
	return out.Bytes()
}

// callsOf gives the system calls of a set, as systemd knows it.
func callsOf(t *testing.T, set string) (calls []string) {
	t.Helper()
	if !strings.HasPrefix(set, "@") {
		return []string{set}
	}
	for i, line := range strings.Split(run(t, rig.Installed(t, "systemd-analyze", "systemd"), "syscall-filter", "--no-pager", set), "\n") {
		if word := strings.TrimSpace(line); i > 0 && word != "" && !strings.HasPrefix(word, "#") {
			calls = append(calls, callsOf(t, word)...)
		}
	}
	return calls
}

// callNumbers gives the numbers of system calls, as the C headers of this machine have them.
func callNumbers(t *testing.T) map[string]uint32 {
	t.Helper()
	out, err := exec.Command(rig.Installed(t, "gcc", "gcc"), "-dM", "-E", "-include", "asm/unistd.h", "-x", "c", "/dev/null").Output()
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]uint32{}
	for _, m := range regexp.MustCompile(`(?m)^#define __NR_(\w+) (\d+)$`).FindAllStringSubmatch(string(out), -1) {
		n, err := strconv.ParseUint(m[2], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		numbers[m[1]] = uint32(n)
	}
	return numbers
}

// jailed is a server that needs all that the unit must leave it: low ports, a state file, the BGP speaker, a port for
// BGP, commands, echoes. What the unit must not leave anybody is tried by commands that have to fail.
const jailed = `
server: {listen: ["0.0.0.0:53", "[::]:53"], state: /mnt/state/state.db, tls: {listen: ["0.0.0.0:853"], certificate: cert.pem, key: key.pem}, quic: {listen: ["0.0.0.0:853"], certificate: cert.pem, key: key.pem}, https: {listen: ["0.0.0.0:443"], certificate: cert.pem, key: key.pem}}
admin: {listen: "127.0.0.1:8053"}
geo: {database: globe.mmdb}
checks:
  command: {exec: {command: [/bin/sh, -c, "exit 0"]}, interval: 1s, timeout: 1s}
  echo: {icmp: {}, interval: 1s, timeout: 1s}
  writes: {exec: {command: [/bin/sh, -c, "echo x > /mnt/etc/x || echo x > /usr/x || exit 2"]}, interval: 1s}
  becomes: {exec: {command: [/bin/sh, -c, "unshare --user true || exit 2"]}, interval: 1s}
datacenters: {msk: {}}
sites: {nsk: {partners_only: true}}
bgp: {asn: 64512, router_id: 192.0.2.53, listen: ["127.0.0.1:179"]}
partners: {sibtel: {site: nsk, peers: [{address: 127.0.0.9, port: 179, asn: 64501}]}}
services:
  command: {check: command, at: {msk: [127.0.0.1]}}
  echo: {check: echo, at: {msk: [127.0.0.1]}}
  writes: {check: writes, at: {msk: [127.0.0.1]}}
  becomes: {check: becomes, at: {msk: [127.0.0.1]}}
  www: {at: {msk: [192.0.2.1], nsk: [192.0.2.2]}}
zones: {ok.test: {ns: [ns.example.], services: {www: www, a: command, b: echo, c: writes, d: becomes}}}
`

// jail runs the server as the unit has it, as far as that goes without systemd: in a mount namespace that is read-only
// but for its state, with a /tmp of its own, as a user without rights but for low ports, under the filter. Then it
// asks. The server is known by its process, not by its name, which a command that it begins has as well for a moment.
const jail = `
set -eu
ip link set lo up
echo "0 2147483647" > /proc/sys/net/ipv4/ping_group_range
mount -t tmpfs tmpfs /mnt
mkdir /mnt/etc /mnt/state
cp "$FOLDER"/* /mnt/etc/
cp "$GSLB" /mnt/etc/gslb
cp "$SELF" /mnt/etc/confine
chmod -R a+rX /mnt
chown 61234:61234 /mnt/state
mount --bind /mnt/state /mnt/state
mount -o remount,ro /mnt
mount -o remount,rw /mnt/state
mount -t tmpfs tmpfs /tmp
mount -t tmpfs -o ro tmpfs /home
mount --bind / / && mount -o remount,ro,bind /
cd /mnt/etc
GSLB_CONFINING=/mnt/etc/filter setpriv --reuid 61234 --regid 61234 --clear-groups --no-new-privs --inh-caps=-all,+net_bind_service --ambient-caps=-all,+net_bind_service --bounding-set=-all,+net_bind_service \
  /mnt/etc/confine /mnt/etc/gslb serve -c gslb.yaml 2>/mnt/state/log & server=$!
seconds=0
until dig +short +tries=1 +time=1 @127.0.0.2 www.ok.test | grep -q 192.0.2.1; do seconds=$((seconds+1)); [ $seconds -lt 300 ] || { cat /mnt/state/log; exit 1; }; sleep 0.3; done
echo "tcp $(dig +short +tcp @::1 www.ok.test)"
echo "tls $(kdig +short +tls @127.0.0.3 www.ok.test)"
echo "quic $(kdig +short +quic @127.0.0.3 www.ok.test)"
echo "https $(kdig +short +https @127.0.0.3 www.ok.test)"
seconds=0
until curl -s http://127.0.0.1:8053/metrics > /mnt/state/metrics && grep -q 'endpoint_up{.*"writes"} 0' /mnt/state/metrics && grep -q 'endpoint_up{.*"becomes"} 0' /mnt/state/metrics && pgrep -x exe >/dev/null; do seconds=$((seconds+1)); [ $seconds -lt 300 ] || break; sleep 0.3; done
grep endpoint_up{ /mnt/state/metrics
echo "speaker $(tr '\0' ' ' < /proc/$(pgrep -x exe)/cmdline)"
grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp|Uid):' /proc/$server/status
kill -TERM $server
wait $server && echo "ended well"
ls /mnt/state
cat /mnt/state/log
`

// The server does all that it does under the unit's limits, and under them what it starts can do no harm.
func TestWorksUnderTheUnitsLimits(t *testing.T) {
	for program, debian := range map[string]string{"unshare": "util-linux", "setpriv": "util-linux", "dig": "bind9-dnsutils", "kdig": "knot-dnsutils", "curl": "curl", "pgrep": "procps", "openssl": "openssl", "ip": "iproute2"} {
		rig.Installed(t, program, debian)
	}
	if os.Getuid() != 0 {
		rig.Missing(t, "only root may make namespaces")
	}
	unit, err := os.ReadFile("../../deploy/gslb.service")
	if err != nil {
		t.Fatal(err)
	}
	gslb, err := rig.Program()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	globe, err := os.ReadFile("../../cmd/gslb/testdata/globe.mmdb") // under the race detector the built-in one takes longer to read than the script waits
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"filter": string(unitFilter(t, string(unit))), "gslb.yaml": jailed, "globe.mmdb": string(globe)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=ns1.ok.test",
		"-keyout", filepath.Join(folder, "key.pem"), "-out", filepath.Join(folder, "cert.pem"))
	p := exec.Command("unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "--propagation", "private", "sh", "-c", jail)
	p.Env = append(os.Environ(), "FOLDER="+folder, "GSLB="+gslb, "SELF="+self)
	out, err := p.CombinedOutput()
	if err != nil {
		t.Errorf("unshare: %v", err)
	}
	for _, want := range []string{
		"tcp 192.0.2.1", "tls 192.0.2.1", "quic 192.0.2.1", "https 192.0.2.1",
		`gslb_endpoint_up{.*service="command"} 1`, `gslb_endpoint_up{.*service="echo"} 1`, `gslb_endpoint_up{.*service="writes"} 0`, `gslb_endpoint_up{.*service="becomes"} 0`,
		"speaker /proc/self/exe bgp-speaker", `CapEff:\s+0000000000000400`, `CapBnd:\s+0000000000000400`, `NoNewPrivs:\s+1`, `Seccomp:\s+2`, `Uid:\s+61234`,
		"ended well", "state.db",
	} {
		if !regexp.MustCompile(`(?m)^` + want).Match(out) {
			t.Errorf("lacks %s", want)
		}
	}
	for _, not := range []string{"speaker died", "level=ERROR"} {
		if bytes.Contains(out, []byte(not)) {
			t.Errorf("says %s", not)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
