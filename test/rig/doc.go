// Package rig answers one question: how does a test run gslb, and the programs around it, as their users would?
//
// A test asks it for the program, for what Debian has in its packages, and for ports that nobody else takes, keeps what a
// process prints, and waits until something is so:
//
//	binary, err := rig.Program()                       // gslb, built once for all tests of a package
//	bird := rig.Installed(t, "bird", "bird2")          // skips the test without it, or fails it in CI; see rig.Missing
//	port := rig.Vacant(t, address)
//	rig.Until(t, rig.Soon, "NOERROR", func() string { … })
//
// It knows nothing of what is tested. Only tests use it.
package rig
