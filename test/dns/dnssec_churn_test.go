package dns

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/sign"
	"gslb/test/rig"
)

// churning is how long everything moves at once: a quarter of a minute, or minutes in the long run.
func churning() time.Duration {
	if os.Getenv("GSLB_LONG") != "" {
		return 3 * time.Minute
	}
	return 15 * time.Second
}

// Endpoints fall and rise, a place is drained and comes back, the configuration is edited and the zone's key is rolled
// over, all at once: two validating resolvers, one of which makes denials out of what it has, believe every answer that
// they get.
func TestNothingIsBogusWhileEverythingMoves(t *testing.T) {
	s := newSignedServer(t, "nsec", "1")
	next := key(t, s.keys, "ok.test", sign.ECDSAP256SHA256, sign.Times{Publish: time.Now().Add(time.Hour), Activate: time.Now().Add(time.Hour)})
	validators := s.validators(dnskey(t, next))
	for _, at := range validators {
		answers(t, at, "ns1.ok.test.", dns.TypeA)
	}
	over := time.Now().Add(churning())
	var crew sync.WaitGroup
	var asked, nothing atomic.Int64
	for resolver, at := range validators {
		for i := range 2 {
			luck := rand.New(rand.NewPCG(9, uint64(i)))
			crew.Go(func() {
				for time.Now().Before(over) && !t.Failed() {
					name, rrtype := drawSigned(luck)
					got, err := believed(at, name, rrtype)
					if asked.Add(1); err != nil || !strings.Contains(got, "secure") {
						t.Errorf("%s: %s %s: %s (%v)", resolver, name, dns.Type(rrtype), got, err)
					}
					if strings.HasSuffix(got, "secure") {
						nothing.Add(1)
					}
				}
			})
		}
	}
	crew.Go(func() { s.move(over) })
	crew.Go(func() { s.rollOver(next, over) })
	crew.Wait()
	t.Logf("%d answers, %d of them that there is nothing", asked.Load(), nothing.Load())
	if asked.Load() < 100 || nothing.Load() < 10 {
		t.Error("that is few")
	}
	if n := strings.Count(s.p.log.String(), "keys changed"); n < 3 {
		t.Errorf("the keys changed %d times", n)
	}
}

// drawSigned draws a question that changes all the time, or is new.
func drawSigned(luck *rand.Rand) (name string, rrtype uint16) {
	names := []string{
		"www.ok.test.", "dual.ok.test.", "all.ok.test.", "ok.test.", "see.ok.test.", "_sip._udp.ok.test.", fmt.Sprintf("n%d.vid.ok.test.", luck.IntN(1000)),
		fmt.Sprintf("no%d.ok.test.", luck.IntN(1000)), fmt.Sprintf("x%d.old.ok.test.", luck.IntN(1000)), "alias.ok.test.", "ent.ok.test.",
	}
	types := []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeHTTPS, dns.TypeTXT}
	return names[luck.IntN(len(names))], types[luck.IntN(len(types))]
}

// move changes verdicts, drains and records until it is over.
func (s *signedServer) move(over time.Time) {
	luck := rand.New(rand.NewPCG(4, 7))
	folder, config := filepath.Join(s.p.folder, "gslb.yaml.d"), filepath.Join(s.p.folder, "gslb.yaml")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		s.t.Error(err)
	}
	text, err := os.ReadFile(config)
	if err != nil {
		s.t.Error(err)
	}
	for i := 0; time.Now().Before(over); i++ {
		s.say(addresses[luck.IntN(len(addresses))], [...]string{"up", "down for a while"}[luck.IntN(2)])
		switch i % 30 {
		case 5:
			s.p.write("gslb.yaml.d/drain-msk.yaml", "drains: [{target: msk}]\n")
		case 20:
			_ = os.Remove(filepath.Join(folder, "drain-msk.yaml"))
		case 12:
			s.p.write("gslb.yaml", strings.Replace(string(text), "      *.wild", fmt.Sprintf("      made%d  TXT \"new\"\n      *.wild", i), 1))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// rollOver rolls the zone's key over in the time that there is. The TTLs are of a second, so that is what a step takes, and
// until the server has looked at the files.
func (s *signedServer) rollOver(next *sign.Key, over time.Time) {
	now, part := time.Now().Truncate(time.Second), time.Until(over)/10
	keys, err := sign.ReadFolder(s.keys, zoneName(s.t, "ok.test"))
	if err != nil || len(keys) != 2 {
		s.t.Error(keys, err)
		return
	}
	times := sign.Times{Publish: now, Activate: now.Add(4 * part), SyncPublish: now.Add(4 * part)}
	for _, k := range keys {
		if k.Tag() == next.Tag() {
			err = k.SetTimes(times)
			continue
		}
		old := k.Times
		old.SyncDelete, old.Inactive, old.Delete = times.Activate, now.Add(6*part), now.Add(8*part)
		if err := k.SetTimes(old); err != nil {
			s.t.Error(err)
		}
	}
	if err != nil {
		s.t.Error(err)
	}
}

// A family that comes back, and a name that is new, are seen as soon as the TTLs are over: also by resolvers that make
// denials out of the records they have.
func TestAggressiveResolversSeeWhatComesBack(t *testing.T) {
	s := newSignedServer(t, "nsec", "1")
	config, err := os.ReadFile(filepath.Join(s.p.folder, "gslb.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for resolver, at := range s.validators() {
		answers(t, at, "ns1.ok.test.", dns.TypeA)
		see := func(name string, rrtype uint16, want string) {
			t.Helper()
			rig.Until(t, rig.Soon, want, func() string {
				got, err := believed(at, name, rrtype)
				if err != nil {
					return err.Error()
				}
				return got
			})
		}
		for i := range 5 {
			see(fmt.Sprintf("nothing%d.ok.test.", i), dns.TypeA, "NXDOMAIN secure")
		}
		s.say("2001:db8::5", "down")
		see("dual.ok.test.", dns.TypeAAAA, "NOERROR secure")
		see("dual.ok.test.", dns.TypeA, "NOERROR secure 192.0.2.5")
		s.say("2001:db8::5", "up")
		see("dual.ok.test.", dns.TypeAAAA, "NOERROR secure 2001:db8::5")
		name := "new-to-" + strings.ToLower(resolver)
		see(name+".ok.test.", dns.TypeTXT, "NXDOMAIN secure")
		s.p.write("gslb.yaml", strings.Replace(string(config), "      *.wild", "      "+name+" TXT here\n      *.wild", 1))
		see(name+".ok.test.", dns.TypeTXT, "NOERROR secure \"here\"")
	}
}

// Two servers with the same keys give answers that are good side by side: a resolver that asks the one for the keys and the
// other for the rest believes both. What is transferred is a zone that others find whole.
func TestServersWithTheSameKeysAreOne(t *testing.T) {
	s := newSignedServer(t, "nsec3", "3600")
	text, err := os.ReadFile(filepath.Join(s.p.folder, "gslb.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, a := range addresses {
		files["state-"+a] = "up\n"
	}
	config := string(text[:strings.Index(string(text), "geo: {database")])
	config = strings.Replace(config, s.at.String(), "DNS", 1)
	start := strings.Index(config, "admin: {listen: \"")
	config = config[:start] + "admin: {listen: \"ADMIN\"" + config[strings.Index(config[start:], "}")+start:]
	other, _ := gslb(t, strings.Replace(config, "    ns: [ns1, ns2]\n", "    ns: [ns1, ns2]\n    transfer: {allow: [127.0.0.0/8]}\n", 1), files)
	answers(t, other, "ok.test.", dns.TypeSOA)
	for _, at := range []netip.AddrPort{s.at, other} {
		if got := unboundAnswer(t, at, s.trust); got != "NOERROR secure 192.0.2.53" {
			t.Errorf("%s: %s", at, got)
		}
	}
	dig := rig.Installed(t, "dig", "bind9-dnsutils")
	zone := run(t, dig, "@"+other.Addr().String(), "-p", fmt.Sprint(other.Port()), "+onesoa", "+nostats", "+nocmd", "+nocomments", "AXFR", "ok.test")
	path := filepath.Join(t.TempDir(), "ok.test.zone")
	if err := os.WriteFile(path, []byte(zone), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, rig.Installed(t, "ldns-verify-zone", "ldnsutils"), path)
	run(t, rig.Installed(t, "dnssec-verify", "bind9-utils"), "-z", "-o", "ok.test", path)
}
