//go:build !race

package dns

const raceDetector = false
