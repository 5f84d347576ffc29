package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

func compiledSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("gslb.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("gslb.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate is what an editor's schema check says of a tree.
func validate(t testing.TB, s *jsonschema.Schema, root *node) error {
	t.Helper()
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(root.json(nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(instance)
}

// beyondSchema are the classes of mistakes that only loading sees, and the configs that show them.
var beyondSchema = map[string]string{
	"YAML itself, before there is a value to judge": `key-twice service-twice not-yaml tab-indent two-documents key-is-list
		unknown-tag merge-key-scalar check-port-octal`,
	"names that refer to others": `partner-site-unknown partner-site-datacenter rule-to-unknown service-place-unknown service-check-unknown
		member-check-unknown service-map-unknown zone-service-unknown transfer-key drain-target drain-target-service drain-service`,
	"values that must fit each other": `admin-is-dns admin-token-twice admin-nobody admin-open admin-plain listen-overlap timeout-over-interval window-below-rise window-below-both window-above-both fall-over-window
		rise-over-window fall-and-rise-fit place-both-kinds peers-no-bgp peer-passive-no-listen peer-address-twice rule-region-alone service-ttl-min min-healthy-large
		check-cert-no-key check-exec-words`,
	"bounds of numbers inside a text": `listen-port-zero listen-port-large check-status-backwards interval-zero interval-century service-ttl-fraction
		partner-network-length accept-lengths accept-lengths-large community-large drain-until-month`,
	"what an address or network means": `listen-mapped partner-host-bits partner-network-mapped rule-networks service-address-mapped
		service-address-any service-address-forms`,
	"what an expression means":            "check-regex check-load",
	"keys that the probe keeps to itself": "check-header-host",
	"one name in two spellings":           "zone-twice zone-service-twice",
	"the files on this machine": `zone-file-missing zone-file-folder cookie-secrets-bad cookie-secrets-none tsig-algorithm tsig-twice
		written-file tsig-secret tsig-end tsig-word tsig-none tsig-lacks`,
}

func TestSchemaAndLoadingAgree(t *testing.T) {
	s := compiledSchema(t)
	reason := map[string]string{}
	for class, names := range beyondSchema {
		for name := range strings.FieldsSeq(names) {
			reason[name] = class
		}
	}
	for _, file := range append(gallery(t, "good"), gallery(t, "bad")...) {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			root, _ := parseText(Source{file, text})
			_, ps := Load(file)
			says := validate(t, s, root)
			switch class := reason[name]; {
			case says != nil && ps.Err() == nil:
				t.Errorf("it loads, and the schema says: %v", says)
			case says != nil && class != "":
				t.Errorf("the schema sees this: it is no example of %q: %v", class, says)
			case says == nil && ps.Err() != nil && class == "":
				t.Errorf("the schema accepts what loading refuses:\n%v", ps.Err())
			}
		})
	}
	for name, class := range reason {
		if _, err := os.Stat(filepath.Join("testdata", "bad", name+".yaml")); err != nil {
			t.Errorf("an example of %q is not in the gallery: %v", class, err)
		}
	}
}

// TestSchemaRefusesOnlyWhatLoadingRefuses changes good configs at random: whatever then violates the
// schema must not load.
func TestSchemaRefusesOnlyWhatLoadingRefuses(t *testing.T) {
	s := compiledSchema(t)
	var texts []string
	for _, file := range gallery(t, "good") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	rapid.Check(t, func(rt *rapid.T) {
		root, _ := parseText(Source{"gslb.yaml", []byte(rapid.SampledFrom(texts).Draw(rt, "config"))})
		mutate(rt, root)
		says := validate(t, s, root)
		if _, ps := read(root); says != nil && ps.Err() == nil {
			rt.Errorf("it loads, and the schema says: %v\n%s", says, root.json(nil))
		}
	})
}

// mutate gives one node of a tree another value.
func mutate(rt *rapid.T, root *node) {
	n := root
	for len(n.children) > 0 && rapid.IntRange(0, 5).Draw(rt, "deeper") > 0 {
		n = rapid.SampledFrom(n.children).Draw(rt, "child")
	}
	words := []string{"", "all", "off", "auto", "nearest", "10s", "1.5h", "192.0.2.1", "2001:db8::1", "10.0.0.0/8", "127.0.0.1:53", "ignore", "50%", "8-24", "200-299", "RU", "ok.test", "/", "no such thing"}
	numbers := []string{"-1", "0", "1", "53", "65", "100", "70000", "4294967296", "9223372036854775807"}
	n.text = ""
	n.shape = rapid.SampledFrom([]shape{isNothing, isText, isInteger, isDecimal, isBoolean, isList, isMapping}).Draw(rt, "shape")
	switch n.shape {
	case isText:
		n.text = rapid.SampledFrom(words).Draw(rt, "word")
	case isInteger:
		n.text = rapid.SampledFrom(numbers).Draw(rt, "number")
	case isDecimal:
		n.text = rapid.SampledFrom([]string{"0.5", "-90.1", "1e3"}).Draw(rt, "decimal")
	case isBoolean:
		n.text = "true"
	case isList, isMapping:
		if rapid.Bool().Draw(rt, "empty") {
			n.children = nil
		}
		return
	}
	n.children = nil
}

func TestEveryKeyOfTheSchemaIsDescribed(t *testing.T) {
	var walk func(path string, s schema)
	walk = func(path string, s schema) {
		for _, p := range s.Properties {
			if p.schema.Description == "" {
				t.Errorf("%s.%s has no description", path, p.name)
			}
			walk(path+"."+p.name, p.schema)
		}
		for _, sub := range []*schema{s.Items, s.Names} {
			if sub != nil {
				walk(path, *sub)
			}
		}
		if s.Others != nil && s.Others.schema != nil {
			walk(path, *s.Others.schema)
		}
		for _, sub := range s.AnyOf {
			walk(path, sub)
		}
	}
	walk("", table().schema)
}

// TestDefaultsAreWhatAnOperatorMayWrite reads a config that gives nothing: a default that its own form
// refuses would be a fault.
func TestDefaultsAreWhatAnOperatorMayWrite(t *testing.T) {
	r := &reader{main: "gslb.yaml", spoilt: map[string]bool{}}
	root, _ := parseText(Source{"gslb.yaml", []byte(`
checks: {a: {http: {}}, b: {https: {}}, c: {dns: {name: ok.test}}, d: {tls: {}}}
sites: {nsk: {}}
partners: {p: {site: nsk, peers: [{address: 192.0.2.1, asn: 1}]}}
services: {s: {at: {nsk: [192.0.2.1]}}}
zones: {ok.test: {soa: {}}}
drains: [{target: nsk}]
`)})
	table().apply(r, root, &Config{})
	if len(r.problems) > 0 {
		t.Errorf("defaults are refused:\n%s", told(r.problems))
	}
}
