package bgp

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"gslb/bgp/screen"
	"gslb/bgp/wire"
)

// cease is the NOTIFICATION with which we end a session that has nothing wrong (RFC 4486).
func cease(subcode uint8) []byte {
	return screen.Notification{Code: wire.Cease, Subcode: subcode}.Message()
}

// holdExpired is the NOTIFICATION to a peer that was silent for too long (RFC 4271 section 6.5).
func holdExpired() []byte { return screen.Notification{Code: 4}.Message() }

// notified is the end of a session by a NOTIFICATION that was received or sent. Its text is the
// shutdown communication, when it carries one (RFC 9003).
func notified(n screen.Notification, cause wire.Cause) wire.Reason {
	r := wire.Reason{Cause: cause, Code: n.Code, Subcode: n.Subcode}
	data := n.Data
	if n.Code == wire.Cease && n.Subcode == wire.HardReset && len(data) >= 2 { // RFC 8538 section 3.1
		n.Subcode, data = data[1], data[2:]
	}
	shutdown := n.Subcode == wire.AdministrativeShutdown || n.Subcode == ceaseReset
	if n.Code == wire.Cease && shutdown && len(data) > 0 && int(data[0]) < len(data) {
		r.Text = string(data[1 : 1+data[0]])
	}
	return r
}

// reasonText is the reason in words. Text of the peer is quoted and kept short.
func reasonText(r wire.Reason) string {
	var b strings.Builder
	switch r.Cause {
	case wire.Received:
		fmt.Fprintf(&b, "the peer sent %s", notificationText(r.Code, r.Subcode))
	case wire.Sent:
		fmt.Fprintf(&b, "we sent %s", notificationText(r.Code, r.Subcode))
	default:
		b.WriteString(r.Cause.String())
	}
	if r.Text == "" {
		return b.String()
	}
	const most = 255 // octets, as RFC 9003 has it
	text := strings.ToValidUTF8(r.Text, "?")
	for len(text) > most {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	fmt.Fprintf(&b, ": %q", text)
	return b.String()
}

// notificationText names a NOTIFICATION in the words of RFC 4271, RFC 4486, RFC 6608, RFC 7313 and
// RFC 8538.
func notificationText(code, subcode uint8) string {
	codes := [...]string{
		1: "message header error", 2: "OPEN message error", 3: "UPDATE message error", 4: "hold timer expired",
		5: "finite state machine error", 6: "cease", 7: "ROUTE-REFRESH message error", 8: "send hold timer expired",
	}
	subcodes := [...][]string{
		1: {1: "connection not synchronized", 2: "bad message length", 3: "bad message type"},
		2: {1: "unsupported version number", 2: "bad peer AS", 3: "bad BGP identifier", 4: "unsupported optional parameter",
			6: "unacceptable hold time", 7: "unsupported capability", 11: "role mismatch"},
		3: {1: "malformed attribute list", 2: "unrecognized well-known attribute", 3: "missing well-known attribute",
			4: "attribute flags error", 5: "attribute length error", 6: "invalid ORIGIN", 8: "invalid NEXT_HOP",
			9: "optional attribute error", 10: "invalid network field", 11: "malformed AS_PATH"},
		5: {1: "unexpected message in OpenSent", 2: "unexpected message in OpenConfirm", 3: "unexpected message in Established"},
		6: {1: "maximum number of prefixes reached", 2: "administrative shutdown", 3: "peer de-configured", 4: "administrative reset",
			5: "connection rejected", 6: "other configuration change", 7: "connection collision resolution", 8: "out of resources",
			9: "hard reset", 10: "BFD down"},
		7: {1: "invalid message length"},
		8: nil,
	}
	if int(code) >= len(codes) || code == 0 {
		return fmt.Sprintf("NOTIFICATION %d/%d", code, subcode)
	}
	text := codes[code]
	if names := subcodes[code]; int(subcode) < len(names) && names[subcode] != "" {
		text += ", " + names[subcode]
	}
	return fmt.Sprintf("%s (%d/%d)", text, code, subcode)
}
