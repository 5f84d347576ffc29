package config_test

import (
	"fmt"

	"gslb/config"
)

func Example() {
	_, problems := config.Parse(config.Source{File: "gslb.yaml", Text: []byte(`
checks:
  web:
    http: {path: /ping}
    intervall: 5s
datacenters:
  msk-1: {location: [55.75, 37.62]}
services:
  portal:
    check: wep
    at: {msk1: [192.0.2.1]}
`)})
	fmt.Println(problems.Err())
	// Output:
	// gslb.yaml:5:5: checks.web.intervall: unknown key (did you mean interval?)
	// gslb.yaml:10:5: services.portal.check: no check is named wep (did you mean web?)
	// gslb.yaml:11:10: services.portal.at.msk1: no place is named msk1 (did you mean msk-1?)
}

func ExampleDrainText() {
	fmt.Printf("%s", config.DrainText(config.Drain{Target: "msk-2", Reason: "cooling work"}))
	// Output:
	// # Written by gslb drain; gslb undrain takes it away.
	// drains:
	//   - target: "msk-2"
	//     reason: "cooling work"
}
