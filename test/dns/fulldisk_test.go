package dns

import (
	"os"
	"os/exec"
	"testing"

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
await() { for i in $(seq 300); do if "$@" >/dev/null 2>&1; then return 0; fi; sleep 0.1; done; echo "in vain: $*"; cat log; exit 1; }
answers() { dig +short +tries=1 +time=1 @127.0.0.1 -p 5390 www.ok.test | grep 192.0.2.2; }
conf 1 > gslb.yaml
"$GSLB" serve -c gslb.yaml 2>log & server=$!
await answers
dd if=/dev/zero of=/mnt/filler bs=4k 2>/dev/null || true
conf 900 > fresh; mv fresh gslb.yaml
await grep 'state not saved' log
await grep 'config 2:.* in force' log
sleep 2.5
answers >/dev/null && echo "serving on a full disk"
rm /mnt/filler
mount -o remount,size=64m /mnt
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
	for program, debian := range map[string]string{"unshare": "util-linux", "dig": "bind9-dnsutils", "ip": "iproute2"} {
		rig.Installed(t, program, debian)
	}
	if os.Getuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("only root may make namespaces, and CI skips nothing")
		}
		t.Skip("only root may make namespaces")
	}
	binary, err := rig.Program()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "bash", "-c", fullDisk)
	c.Env = append(os.Environ(), "FOLDER="+t.TempDir(), "GSLB="+binary)
	said, err := c.CombinedOutput()
	if want := "serving on a full disk\ntold 1 time, healed 1 time\n0\n"; err != nil || string(said) != want {
		t.Errorf("%v\n got %s\nwant %s", err, said, want)
	}
}
