package main

// row is a line of panels under one title.
type row struct {
	title string
	views []view
}

// view is what one panel shows: a metric, and how it is looked at. Counters are shown as rates a second.
type view struct {
	title  string
	metric string // without gslb_
	by     string // labels that stay apart, in a legend of them; "": the instance
	where  string // what is picked, as placed="all_down"
	unit   string // of Grafana; "": a plain number
	until  bool   // the metric is a time: how far off that is is shown
	still  bool   // one number, and no curve
}

// rows is the whole dashboard, in the order in which somebody who was woken up looks.
func rows() []row {
	return []row{
		{"Is it well?", []view{
			{title: "Answering", metric: "ready", still: true},
			{title: "Services nobody serves", metric: "service_served", by: "service"},
			{title: "Places that serve", metric: "place_serving", by: "service, place"},
			{title: "Brake held", metric: "brake_on"},
			{title: "Files hold what is in force", metric: "config_current"},
			{title: "State reaches the disk", metric: "state_saved"},
			{title: "Configuration in force", metric: "config_info", by: "instance, hash"},
		}},
		{"Questions and answers", []view{
			{title: "Questions", metric: "dns_queries_total", by: "transport", unit: "reqps"},
			{title: "Answers by RCODE", metric: "dns_answers_total", by: "rcode", unit: "reqps"},
			{title: "Answers by zone", metric: "dns_zone_answers_total", by: "zone, outcome", unit: "reqps"},
			{title: "Zone transfers", metric: "dns_transfers_total", by: "zone, outcome"},
			{title: "Time to make a reply", metric: "dns_reply_seconds", unit: "s"},
			{title: "Scopes of answers to client subnets", metric: "dns_subnet_answers_total", by: "family, scope", unit: "reqps"},
			{title: "Held back by the rate limit", metric: "dns_rate_limited_total", by: "action", unit: "reqps"},
		}},
		{"Where clients are sent", []view{
			{title: "Answers by place", metric: "place_answers_total", by: "service, place", unit: "reqps"},
			{title: "Answers by what placed the client", metric: "steered_total", by: "service, placed", unit: "reqps"},
			{title: "Answers of all_down", metric: "steered_total", by: "service", where: `placed="all_down"`, unit: "reqps"},
			{title: "Drained", metric: "place_drained", by: "service, place"},
			{title: "Drains", metric: "drains"},
			{title: "Ends of drains", metric: "drain_until_time_seconds", by: "place, service", unit: "s", until: true},
		}},
		{"Checks", []view{
			{title: "Endpoints up", metric: "endpoint_up", by: "service, place, endpoint"},
			{title: "Failed probes in windows", metric: "endpoint_failed_probes", by: "service, place, endpoint"},
			{title: "Verdicts that turned", metric: "endpoint_transitions_total", by: "service, place, endpoint"},
			{title: "Time of probes", metric: "probe_seconds", by: "kind, result", unit: "s"},
			{title: "Probes late by", metric: "probe_lag_seconds", unit: "s"},
			{title: "Checks stood still", metric: "check_gaps_total"},
		}},
		{"Partners", []view{
			{title: "Sessions", metric: "bgp_session_up", by: "partner, peer"},
			{title: "Prefixes believed", metric: "bgp_prefixes", by: "partner, peer, family"},
			{title: "Prefixes that are stale", metric: "bgp_stale_prefixes", by: "partner, peer"},
			{title: "Routes refused", metric: "bgp_refused_routes", by: "partner, peer, reason"},
			{title: "Messages with something wrong", metric: "bgp_malformed_messages_total", by: "partner, peer, reason"},
			{title: "Sessions that ended", metric: "bgp_session_flaps_total", by: "partner, peer"},
		}},
		{"The machine", []view{
			{title: "Snapshots made", metric: "snapshot_builds_total"},
			{title: "Time of the newest snapshot", metric: "snapshot_build_last_seconds", unit: "s"},
			{title: "Things there are", metric: "objects", by: "kind"},
			{title: "Receive buffers", metric: "dns_receive_buffer_bytes", by: "address", unit: "bytes"},
			{title: "Events", metric: "events_total", by: "kind"},
			{title: "Reloads refused", metric: "reload_failures_total"},
		}},
		{"What runs out", []view{
			{title: "Signatures end", metric: "dnssec_signature_expiry_time_seconds", by: "zone", unit: "s", until: true},
			{title: "Certificates end", metric: "certificate_expiry_time_seconds", by: "door", unit: "s", until: true},
			{title: "Signatures made", metric: "dnssec_signatures_total", by: "why"},
		}},
	}
}
