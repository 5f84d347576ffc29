package test

import (
	"os"
	"testing"

	"gslb/test/rig"
)

func TestMain(m *testing.M) {
	code := m.Run()
	rig.Tidy()
	os.Exit(code)
}
