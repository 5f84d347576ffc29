package sim_test

import (
	"fmt"
	"strings"

	"gslb/dns/sim"
)

const story = `# A dead datacenter leaves the answers at its tenth failure, and not before.

-- gslb.yaml --
checks:
  web: {http: {}}
datacenters:
  msk-1: {}
  msk-2: {}
services:
  portal: {check: web, answer: all, at: {msk-1: [192.0.2.1], msk-2: [192.0.2.2]}}
zones:
  ok.test: {ns: [ns.example.], services: {www: portal}}
-- script --
> start
> fail 192.0.2.1 status 503
> run 9 probes of 192.0.2.1
> ask www.ok.test A from 203.0.113.7
> run 1 probe of 192.0.2.1
> ask www.ok.test A from 203.0.113.7
`

func Example() {
	transcript, err := sim.Run("story.txt", []byte(story))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, what, _ := strings.Cut(string(transcript), "-- script --\n")
	fmt.Print(what)
	// Output:
	// > start
	//   serving after 1s
	// > fail 192.0.2.1 status 503
	// > run 9 probes of 192.0.2.1
	// > ask www.ok.test A from 203.0.113.7
	//   A 192.0.2.1 192.0.2.2 ttl=30
	// > run 1 probe of 192.0.2.1
	//   00:01:42 msk-1/web withdrawn: 10 of 20 failed, last: status 503
	// > ask www.ok.test A from 203.0.113.7
	//   A 192.0.2.2 ttl=60
}
