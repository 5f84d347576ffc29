package dns

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/test/rig"
)

// unbound runs unbound as a resolver that tells the server at ours the client's subnet, with more lines of its
// configuration.
func unbound(t *testing.T, ours netip.AddrPort, more ...string) netip.AddrPort {
	t.Helper()
	path, at := rig.Installed(t, "unbound", "unbound"), vacant(t)
	p := newProcess(t, nil)
	p.write("unbound.conf", fmt.Sprintf(`server:
  interface: %[1]s@%[2]d
  module-config: "subnetcache iterator"
  send-client-subnet: %[4]s
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  local-zone: "test." nodefault
  directory: "%[3]s"
  chroot: ""
  username: ""
  pidfile: "%[3]s/unbound.pid"
  use-syslog: no
  do-daemonize: no
  num-threads: 1
  qname-minimisation: yes
  harden-below-nxdomain: yes
  use-caps-for-id: yes
%[6]s
remote-control:
  control-enable: no
stub-zone:
  name: "ok.test"
  stub-addr: %[4]s@%[5]d
`, at.Addr(), at.Port(), p.folder, ours.Addr(), ours.Port(), strings.Join(more, "\n")))
	p.begin(path, "-d", "-c", p.folder+"/unbound.conf")
	return at
}

// resolved gives the addresses that a resolver gives to a client, and the scope of its answer.
func resolved(t *testing.T, at netip.AddrPort, name string, rrtype uint16, client string) string {
	t.Helper()
	got, err := resolve(at, name, rrtype, client, rig.Soon)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func resolve(at netip.AddrPort, name string, rrtype uint16, client string, patience time.Duration) (string, error) {
	m := new(dns.Msg)
	m.SetQuestion(name, rrtype)
	if client != "" {
		put(m, "+subnet="+client)
	}
	c := dns.Client{Timeout: patience}
	r, _, err := c.Exchange(m, at.String())
	if err != nil {
		return "", err
	}
	words := []string{dns.RcodeToString[r.Rcode]}
	for _, rr := range r.Answer {
		switch rr := rr.(type) {
		case *dns.A:
			words = append(words, rr.A.String())
		case *dns.AAAA:
			words = append(words, rr.AAAA.String())
		}
	}
	if o := r.IsEdns0(); o != nil {
		for _, option := range o.Option {
			if e, ok := option.(*dns.EDNS0_SUBNET); ok {
				words = append(words, fmt.Sprintf("/%d", e.SourceScope))
			}
		}
	}
	return strings.Join(words, " "), nil
}

// unbound asks us with the client's subnet, in letters of random case, and keeps what we say by its scope: when we are
// gone it goes on answering those whom it knows about, and nobody else.
func TestUnboundResolvesByTheClientsNetwork(t *testing.T) {
	ours, p := servedServices(t)
	at := unbound(t, ours)
	answers(t, at, "ns1.ok.test.", dns.TypeA)
	known := []struct {
		name   string
		rrtype uint16
		client string
		want   string
	}{
		{"www.ok.test.", dns.TypeA, "203.0.113.0/24", "NOERROR 198.51.100.1 /24"},
		{"www.ok.test.", dns.TypeA, "203.0.113.77/32", "NOERROR 198.51.100.1 /24"},
		{"www.ok.test.", dns.TypeA, "8.8.8.0/24", "NOERROR 192.0.2.1 /"},
		{"www.ok.test.", dns.TypeAAAA, "2001:db8:203::/48", "NOERROR 2001:db8:1::1 /48"},
		{"www.ok.test.", dns.TypeAAAA, "2001:db8:203:4::/56", "NOERROR 2001:db8:1::1 /48"},
		{"www.ok.test.", dns.TypeAAAA, "2001:db8:204::/48", "NOERROR 2001:db8:2::1 /"},
		{"a.b.vid.ok.test.", dns.TypeA, "203.0.113.0/24", "NOERROR 198.51.100.1 /24"},
		{"a.b.vid.ok.test.", dns.TypeA, "", "NOERROR 192.0.2.1"},
		{"ns2.ok.test.", dns.TypeA, "203.0.113.0/24", "NOERROR 192.0.2.54 /0"},
		{"ns2.ok.test.", dns.TypeA, "8.8.8.0/24", "NOERROR 192.0.2.54 /0"},
		{"nothing.ok.test.", dns.TypeA, "203.0.113.0/24", "NXDOMAIN /0"},
	}
	for _, when := range []string{"with us", "without us"} {
		for _, c := range known {
			if got := resolved(t, at, c.name, c.rrtype, c.client); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %s %s for %s: %s, want %s", when, c.name, dns.Type(c.rrtype), c.client, got, c.want)
			}
		}
		p.end()
	}
	if got, err := resolve(at, "www.ok.test.", dns.TypeA, "203.0.112.0/24", time.Second); err == nil && got != "SERVFAIL" {
		t.Errorf("a client of a network that nothing is known of got %s", got)
	}
}

// BIND asks us without a subnet, and keeps what we say for all.
func TestBINDResolves(t *testing.T) {
	ours, p := servedServices(t)
	at := bind(t, "", "recursion yes; empty-zones-enable no;", fmt.Sprintf(`zone "ok.test" { type forward; forward only; forwarders { %s port %d; }; };`, ours.Addr(), ours.Port()))
	answers(t, at, "ns1.ok.test.", dns.TypeA)
	for range 2 {
		for name, want := range map[string]string{
			"www.ok.test.": "NOERROR 192.0.2.1", "a.b.vid.ok.test.": "NOERROR 192.0.2.1", "ns2.ok.test.": "NOERROR 192.0.2.54", "nothing.ok.test.": "NXDOMAIN",
		} {
			if got := resolved(t, at, name, dns.TypeA, ""); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		p.end() // and again from the cache
	}
}
