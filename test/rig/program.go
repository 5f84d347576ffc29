package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// builds is the folder of what this process built.
var builds = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "gslb-test-") })

// Program gives the path of gslb, built with the race detector where the tests have it.
func Program() (string, error) {
	if Race {
		return racing()
	}
	return Plain()
}

// Plain gives the path of gslb as it is shipped.
func Plain() (string, error) { return plain() }

var (
	racing = sync.OnceValues(func() (string, error) { return build("race", "-race") })
	plain  = sync.OnceValues(func() (string, error) { return build("plain") })
)

func build(name string, flags ...string) (string, error) {
	folder, err := builds()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(folder, name, "gslb")
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return "", err
	}
	arguments := append([]string{"build", "-o", binary}, flags...)
	out, err := exec.Command("go", append(arguments, "gslb/cmd/gslb")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
}

// Tidy removes what was built. A TestMain calls it last.
func Tidy() {
	if folder, err := builds(); err == nil {
		_ = os.RemoveAll(folder) // the system tidies its folder for passing files
	}
}

// Installed gives the path of a program that Debian has in a package, also where only root's PATH looks. Without it
// the test is skipped, or fails in CI.
func Installed(t testing.TB, name, debian string) string {
	t.Helper()
	for _, folder := range []string{"", "/usr/sbin/", "/usr/local/sbin/", "/sbin/", "/usr/lib/frr/"} {
		if path, err := exec.LookPath(folder + name); err == nil {
			return path
		}
	}
	Missing(t, "%s is not installed (apt-get install %s)", name, debian)
	return ""
}

// Missing ends a test for want of something on this machine: it is skipped, or fails in CI.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if InCI() {
		t.Fatalf(format+", and CI skips nothing", args...)
	}
	t.Skipf(format, args...)
}

// InCI tells whether the tests run where everything is that they need, so that none may be skipped for want of it: by
// CI=true in the environment, or any other value but none and what means false.
func InCI() bool {
	value := os.Getenv("CI")
	yes, err := strconv.ParseBool(value)
	return yes || err != nil && value != ""
}
