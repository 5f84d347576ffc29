package rpki

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDamagedFileIsReadOrRefused flips bits and cuts off the end of what a validator wrote. What can be read makes sense.
func TestDamagedFileIsReadOrRefused(t *testing.T) {
	var text bytes.Buffer
	text.WriteString(`{"metadata": {"buildtime": "2026-11-30T08:00:00Z", "counts": [1, {"a": 2}]}, "roas": [`)
	for i := range 12 {
		fmt.Fprintf(&text, `{"asn": %d, "prefix": "203.0.%d.0/24", "maxLength": 24}, {"asn": "AS%d", "prefix": "2001:db8:%x::/48"}, `, 64500+i, i, 64500+i, i)
	}
	text.WriteString(`{"asn": 1, "prefix": "192.0.2.0/24", "ta": "ripe", "expires": 1}]}`)
	good := text.Bytes()
	outcomes := map[string]int{}
	try := func(what string, damaged []byte) {
		vrps, err := Read(bytes.NewReader(damaged))
		if err != nil {
			outcomes["refused"]++
			if err.Error() == "" || vrps != nil {
				t.Errorf("%s: %d VRPs and error %q", what, len(vrps), err)
			}
			return
		}
		outcomes["read"]++
		if len(vrps) > 25 {
			t.Errorf("%s: %d VRPs", what, len(vrps))
		}
		for _, v := range vrps {
			if !v.valid() {
				t.Errorf("%s: %v was read", what, v)
			}
		}
	}
	for i := range good {
		for _, bit := range [2]int{i % 8, (i + 3) % 8} {
			damaged := bytes.Clone(good)
			damaged[i] ^= 1 << bit
			try(fmt.Sprintf("byte %d, bit %d", i, bit), damaged)
		}
	}
	if outcomes["refused"] < 200 || outcomes["read"] < 200 {
		t.Errorf("%v: the test has lost its teeth", outcomes)
	}
	before := outcomes["read"]
	for n := range good {
		try(fmt.Sprintf("the first %d bytes", n), good[:n])
	}
	if outcomes["read"] != before {
		t.Errorf("%d files that were cut off were read", outcomes["read"]-before)
	}
}

func TestHostileFilesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a long word":            {`{"roas": [{"asn": 1, "ta": "` + strings.Repeat("x", 8<<20), "a value of more than 1048576 octets"},
		"a long word beside":     {`{"metadata": {"x": "` + strings.Repeat("x", 8<<20), "a value of more than 1048576 octets"},
		"a long entry":           {`{"roas": [{"asn": [` + strings.Repeat("1,", 4<<20), "a value of more than 1048576 octets"},
		"deep beside":            {`{"metadata": ` + strings.Repeat("[", 1<<20), "more than 100 lists and objects within each other"},
		"deep":                   {`{"roas": [{"asn": ` + strings.Repeat("[", 1<<19), "exceeded max depth"},
		"a long list beside":     {`{"aspas": [` + strings.Repeat(`{"customer": 1}, `, 1<<18) + `1], "roas": []}`, ""},
		"the end of another":     {`{"roas": []}, {"asn": 1, "prefix": "192.0.2.0/24"}]}`, "something follows the end"},
		"another behind it":      {`{"roas": []} {"roas": []}`, "something follows the end"},
		"blanks behind it":       {"{\"roas\": []}\r\n\t \n", ""},
		"a word without its end": {`{"roas": [{"asn": "1`, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.text))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestTooManyAreRefused(t *testing.T) {
	full := make([]VRP, maxVRPs) // never touched, so that it takes no memory
	if _, err := readList(json.NewDecoder(strings.NewReader(`[{"asn": 1, "prefix": "192.0.2.0/24"}]`)), full); !errors.Is(err, errTooMany) {
		t.Errorf("error %v", err)
	}
}

func TestOnlyARegularFileOfSomeSizeIsOpened(t *testing.T) {
	pipe, large := filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "large")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(large, nil, 0o600), os.Truncate(large, maxFile+1)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{pipe: "not a regular file", large: "larger than 512 MiB", filepath.Dir(pipe): "not a regular file"} {
		if _, err := ReadFile(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A client that has something already is answered in ways that the protocol does not allow. What it has stays, the cache
// hears why (RFC 8210 section 12), and the next query is for everything.
func TestCacheThatMisbehavesIsToldAndChangesNothing(t *testing.T) {
	const had = "203.0.112.0/20"
	response, known := message(1, cacheResponse, 77), prefixMessage(1, true, had, 24, 64501)
	for name, c := range map[string]struct {
		fresh bool // everything was asked for
		sent  [][]byte
		code  uint16 // of the error report; none: 99
		want  string
	}{
		"changes in another session":  {false, [][]byte{message(1, cacheResponse, 78)}, 0, "it tells of changes in session 78, asked about session 77"},
		"a second beginning":          {true, [][]byte{response, known, response}, 0, "it begins its answer twice"},
		"the end of another session":  {true, [][]byte{response, known, end1(78, 6, 3600, 600, 7200)}, 0, "it ends session 78, having begun session 77"},
		"reset after reset":           {false, [][]byte{message(1, cacheReset, 0), message(1, cacheReset, 0)}, 0, "it cannot answer a query for everything"},
		"reset within an answer":      {false, [][]byte{response, message(1, cacheReset, 0)}, 0, "it cannot answer a query for everything"},
		"withdrawal of what is not":   {false, [][]byte{response, prefixMessage(1, false, "192.0.2.0/24", 24, 1)}, 6, "it withdraws 192.0.2.0/24 of AS1, which it has not announced"},
		"an older version midway":     {true, [][]byte{response, prefixMessage(0, true, had, 24, 64501)}, 8, "a message of version 0"},
		"a newer version":             {true, [][]byte{message(2, cacheResponse, 77)}, 8, "a message of version 2"},
		"a prefix of 33 bits":         {true, [][]byte{response, message(1, ipv4Prefix, 0, 1, 33, 33, 0, 203, 0, 112, 0, 0, 0, 0, 1)}, 0, "a malformed message of type 4"},
		"a prefix shorter than it is": {true, [][]byte{response, message(1, ipv6Prefix, 0, 1, 24, 24, 0, 203, 0, 112, 0, 0, 0, 0, 1)}, 0, "a malformed message of type 6"},
		"a message of seven octets":   {true, [][]byte{response, {1, ipv4Prefix, 0, 0, 0, 0, 0, 7}}, 0, "a message of 7 octets"},
		"a message of 16 MB":          {true, [][]byte{response, {1, errorReport, 0, 0, 1, 0, 0, 0}}, 0, "a message of 16777216 octets"},
		"a type that nobody has":      {true, [][]byte{response, message(1, 77, 0)}, 5, "a message of type 77"},
		"a report of its own":         {true, [][]byte{response, message(1, errorReport, 2, make([]byte, 8)...)}, 99, "it reports error 2"},
		"a message that is cut off":   {true, [][]byte{response, known[:11]}, 99, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newClient("cache", slog.New(slog.DiscardHandler), func() { t.Error("it tells of a change") })
			serial := uint32(5)
			cl.vrps[VRP{netip.MustParsePrefix(had), 24, 64501}] = true
			if cl.session = 77; !c.fresh {
				cl.serial = &serial
			}
			ours, theirs := net.Pipe()
			told := make(chan uint16, 1)
			go func() {
				defer theirs.Close()
				_, _ = readPDU(theirs)
				for _, b := range c.sent {
					_, _ = theirs.Write(b)
					if b[1] == cacheReset && !c.fresh {
						_, _ = readPDU(theirs) // the query for everything, or the report
					}
				}
				if c.want == "unexpected EOF" {
					theirs.Close()
				}
				told <- reported(theirs)
			}()
			err := cl.sync(ours)
			complain(ours, cl.version, err)
			_ = ours.Close()
			if err == nil || err.Error() != c.want || len(cl.vrps) != 1 {
				t.Errorf("error %v and %d VRPs, want %q and the one before", err, len(cl.vrps), c.want)
			}
			if got := <-told; got != c.code && c.sent[len(c.sent)-1][1] != cacheReset {
				t.Errorf("the cache was told %d, want %d", got, c.code)
			}
		})
	}
}

// reported reads an error report, and checks its form; 99: none came.
func reported(from io.Reader) uint16 {
	p, err := readPDU(from)
	if err != nil || p.kind != errorReport || len(p.body) < 8 {
		return 99
	}
	quoted := binary.BigEndian.Uint32(p.body)
	if rest := p.body[4:]; uint64(quoted)+4 > uint64(len(rest)) || int(binary.BigEndian.Uint32(rest[quoted:])) != len(rest[quoted+4:]) {
		return 98
	}
	return p.session
}

// A cache may have learned a version since it was asked last, and unlearned another.
func TestVersionsAreTriedInTurn(t *testing.T) {
	c := newCache(t)
	refusal := message(0, errorReport, unsupportedVersion, make([]byte, 8)...)
	c.script <- exchange{want: query(1, 0, nil), answer: [][]byte{refusal}, hangup: true}
	c.script <- exchange{want: query(0, 0, nil), answer: [][]byte{refusal}, hangup: true}
	c.script <- exchange{want: query(1, 0, nil), answer: [][]byte{
		message(1, cacheResponse, 3), prefixMessage(1, true, "203.0.112.0/20", 24, 64501), end1(3, 9, 3600, 600, 7200),
	}}
	followed(t, From{RTR: []string{c.listen.Addr().String()}})(1)
}

// RFC 8210 section 7: a cache may answer in the older version, without a word about it.
func TestCacheThatAnswersInTheOldVersionIsAskedInIt(t *testing.T) {
	c, serial := newCache(t), uint32(9)
	c.script <- exchange{want: query(1, 0, nil), answer: [][]byte{
		message(0, cacheResponse, 3), prefixMessage(0, true, "203.0.112.0/20", 24, 64501), message(0, endOfData, 3, 0, 0, 0, 9), message(0, serialNotify, 3, 0, 0, 0, 10),
	}}
	c.script <- exchange{want: query(0, 3, &serial), answer: [][]byte{
		message(0, cacheResponse, 3), prefixMessage(0, true, "192.0.2.0/24", 24, 64501), message(0, endOfData, 3, 0, 0, 0, 10),
	}}
	followed(t, From{RTR: []string{c.listen.Addr().String()}})(2)
}

func TestWhatExpiresSoonIsRefreshedByThen(t *testing.T) {
	p, err := readPDU(bytes.NewReader(end1(77, 5, 86400, 600, 900)))
	if err != nil {
		t.Fatal(err)
	}
	if _, when, err := p.end(); err != nil || when.refresh != 15*time.Minute || when.expire != 15*time.Minute {
		t.Errorf("%v, %v", when, err)
	}
}

// That very many VRPs are of one prefix must not cost the square of their number.
func TestManyOfOnePrefix(t *testing.T) {
	const many = 50_000
	prefix := netip.MustParsePrefix("203.0.112.0/20")
	vrps := make([]VRP, 0, 2*many)
	for i := range uint32(many) {
		vrps = append(vrps, VRP{prefix, 20, i + 1}, VRP{prefix, 22, i + 1})
	}
	begin := time.Now()
	set := NewSet(append(vrps, vrps...))
	for i := range uint32(many) {
		if got := set.Validate(netip.MustParsePrefix("203.0.112.0/22"), i+1); got != Valid {
			t.Fatalf("AS%d is %v", i+1, got)
		}
	}
	if got := set.Validate(netip.MustParsePrefix("203.0.112.0/23"), 7); got != Invalid || set.Len() != 2*many {
		t.Errorf("longer: %v; %d VRPs", got, set.Len())
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}
