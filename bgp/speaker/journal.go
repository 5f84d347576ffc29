package speaker

import (
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	gobgplog "github.com/osrg/gobgp/v3/pkg/log"
	"github.com/osrg/gobgp/v3/pkg/packet/bgp"

	"gslb/bgp/wire"
)

// line is one line of gobgp's log about a neighbour, or about none.
type line struct {
	level   slog.Level
	address netip.Addr
	text    string
}

// waitingLines is how many lines may wait for the server; beyond them lines are lost, since gobgp
// must not wait for anyone.
const waitingLines = 1024

// journal is gobgp's logger. It keeps the lines for the server and finds in them why sessions end:
// gobgp tells that nowhere else.
type journal struct {
	lines chan line

	mu sync.Mutex
	// said holds, by neighbour, the NOTIFICATION that belongs to the end about to come.
	said map[netip.Addr]wire.Reason
	// ends holds, by neighbour, why sessions ended, in order; the speaker takes each at its event.
	ends map[netip.Addr][]wire.Reason
}

func newJournal() *journal {
	return &journal{
		lines: make(chan line, waitingLines),
		said:  make(map[netip.Addr]wire.Reason),
		ends:  make(map[netip.Addr][]wire.Reason),
	}
}

// end takes the reason of the neighbour's first end that was not taken yet.
func (j *journal) end(address netip.Addr) wire.Reason {
	j.mu.Lock()
	defer j.mu.Unlock()
	ends := j.ends[address]
	if len(ends) == 0 {
		return wire.Reason{}
	}
	j.ends[address] = ends[1:]
	return ends[0]
}

// forget drops what is known of a neighbour that was removed.
func (j *journal) forget(address netip.Addr) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.said, address)
	delete(j.ends, address)
}

// Debug lines do not go to the server, but a change of state is told by one.
func (j *journal) Debug(message string, f gobgplog.Fields) { j.observe(message, f) }

func (j *journal) Info(message string, f gobgplog.Fields)  { j.note(slog.LevelInfo, message, f) }
func (j *journal) Warn(message string, f gobgplog.Fields)  { j.note(slog.LevelWarn, message, f) }
func (j *journal) Error(message string, f gobgplog.Fields) { j.note(slog.LevelError, message, f) }

// Panic and Fatal are gobgp's word that it cannot go on. The process is there to end then.
func (j *journal) Panic(message string, f gobgplog.Fields) { panic("gobgp: " + textOf(message, f)) }
func (j *journal) Fatal(message string, f gobgplog.Fields) { panic("gobgp: " + textOf(message, f)) }

// GetLevel spares gobgp the making of what we would not keep.
func (j *journal) GetLevel() gobgplog.LogLevel { return gobgplog.InfoLevel }

// SetLevel is part of gobgp's interface; the level is fixed.
func (j *journal) SetLevel(gobgplog.LogLevel) {}

func (j *journal) note(level slog.Level, message string, f gobgplog.Fields) {
	j.observe(message, f)
	if redundant(message) {
		return
	}
	select {
	case j.lines <- line{level, addressOf(f), textOf(message, f)}:
	default:
	}
}

// redundant tells whether a line only repeats what we told gobgp to do or what a wire.Session says.
func redundant(message string) bool {
	switch message {
	case "Add a peer configuration", "Delete a peer configuration",
		"Peer Up", "Peer Down", "received notification", "sent notification":
		return true
	}
	return false
}

// observe remembers what a line tells of the end of a session.
func (j *journal) observe(message string, f gobgplog.Fields) {
	address := addressOf(f)
	if !address.IsValid() {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch message {
	case "received notification":
		j.said[address] = notification(wire.Received, f)
	case "sent notification":
		j.said[address] = notification(wire.Sent, f)
	case "state changed":
		if f["new"] != bgp.BGP_FSM_IDLE.String() {
			return
		}
		reason, ok := j.said[address]
		if !ok {
			reason = silent(fmt.Sprint(f["reason"]))
		}
		delete(j.said, address)
		j.ends[address] = append(j.ends[address], reason)
	}
}

// silent gives the reason of an end without a NOTIFICATION from gobgp's word for it.
func silent(word string) wire.Reason {
	switch word {
	case "read-failed", "write-failed", "graceful-restart":
		return wire.Reason{Cause: wire.Lost}
	case "invalid-msg":
		return wire.Reason{Cause: wire.Refused, Text: "a message other than the expected came before the session was up"}
	}
	return wire.Reason{Text: word}
}

func addressOf(f gobgplog.Fields) netip.Addr {
	key, _ := f["Key"].(string)
	address, _ := netip.ParseAddr(key)
	return address
}

// notification reads the fields of gobgp's line about one. Those of a refused OPEN come as an error.
func notification(cause wire.Cause, f gobgplog.Fields) wire.Reason {
	if e, ok := f["Data"].(*bgp.MessageError); ok {
		return wire.Reason{Cause: cause, Code: e.TypeCode, Subcode: e.SubTypeCode, Text: clean(e.Message)}
	}
	r := wire.Reason{Cause: cause}
	r.Code, _ = f["Code"].(uint8)
	r.Subcode, _ = f["Subcode"].(uint8)
	rest, _ := f["Data"].([]byte)
	if text, ok := f["Communicated-Reason"].(string); ok {
		// gobgp stops at 128 octets (RFC 8203), RFC 9003 allows 255.
		r.Text = clean(text + string(rest))
		return r
	}
	if r.Code == wire.Cease && (r.Subcode == wire.PeerDeconfigured || r.Subcode == wire.HardReset) {
		r.Text = clean(encapsulated(r.Subcode, rest))
	}
	return r
}

// encapsulated finds the text in the data of a NOTIFICATION that gobgp does not look into: a Hard
// Reset begins with the code and subcode that it stands for (RFC 8538 section 3.1).
func encapsulated(subcode uint8, data []byte) string {
	if subcode == wire.HardReset {
		data = data[min(2, len(data)):]
	}
	if len(data) == 0 {
		return ""
	}
	return string(data[1:min(len(data), 1+int(data[0]))])
}

// clean makes a text from the network fit for a log: valid UTF-8 of one line, at most 255 octets.
func clean(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), 255)], "")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s))
}

// textOf writes a line of gobgp's with its fields, but for those that the line has a place for.
func textOf(message string, f gobgplog.Fields) string {
	var b strings.Builder
	b.WriteString(message)
	for _, k := range slices.Sorted(maps.Keys(f)) {
		if k == "Topic" || k == "Key" && addressOf(f).IsValid() {
			continue
		}
		fmt.Fprintf(&b, " %s=%v", strings.ToLower(k), f[k])
	}
	return clean(b.String())
}
