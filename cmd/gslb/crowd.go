package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"gslb/dns/traffic"
)

// openCrowds reads a file of clients.
func openCrowds(file string) ([]traffic.Crowd, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, unreadable(file, err)
	}
	defer f.Close()
	return readCrowds(file, f)
}

// unreadable says that a file cannot be read, without saying its name twice.
func unreadable(file string, err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s: cannot be read: %w", file, err)
}

// mostClients bounds what one line of a file counts: up to here counting is exact.
const mostClients = 1 << 53

// readCrowds reads clients: on each line an address, or a network, which is read as its first address as
// servers do, and how many they are; 1 without it. Empty lines and what comes behind # are skipped.
func readCrowds(file string, in io.Reader) ([]traffic.Crowd, error) {
	var all []traffic.Crowd
	var sum float64
	lines := bufio.NewScanner(in)
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if number == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // some editors put it there
		}
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		crowd, err := readCrowd(words)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		all = append(all, crowd)
		sum += crowd.Weight
	}
	switch err := lines.Err(); {
	case err != nil:
		return nil, unreadable(file, err)
	case sum == 0:
		return nil, fmt.Errorf("%s: there is no client in it", file)
	}
	return all, nil
}

func readCrowd(words []string) (traffic.Crowd, error) {
	a, err := netip.ParseAddr(words[0])
	if err != nil {
		network, err := netip.ParsePrefix(words[0])
		if err != nil {
			return traffic.Crowd{}, fmt.Errorf("%q is neither an address nor a network", words[0])
		}
		a = network.Masked().Addr()
	}
	if a.Zone() != "" {
		return traffic.Crowd{}, fmt.Errorf("%q has a zone, which means nothing to others", words[0])
	}
	switch len(words) {
	case 1:
		return traffic.Crowd{Address: a, Weight: 1}, nil
	case 2:
		n, err := strconv.ParseUint(words[1], 10, 64)
		if err != nil || n > mostClients {
			return traffic.Crowd{}, fmt.Errorf("%q is not a number of clients", words[1])
		}
		return traffic.Crowd{Address: a, Weight: float64(n)}, nil
	}
	return traffic.Crowd{}, errors.New("a line must be ADDRESS or ADDRESS COUNT")
}
