package dns

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gslb/test/rig"
)

// fullDisk runs the server with its state on a disk of its own, fills that, has the server save more, and makes room again.
const fullDisk = `
set -eu
ip link set lo up
mount -t tmpfs -o size=1m tmpfs /mnt
cd "$FOLDER"
echo up > up
conf() {
  echo 'server: {listen: ["127.0.0.1:5390"], state: /mnt/state.db}'
  echo 'admin: {listen: "off"}'
  echo 'checks: {f: {file: {path: up}, interval: 1s}}'
  echo 'datacenters: {msk: {}}'
  echo 'services:'
  for s in $(seq $1); do echo "  s$s: {check: f, at: {msk: [192.0.2.$((s%250+1)), 198.51.$((s/250)).$((s%250+1))]}}"; done
  echo 'zones: {ok.test: {ns: [ns.example.], services: {www: s1}}}'
}
await() { for i in $(seq 1200); do if "$@" >/dev/null 2>&1; then return 0; fi; sleep 0.1; done; echo "in vain: $*"; cat log; exit 1; }
answers() { dig +short +tries=1 +time=20 @127.0.0.1 -p 5390 www.ok.test | grep 192.0.2.2; }
conf 1 > gslb.yaml
"$GSLB" serve -c gslb.yaml 2>log & server=$!
await answers
dd if=/dev/zero of=/mnt/filler bs=4k 2>/dev/null || true
conf 900 > fresh; mv fresh gslb.yaml
await grep 'state not saved' log
await grep 'config 2:.* in force' log
sleep 2.5
answers >/dev/null && echo "serving on a full disk"
mount -o remount,size=64m /mnt # room for all at once: else it might be too little for the next save again
rm /mnt/filler
await grep 'state saved again' log
echo "told $(grep -c 'state not saved' log) time, healed $(grep -c 'state saved again' log) time"
kill -KILL $server
wait $server 2>/dev/null || true
"$GSLB" serve -c gslb.yaml 2>log2 & server=$!
await answers
kill -TERM $server
wait $server
grep -c lost log2 || true
`

// A disk that is full costs what would be written to it, and no answer; it is told once, and again when it is over.
func TestServesOnAFullDisk(t *testing.T) {
	apart(t, fullDisk, "serving on a full disk\ntold 1 time, healed 1 time\n0\n")
}

// readOnlyStart starts the server on a disk that is read-only: with what was saved there, where nothing was, and where
// nothing can be made; and on one that is full. In the end the disks become writable.
const readOnlyStart = serving + `
mkdir disk
mount -t tmpfs tmpfs disk
begin disk/state.db
await answers 192.0.2.1
echo down > ill
await answers 192.0.2.2
saved
kill -KILL $server; wait $server 2>/dev/null || true
for state in disk/state.db disk/other.db disk/new/state.db; do
  echo up > ill
  mount -o remount,ro disk
  begin $state
  await grep 'state not saved.*read-only file system' log
  await served
  echo "$state: $(ask)"
  sleep 1.2
  "$GSLB" status -c gslb.yaml | grep -o 'NOT SAVED for .*: read-only' | sed 's/for [0-9]*s: .*: /.. /'
  mount -o remount,rw disk
  await grep 'state saved again' log
  "$GSLB" status -c gslb.yaml | grep -c 'NOT SAVED' || true
  "$GSLB" events -c gslb.yaml | grep -c 'started with config' || true
  echo "told $(grep -c 'not saved' log) time, healed $(grep -c 'saved again' log) time, errors $(grep -c level=ERROR log)"
  kill -KILL $server; wait $server 2>/dev/null || true
done
begin disk/new/state.db
await served
echo "$(grep -c -e lost -e 'not saved' log) lost"
kill -TERM $server
wait $server
mkdir full
mount -t tmpfs -o size=64k tmpfs full
dd if=/dev/zero of=full/filler bs=4k 2>/dev/null || true
begin full/state.db
await grep 'state not saved.*no space left on device' log
await served
sleep 1.2
rm full/filler
await grep 'state saved again' log
echo "full: $(ask), told $(grep -c 'not saved' log) time, healed $(grep -c 'saved again' log) time, left $(ls full)"
kill -TERM $server
wait $server
`

// What was saved on a disk that can only be read is what the server begins with; one that has nothing begins as a new one.
func TestStartsOnAReadOnlyOrFullDisk(t *testing.T) {
	apart(t, readOnlyStart, `disk/state.db: 192.0.2.2
NOT SAVED .. read-only
0
2
told 1 time, healed 1 time, errors 1
disk/other.db: 192.0.2.1
NOT SAVED .. read-only
0
1
told 1 time, healed 1 time, errors 1
disk/new/state.db: 192.0.2.1
NOT SAVED .. read-only
0
1
told 1 time, healed 1 time, errors 1
0 lost
full: 192.0.2.1, told 1 time, healed 1 time, left state.db
`)
}

// turnsReadOnly has the file system of a running server fail, so that the kernel makes it read-only; then it is
// unmounted, checked and mounted again, as an operator would.
const turnsReadOnly = serving + `
gone() { ! losetup --noheadings --associated image | grep .; }
mkdir disk
truncate -s 16M image
mkfs.ext4 -q image
mount -o loop,errors=remount-ro image disk
device=$(findmnt -no SOURCE disk)
begin disk/state.db
await answers 192.0.2.1
sleep 1.5
echo 1 > /sys/fs/ext4/$(basename $device)/trigger_fs_error
echo down > ill
await grep 'state not saved.*read-only file system' log
await answers 192.0.2.2
await umount disk
await gone
fsck.ext4 -p image >/dev/null || true
mount -o loop,errors=remount-ro image disk
await grep 'state saved again' log
sleep 2.5
answers 192.0.2.2
echo "told $(grep -c 'not saved' log) time, healed $(grep -c 'saved again' log) time"
kill -KILL $server; wait $server 2>/dev/null || true
echo up > ill
begin disk/state.db
await served
echo "then $(ask), $(grep -c -e lost -e 'not saved' log) lost"
kill -TERM $server
wait $server
umount disk
`

// A disk that turns read-only costs what would be written to it; the server lets go of it, and saves again when it is back.
func TestServesWhileTheDiskTurnsReadOnly(t *testing.T) {
	for program, debian := range map[string]string{"mkfs.ext4": "e2fsprogs", "fsck.ext4": "e2fsprogs", "findmnt": "util-linux", "losetup": "mount"} {
		rig.Installed(t, program, debian)
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		t.Skip("this machine has no loop devices:", err)
	}
	if known, err := os.ReadFile("/proc/filesystems"); err != nil || !bytes.Contains(known, []byte("\text4\n")) {
		t.Skip("this kernel has no ext4:", err)
	}
	apart(t, turnsReadOnly, "told 1 time, healed 1 time\nthen 192.0.2.2, 0 lost\n")
}

// serving are the words of a server with two places, of which the first is as well as the file "ill" says. What it
// knows at a moment is on the disk when it is saved.
const serving = `
set -eu
ip link set lo up
cd "$FOLDER"
echo up > ill; echo up > well
await() { for i in $(seq 1200); do if "$@" >/dev/null 2>&1; then return 0; fi; sleep 0.1; done; echo "in vain: $*"; cat log; exit 1; }
ask() { dig +short +tries=1 +time=20 @127.0.0.1 -p 5390 www.ok.test; }
answers() { [ "$(ask)" = "$1" ]; }
served() { ask | grep 192.0.2; }
knew() { curl -s http://127.0.0.1:5391/metrics | awk -v since=$1 '$1 == "gslb_state_saved_time_seconds" { known = $2 > since } END { exit !known }'; }
saved() { local now=$(date +%s.%N); await knew $now; }
begin() {
  cat > gslb.yaml <<END
server: {listen: ["127.0.0.1:5390"], state: $1}
admin: {listen: "127.0.0.1:5391"}
checks:
  ill: {file: {path: ill}, interval: 1s, fall: 3, rise: 60, window: 60}
  well: {file: {path: well}, interval: 1s}
datacenters: {one: {}}
sites: {two: {}}
services: {www: {steer: [datacenters], at: {one: {addresses: [192.0.2.1], check: ill}, two: {addresses: [192.0.2.2], check: well}}}}
zones: {ok.test: {ns: [ns.example.], services: {www: www}}}
END
  "$GSLB" serve -c gslb.yaml 2>log & server=$!
}
`

// apart runs a script in namespaces of its own, and holds what it prints against what it should.
func apart(t *testing.T, script, want string) {
	t.Helper()
	for program, debian := range map[string]string{"unshare": "util-linux", "dig": "bind9-dnsutils", "ip": "iproute2", "curl": "curl"} {
		rig.Installed(t, program, debian)
	}
	if os.Getuid() != 0 {
		rig.Missing(t, "only root may make namespaces")
	}
	binary, err := rig.Program()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "bash", "-c", script)
	c.Env = append(os.Environ(), "FOLDER="+t.TempDir(), "GSLB="+binary)
	said, err := c.CombinedOutput()
	if err != nil || string(said) != want {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, string(said)))
	}
}
