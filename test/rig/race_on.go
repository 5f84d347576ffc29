//go:build race

package rig

// Race tells whether the tests were built with the race detector.
const Race = true
