package bgp

import (
	"time"
)

// ending is why we end a session ourselves: what the peer is told in a Cease (RFC 4486), what the
// operator reads, and how long the peer is then left alone. It is the cause of contexts.
type ending struct {
	subcode uint8
	text    string
	pause   time.Duration
	resume  bool // a pause that runs is over
}

func (e ending) Error() string { return e.text }

// Subcodes of Cease (RFC 4486 section 4).
const (
	ceaseMaxPrefixes   = 1
	ceaseShutdown      = 2
	ceaseDeconfigured  = 3
	ceaseReset         = 4
	ceaseConfiguration = 6
	ceaseCollision     = 7
	ceaseResources     = 8
)

func removed() ending {
	return ending{subcode: ceaseDeconfigured, text: "removed from the configuration"}
}

func changed() ending {
	return ending{subcode: ceaseConfiguration, text: "changed in the configuration"}
}

func shutdown() ending { return ending{subcode: ceaseShutdown, text: "the server ends"} }

func speakerGone() ending { return ending{subcode: ceaseResources, text: "the speaker is gone"} }

func replaced() ending { return ending{subcode: ceaseCollision, text: "the peer connected anew"} }

func reset() ending { return ending{subcode: ceaseReset, text: "reset by the operator", resume: true} }
