package screen

// Reason is what was wrong with a message, in one word of a closed list; the zero Reason: nothing.
type Reason uint8

// The reasons, grouped by what they speak of: the header, the state of the session, OPEN,
// ROUTE-REFRESH, UPDATE.
const (
	NoReason Reason = iota
	BadMarker
	BadLength
	BadType
	Unexpected
	BadVersion
	BadASN
	BadIdentifier
	BadHoldTime
	BadParameter
	UnknownParameter
	NoCommonFamily
	BadRefresh
	AttributeList
	AttributeFlags
	AttributeLength
	DuplicateAttribute
	UnknownWellKnown
	MissingAttribute
	InternalAttribute
	BadOrigin
	BadASPath
	LongASPath
	BadAggregator
	BadNextHop
	BadMultiprotocol
	BadPrefix
	ForeignFamily
	reasons
)

// String is the word that logs, metrics and tables show.
func (r Reason) String() string {
	if r >= reasons {
		return "unknown"
	}
	return [reasons]string{
		NoReason:           "",
		BadMarker:          "marker",
		BadLength:          "length",
		BadType:            "type",
		Unexpected:         "unexpected-message",
		BadVersion:         "version",
		BadASN:             "asn",
		BadIdentifier:      "identifier",
		BadHoldTime:        "hold-time",
		BadParameter:       "parameter",
		UnknownParameter:   "unknown-parameter",
		NoCommonFamily:     "no-common-family",
		BadRefresh:         "route-refresh",
		AttributeList:      "attribute-list",
		AttributeFlags:     "attribute-flags",
		AttributeLength:    "attribute-length",
		DuplicateAttribute: "duplicate-attribute",
		UnknownWellKnown:   "unknown-well-known",
		MissingAttribute:   "missing-attribute",
		InternalAttribute:  "internal-attribute",
		BadOrigin:          "origin",
		BadASPath:          "as-path",
		LongASPath:         "long-as-path",
		BadAggregator:      "aggregator",
		BadNextHop:         "next-hop",
		BadMultiprotocol:   "multiprotocol",
		BadPrefix:          "prefix",
		ForeignFamily:      "foreign-family",
	}[r]
}
