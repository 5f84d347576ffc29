package screen

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Lengths of whole messages in octets (RFC 4271 sections 4.1 to 4.5, RFC 2918 section 3). The
// longer messages of RFC 8654 are never agreed on.
const (
	HeaderLength = 19
	MaxLength    = 4096

	openLength         = 29
	updateLength       = 23
	notificationLength = 21
	refreshLength      = 23
)

// The message types of RFC 4271 section 4.1 and RFC 2918.
const (
	typeOpen         = 1
	typeUpdate       = 2
	typeNotification = 3
	typeKeepalive    = 4
	typeRefresh      = 5
)

// The error codes of RFC 4271 section 4.5 and RFC 7313 section 5, with the subcodes in use here.
const (
	codeHeader  = 1
	codeOpen    = 2
	codeUpdate  = 3
	codeFSM     = 5
	codeRefresh = 7

	headerNotSynchronized = 1
	headerBadLength       = 2
	headerBadType         = 3

	openUnspecific            = 0
	openVersion               = 1
	openPeerAS                = 2
	openIdentifier            = 3
	openParameter             = 4
	openHoldTime              = 6
	openUnsupportedCapability = 7

	updateAttributeList    = 1
	updateUnknownWellKnown = 2
	updateMissingAttribute = 3
	updateAttributeFlags   = 4
	updateAttributeLength  = 5
	updateOrigin           = 6
	updateNextHop          = 8
	updateOptional         = 9
	updateNetworkField     = 10
	updateASPath           = 11

	refreshBadLength = 1
)

// Notification is what a NOTIFICATION message says: why a session ends.
type Notification struct {
	Code, Subcode uint8
	Data          []byte
}

// String gives code and subcode as "3/11".
func (n Notification) String() string { return fmt.Sprintf("%d/%d", n.Code, n.Subcode) }

// Message gives the whole NOTIFICATION message; Data that does not fit is cut off.
func (n Notification) Message() []byte {
	data := n.Data[:min(len(n.Data), MaxLength-notificationLength)]
	b := appendHeader(nil, notificationLength+len(data), typeNotification)
	return append(append(b, n.Code, n.Subcode), data...)
}

// ReadNotification reads a NOTIFICATION message that passed the screen; false for any other
// message. Data is a part of the message.
func ReadNotification(message []byte) (Notification, bool) {
	length, bad := Length(message)
	if bad != nil || length != len(message) || message[18] != typeNotification {
		return Notification{}, false
	}
	return Notification{Code: message[19], Subcode: message[20], Data: message[21:]}, true
}

// Length gives the length of the message that begins with this header of [HeaderLength] octets, or
// the NOTIFICATION of RFC 4271 section 6.1 when it cannot begin one.
func Length(header []byte) (int, *Notification) {
	if len(header) < HeaderLength {
		return 0, &Notification{Code: codeHeader, Subcode: headerBadLength}
	}
	if binary.BigEndian.Uint64(header) != math.MaxUint64 || binary.BigEndian.Uint64(header[8:]) != math.MaxUint64 {
		return 0, &Notification{Code: codeHeader, Subcode: headerNotSynchronized}
	}
	length := int(binary.BigEndian.Uint16(header[16:]))
	if length < HeaderLength || length > MaxLength {
		return 0, badLength(header)
	}
	kind := header[18]
	if kind < typeOpen || kind > typeRefresh {
		return 0, &Notification{Code: codeHeader, Subcode: headerBadType, Data: []byte{kind}}
	}
	shortest := [...]int{
		typeOpen: openLength, typeUpdate: updateLength, typeNotification: notificationLength,
		typeKeepalive: HeaderLength, typeRefresh: HeaderLength,
	}[kind]
	if length < shortest || kind == typeKeepalive && length > HeaderLength {
		return 0, badLength(header)
	}
	return length, nil
}

// badLength is Bad Message Length; its data is the erroneous Length field.
func badLength(header []byte) *Notification {
	return &Notification{Code: codeHeader, Subcode: headerBadLength, Data: []byte{header[16], header[17]}}
}

// appendHeader writes a message header (RFC 4271 section 4.1).
func appendHeader(dst []byte, length int, kind byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, math.MaxUint64)
	dst = binary.BigEndian.AppendUint64(dst, math.MaxUint64)
	return append(dst, byte(length>>8), byte(length), kind)
}
