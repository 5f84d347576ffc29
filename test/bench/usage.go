package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// family gives a process, its descendants and all members of its session.
func family(pid int) []int {
	type kin struct{ parent, session int }
	all := map[int]kin{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if p, err := strconv.Atoi(e.Name()); err == nil {
			if f := statOf(p); len(f) > 3 {
				all[p] = kin{number(f[1]), number(f[3])}
			}
		}
	}
	in := map[int]bool{pid: true}
	for grew := true; grew; {
		grew = false
		for p, k := range all {
			if !in[p] && (in[k.parent] || k.session == pid) {
				in[p], grew = true, true
			}
		}
	}
	var members []int
	for p := range in {
		members = append(members, p)
	}
	return members
}

// statOf gives the fields of a process behind its name, its state first.
func statOf(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}

// number reads a number; what is none is 0.
func number(word string) int {
	n, _ := strconv.Atoi(word)
	return n
}

// processorTime is what all threads of some processes have used, as the scheduler counts it.
func processorTime(pids []int) time.Duration {
	var sum int
	for _, p := range pids {
		folder := fmt.Sprintf("/proc/%d/task", p)
		threads, _ := os.ReadDir(folder)
		for _, t := range threads {
			text, _ := os.ReadFile(folder + "/" + t.Name() + "/schedstat")
			ran, _, _ := strings.Cut(string(text), " ")
			sum += number(ran)
		}
	}
	return time.Duration(sum)
}

// memory is the proportional set size of some processes in MB: what they share counts once.
func memory(pids []int) float64 {
	kb := 0
	for _, p := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
				kb += number(f[1])
			}
		}
	}
	return float64(kb) / 1024
}
