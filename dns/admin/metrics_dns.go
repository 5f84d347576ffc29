package admin

import "strconv"

// dnsFamilies are of questions and answers.
type dnsFamilies struct {
	queries, silent, answers, zones, limited Metric
	steered, given, subnets, latency, buffer Metric
	signed, traced, lost, transfers          Metric
	expiry, validity, followed, notices      Metric
}

func (d definer) dns() dnsFamilies {
	return dnsFamilies{
		queries: d.counter("dns_queries_total", "Packets that came in, by transport.", "transport"),
		silent:  d.counter("dns_dropped_total", "Packets that got no answer, since they were no requests."),
		answers: d.counter("dns_answers_total", "Answers, by RCODE.", "rcode"),
		zones:   d.counter("dns_zone_answers_total", "Answers from zones, by what became of the question: answered (NOERROR), denied (NXDOMAIN) or other.", "zone", "outcome"),
		limited: d.counter("dns_rate_limited_total", "Replies that were too many for their clients: slipped, dropped, or spared in a dry run.", "action"),
		steered: d.counter("steered_total", "Answers from services, by what placed the client.", "service", "placed"),
		given: d.counter("place_answers_total", "Answers from services that gave a place, by what placed the client; an answer that gave several counts for each. "+
			"Without a place: answers that gave none.", "service", "place", "placed"),
		transfers: d.counter("dns_transfers_total", "Zone transfers to those who may have them, once they are over: sent, current (the asker had this version, and got the "+
			"SOA record alone) or failed.", "zone", "transport", "outcome"),
		notices: d.counter("dns_notifies_total", "Secondaries that were told of a change of a zone: answered, refused (by an error) or lost (no answer to any of the tries).",
			"zone", "outcome"),
		subnets: d.counter("dns_subnet_answers_total", "Answers to questions with a client subnet, by its family and by the scope that was given.", "family", "scope"),
		latency: d.histogram("dns_reply_seconds", "Time to make a reply, from the packet to the bytes that are sent, of one request in 64."),
		traced:  d.counter("traces_total", "Copies of questions that were taken for the query log or for dnstap.", "sink"),
		lost:    d.counter("traces_lost_total", "Copies that were lost, since nobody kept up with reading them.", "sink"),
		buffer:  d.gauge("dns_receive_buffer_bytes", "Receive buffer that the kernel gave to a UDP socket: the smallest of an address.", "address"),
		signed: d.counter("dnssec_signatures_total", "Signatures that were made: when a zone was loaded, ahead of what a service may come to give, in the place of older ones, "+
			"or since somebody asked for what nobody foresaw.", "why"),
		expiry:   d.gauge("dnssec_signature_expiry_time_seconds", "When the first of the signatures of a zone ends, in seconds since 1970.", "zone"),
		validity: d.gauge("dnssec_signature_validity_seconds", "For how long signatures of a zone are made; a quarter of it is left when they are made anew.", "zone"),
		followed: d.gauge("dnssec_keys_current", "Whether the keys of a zone that are in use are those in its folder: 0 while what is there cannot be used.", "zone"),
	}
}

func (c *collector) dns(s scrape, f dnsFamilies) {
	for over, n := range c.Counts.Queries() {
		s.tell(f.queries, float64(n), over.String())
	}
	s.tell(f.silent, float64(c.Counts.Silent()))
	for rcode, n := range c.Counts.Rcodes() {
		s.tell(f.answers, float64(n), rcode)
	}
	for key, n := range c.Counts.Zones() {
		s.tell(f.zones, float64(n), key[0], key[1])
	}
	for of, n := range c.Counts.Transfers() {
		s.tell(f.transfers, float64(n), of.Zone, of.Over.String(), string(of.Outcome))
	}
	for of, n := range c.Counts.Notices() {
		s.tell(f.notices, float64(n), of.Zone, string(of.Outcome))
	}
	for action, n := range c.Counts.Limited() {
		s.tell(f.limited, float64(n), action)
	}
	for why, n := range c.Signed.All() {
		s.tell(f.signed, float64(n), why)
	}
	for _, o := range c.Outlooks() {
		s.tell(f.expiry, seconds(o.Expires), o.Zone.String())
		s.tell(f.validity, o.Validity.Seconds(), o.Zone.String())
		s.tell(f.followed, truth(o.Followed), o.Zone.String())
	}
	c.steered(s, f)
	for of, n := range c.Counts.Scopes() {
		s.tell(f.subnets, float64(n), of.Family, strconv.Itoa(of.Bits))
	}
	s.spread(f.latency, c.Counts.Latency())
	for _, v := range c.Traces() {
		s.tell(f.traced, float64(v.Taken), v.Sink)
		s.tell(f.lost, float64(v.Lost), v.Sink)
	}
	for address, octets := range c.Buffers() {
		s.tell(f.buffer, float64(octets), address.String())
	}
}

func (c *collector) steered(s scrape, f dnsFamilies) {
	steered := map[[2]string]uint64{}
	for g := range c.Counts.Given() {
		placed := g.Placed.String()
		steered[[2]string{g.Service, placed}] += g.Answers
		s.tell(f.given, float64(g.Answers+g.Beside), g.Service, g.Place, placed)
	}
	for key, n := range steered {
		s.tell(f.steered, float64(n), key[0], key[1])
	}
}
