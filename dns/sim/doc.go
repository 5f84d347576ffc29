// Package sim answers: what would the server do, if this happened?
//
// It is the world on a table. A script tells a story: a configuration, a map of the globe, endpoints
// that fail and heal while a clock runs, operators who edit files, clients who ask. Everything
// between is the server itself: the same parser and compiler of the configuration, the same health rule
// and schedule, the same publisher, the same answers as packed packets. Only what stands at its doors is
// a double: what endpoints answer to a probe, the BGP sessions, the files, the sockets and the clock. So a story takes
// no time, opens nothing, and ends the same every time.
//
// A script is a text of three parts. It begins with comments that say what it shows. Then come files, each
// under a line with its name: gslb.yaml is the configuration, gslb.yaml.d/*.yaml are its drop-ins, and geo
// says where networks are, line by line or, by the word builtin, as the map that servers have built in.
// Last, under the name script, stands what happens:
//
//	# A dead datacenter leaves the answers at the tenth failure.
//
//	-- gslb.yaml --
//	…
//	-- geo --
//	203.0.113.0/24  country=RU region=MOW city=Moscow continent=EU at=55.75,37.62 asn=64500
//	-- script --
//	> start
//	  serving after 1s
//
//	# msk-1 breaks, but one failure is no reason to withdraw it.
//	> fail 192.0.2.1 status 503
//	> run 9 probes of 192.0.2.1
//	> ask www.ok.test A from 203.0.113.7
//	  A 192.0.2.1 ttl=30
//
// A line that begins with > is a command; lines that begin with | are its input; its outcome stands
// below it, indented by two spaces. [Run] plays a script and gives it back with what really happened, so a
// script that told the truth comes back as it was; [Differences] tells where one did not. The commands:
//
//	start                          read the configuration, and run until the sockets are open
//	run 90s                        let time pass; what an operator would be told is shown
//	run 10 probes of ADDRESS       let time pass until the endpoint has been probed so often
//	fail ADDRESS CAUSE…            from now on its probes fail at once, for this cause
//	hang ADDRESS                   from now on its probes time out
//	flaky ADDRESS SSF              from now on its probes succeed and fail in turns
//	delay ADDRESS 800ms            from now on its probes take so long
//	heal ADDRESS                   from now on its probes succeed, as they do from the start
//	write FILE                     write a file, with the input as its text; geo is one, too
//	edit FILE "OLD" "NEW"          replace a text that stands in the file once
//	remove FILE                    remove a file
//	restart [after 5m]             end the server, and start it again with the state that it saved
//	connect PEER                   a peer's BGP session comes up
//	announce PEER NETWORK …        it announces a network; with origin=N, neighbour=N, length=N, med=N, community=A:B
//	withdraw PEER NETWORK          it withdraws one
//	complete PEER                  it has announced all it had (end-of-RIB)
//	lose PEER                      its session is lost
//	shutdown PEER                  it ends the session by its own will
//	ask NAME TYPE from CLIENT …    ask a question; see below
//	explain NAME [for NETWORK] [from SOURCE]   ask for reasons, as dig does, for a client subnet
//	status                         show every endpoint and its verdict
//	probes                         show how often each endpoint was probed since the last time
//
// After a change of the files the server reloads at once. A question may have, in any order: ecs
// NETWORK, a client subnet; tcp; x1000, to be asked so often, which shows the share of each
// answer, to the nearest 5 %; ordered, to show addresses as they stood and not sorted; bytes, to
// show the client subnet option as it was sent and as it came back. When CLIENT is a network, each
// question comes from a random address of it.
//
// The package refuses to know what is right: it says what happens, and whoever plays the script compares.
package sim
