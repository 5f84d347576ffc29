package dns

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// TestWhatIsSaidOfGdnsdIsTrue runs gdnsd and our server with the files of deploy/from-gdnsd.md, which differ in nothing
// but addresses, ports and the geo database, and compares what clients get of both.
func TestWhatIsSaidOfGdnsdIsTrue(t *testing.T) {
	t.Parallel()
	path := rig.Installed(t, "gdnsd", "gdnsd")
	theirs, zone, ours := filesOfGdnsd(t)
	at := vacant(t)
	endpoints := endpointsOf(t, at.Addr())
	theirs, ours = endpoints.Replace(theirs), endpoints.Replace(ours)

	p := newProcess(t, nil)
	folder := func(name string) string { return filepath.Join(p.folder, name) }
	for _, name := range []string{"zones", "geoip", "run", "state"} {
		if err := os.Mkdir(folder(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	globe, err := os.ReadFile("../../cmd/gslb/testdata/globe.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	options := fmt.Sprintf("listen => %s, dns_port => %d, run_dir => %q, state_dir => %q", at.Addr(), at.Port(), folder("run"), folder("state"))
	p.write("config", strings.Replace(theirs, "listen => 192.0.2.53", options, 1))
	p.write("geoip/GeoLite2-City.mmdb", string(globe))
	p.write("zones/ok.test", endpoints.Replace(zone))
	p.begin(path, "-c", p.folder, "start")

	ours = regexp.MustCompile(`(?m)^server: .*\ngeo: .*\n`).ReplaceAllString(ours, "server: {listen: [\"DNS\"], state: state.db}\nadmin: {listen: \"ADMIN\"}\n")
	our, _ := gslb(t, ours, nil)
	for _, server := range []netip.AddrPort{at, our} {
		answers(t, server, "www.ok.test.", dns.TypeA)
	}
	for _, name := range []string{"www", "img", "mail", "all", "ns1"} {
		for _, client := range []string{"203.0.113.7/32", "198.51.100.1/32", "198.51.100.0/24", "2001:db8:77::/56", "192.0.2.200/32"} {
			network := netip.MustParsePrefix(client)
			if name == "img" && (network.Addr().Is6() || client == "192.0.2.200/32") {
				continue // nobody knows where it is, and then they differ, as the page says
			}
			if got, want := given(t, our, name, network), given(t, at, name, network); got != want {
				t.Errorf("%s for %s:\n%s\ngdnsd gives\n%s", name, client, got, want)
			}
		}
	}
	seen := map[string]bool{}
	for range 100 { // 1 in 10^12 runs sees one of a quarter alone
		seen[given(t, our, "api", netip.MustParsePrefix("203.0.113.7/32"))] = true
	}
	if len(seen) != 2 {
		t.Errorf("api is %v, want both of its addresses", seen)
	}
}

// filesOfGdnsd are the blocks of the page: the configuration and a zone of gdnsd, and ours.
func filesOfGdnsd(t *testing.T) (theirs, zone, ours string) {
	t.Helper()
	page, err := os.ReadFile("../../deploy/from-gdnsd.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("the page has %d blocks, want 3", len(blocks))
	}
	return blocks[0][1], blocks[1][1], blocks[2][1]
}

// endpointsOf serves what is probed, on neighbours of an address, and puts them in the place of those of the page.
func endpointsOf(t *testing.T, a netip.Addr) *strings.Replacer {
	t.Helper()
	var all []netip.Addr
	for n := range byte(4) {
		bytes := a.As4()
		bytes[1] += n + 1
		all = append(all, netip.AddrFrom4(bytes))
	}
	port := rig.Vacant(t, all...)
	pairs := []string{
		"port => 80", fmt.Sprintf("port => %d", port), "port: 80", fmt.Sprintf("port: %d", port),
		"interval => 10, timeout => 3", "interval => 100, timeout => 60", "interval: 10s, timeout: 3s", "interval: 100s, timeout: 60s", // a slow machine is not down
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "www.ok.test" || r.URL.Path != "/ping" {
			w.WriteHeader(http.StatusNotFound)
		}
	})}
	t.Cleanup(func() { server.Close() })
	for i, address := range all {
		door, err := net.Listen("tcp", netip.AddrPortFrom(address, port).String())
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = server.Serve(door) }()             // it ends with the server
		for _, end := range []string{",", "]", " ", "}"} { // 192.0.2.53 stays
			pairs = append(pairs, fmt.Sprintf("192.0.2.%d%s", i+1, end), address.String()+end)
		}
	}
	return strings.NewReplacer(pairs...)
}

// given is what a client network gets: addresses, TTL and scope.
func given(t *testing.T, at netip.AddrPort, name string, client netip.Prefix) string {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name+".ok.test.", dns.TypeA)
	m.SetEdns0(1232, false)
	family := uint16(1)
	if client.Addr().Is6() {
		family = 2
	}
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: family, SourceNetmask: uint8(client.Bits()), Address: client.Addr().AsSlice()}}
	c := dns.Client{Timeout: rig.Soon}
	r, _, err := c.Exchange(m, at.String())
	if err != nil {
		t.Fatal(err)
	}
	h := heard{answer: lines(r.Answer)}
	for _, o := range r.IsEdns0().Option {
		if s, ok := o.(*dns.EDNS0_SUBNET); ok {
			h.option = append(h.option, fmt.Sprintf("/%d", s.SourceScope))
		}
	}
	return fmt.Sprintf("%q %q", h.answer, h.option)
}
