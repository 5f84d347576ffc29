package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// firstHanded is the descriptor of the first socket that a service manager hands over.
const firstHanded = 3

// handed gives the sockets that the service manager opened for this process, as sd_listen_fds(3) tells of them. Nobody
// whom we start gets them, or hears of them.
func handed() ([]*os.File, error) {
	pid, count, names := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS"), strings.Split(os.Getenv("LISTEN_FDNAMES"), ":")
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	if pid != strconv.Itoa(os.Getpid()) { // it was said to another
		return nil, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > 1024 {
		return nil, fmt.Errorf("LISTEN_FDS: %q is no number of sockets", count)
	}
	var files []*os.File
	for i := range n {
		fd := firstHanded + i
		syscall.CloseOnExec(fd)
		name := strconv.Itoa(fd)
		if i < len(names) && names[i] != "" {
			name += " (" + names[i] + ")"
		}
		files = append(files, os.NewFile(uintptr(fd), name))
	}
	return files, nil
}
