package config

import "time"

// Denial is how a signed zone proves what there is not.
type Denial uint8

const (
	// DenialNSEC links the names of the zone (RFC 4034).
	DenialNSEC Denial = iota
	// DenialNSEC3 links hashes of the names (RFC 5155, RFC 9276).
	DenialNSEC3
	// DenialCompact signs a record for each name that is asked for (RFC 9824).
	DenialCompact
)

// DNSSEC says how a zone is signed.
type DNSSEC struct {
	Keys        string // path of the folder of keys
	Algorithm   string // of the key that is made where there is none: "ecdsap256sha256" or "ed25519"
	Denial      Denial
	Validity    time.Duration // of signatures
	Propagation time.Duration // until all servers have what changed in the folder of keys
	ParentTTL   time.Duration // of the DS RRset in the parent zone
}

// dnssecForm keeps nil where the key is not given.
func dnssecForm() form[*DNSSEC] {
	const day = 24 * time.Hour
	return optional(object("keys, algorithm, denial, validity, propagation, parent_ttl",
		key("keys", "Folder of the zone's keys, in files as BIND's dnssec-keygen makes them; one is made where there is none. Servers of one zone share the folder's content.",
			filePath("the path of a folder"), func(d *DNSSEC) *string { return &d.Keys }).required(),
		key("algorithm", "Algorithm of the key that is made where there is none. Keys of rsasha256 are read.",
			words("ecdsap256sha256", "ed25519"), func(d *DNSSEC) *string { return &d.Algorithm }).or("ecdsap256sha256"),
		key("denial", "How it is proved that there is no such name or record: nsec reveals all names, nsec3 only their hashes (RFC 9276), compact signs a record for each name that is asked for (RFC 9824).",
			word(choice[Denial]{"nsec", DenialNSEC}, choice[Denial]{"nsec3", DenialNSEC3}, choice[Denial]{"compact", DenialCompact}), func(d *DNSSEC) *Denial { return &d.Denial }).or("nsec"),
		key("validity", "How long a signature is good; it is made anew when a quarter of that is left.", duration(time.Minute, 365*day), func(d *DNSSEC) *time.Duration { return &d.Validity }).or("14d"),
		key("propagation", "How long it takes until all servers of the zone have what changed in the folder of keys; a rollover waits so long.", duration(0, 30*day), func(d *DNSSEC) *time.Duration { return &d.Propagation }).or("1h"),
		key("parent_ttl", "TTL of the DS records in the parent zone; a rollover waits so long after they changed.", duration(0, 30*day), func(d *DNSSEC) *time.Duration { return &d.ParentTTL }).or("24h"),
	))
}
