//go:build race

package speaker

const underRace = true
