package dns_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"gslb/dns"
)

// The secrets of testdata/tsig.keys.
var secrets = map[string]string{
	"xfr.":    "OVW2QkuMSB4CtpkyFGEk1grdb5qHGjO1KBG6jJLC4vA=",
	"other.":  "3Gi9eBAtbOlY+4FBbAPYLkmyo3jBZ1bhgYdSGVIUsJ4x8aGIPcMSvqWCIGI4pIDV8ZJ9XwnBzlk8XzDSAPIUsg==",
	"nobody.": "OVW2QkuMSB4CtpkyFGEk1grdb5qHGjO1KBG6jJLC4vA=",
}

// transferred gives the records of a zone transfer in order, or the error that it ended with.
func transferred(address string, ask func(*mdns.Msg)) ([]mdns.RR, error) {
	m := new(mdns.Msg)
	m.SetAxfr("ok.test.")
	ask(m)
	t := mdns.Transfer{ReadTimeout: 5 * time.Second}
	if m.IsTsig() != nil {
		t.TsigSecret = secrets
	}
	messages, err := t.In(m, address)
	if err != nil {
		return nil, err
	}
	var records []mdns.RR
	for message := range messages {
		if message.Error != nil {
			return records, message.Error
		}
		records = append(records, message.RR...)
	}
	return records, nil
}

func signedBy(key, algorithm string) func(*mdns.Msg) {
	return func(m *mdns.Msg) { m.SetTsig(key, algorithm, 300, time.Now().Unix()) }
}

func TestTransferGivesTheWholeZone(t *testing.T) {
	_, addresses := serve(t, "127.0.0.1")
	records, err := transferred(addresses[0].String(), signedBy("xfr.", mdns.HmacSHA256))
	if err != nil {
		t.Fatal(err)
	}
	first, last := records[0], records[len(records)-1]
	if first.Header().Rrtype != mdns.TypeSOA || first.String() != last.String() {
		t.Errorf("from %s to %s", first, last)
	}
	var all []string
	for _, rr := range records[1:] {
		all = append(all, strings.Join(strings.Fields(rr.String()), " "))
	}
	for _, want := range []string{
		"ns1.ok.test. 3600 IN A 192.0.2.53", "www.ok.test. 300 IN A 192.0.2.1", "www.ok.test. 300 IN AAAA 2001:db8::1",
		"*.vid.ok.test. 20 IN A 192.0.2.1", "led.ok.test. 40 IN CNAME cdn.example.", "_sip._udp.ok.test. 60 IN SRV 0 100 5061 b.example.",
		"cdn.ok.test. 20 IN HTTPS 1 . alpn=\"h3,h2\" port=\"8443\" ipv4hint=\"192.0.2.1\"", "ok.test. 3600 IN NS ns1.ok.test.", "ns.child.ok.test. 3600 IN A 192.0.2.99",
		"*.wild.ok.test. 3600 IN TXT \"wild\"", "old.ok.test. 3600 IN DNAME new.ok.test.",
	} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is missing in\n%s", want, strings.Join(all, "\n"))
		}
	}
	for _, rr := range all {
		if strings.HasPrefix(rr, "host.sub.ok.test.") {
			t.Errorf("%s is of another zone", rr)
		}
	}
}

// Enough records for many messages, each with a signature over the one before.
func TestTransferOfManyMessages(t *testing.T) {
	_, addresses := serveText(t, strings.Replace(text, "      mail     MX    10 ns1\n", "      $GENERATE 0-4999 host$ A 198.18.0.1\n", 1), "127.0.0.1")
	records, err := transferred(addresses[0].String(), signedBy("xfr.", mdns.HmacSHA256))
	if err != nil || len(records) < 5000 {
		t.Errorf("%d records: %v", len(records), err)
	}
}

func TestTransferIsForThoseWhoMay(t *testing.T) {
	_, addresses := serve(t, "127.0.0.1")
	for _, tc := range []struct {
		name string
		ask  func(*mdns.Msg)
		want string // in the error; "": it is given
	}{
		{"with the key", signedBy("xfr.", mdns.HmacSHA256), ""},
		{"without a key", func(*mdns.Msg) {}, "bad xfr rcode: 5"},
		{"with another key", signedBy("other.", mdns.HmacSHA512), "bad xfr rcode: 5"},
		{"with a key that is not known", signedBy("nobody.", mdns.HmacSHA256), "bad"},
		{"with another algorithm", signedBy("xfr.", mdns.HmacSHA512), "bad"},
		{"long ago", func(m *mdns.Msg) { m.SetTsig("xfr.", mdns.HmacSHA256, 300, time.Now().Unix()-3600) }, "bad"},
		{"of a name in the zone", func(m *mdns.Msg) {
			m.Question[0].Name = "www.ok.test."
			signedBy("xfr.", mdns.HmacSHA256)(m)
		}, "bad authentication"},
		{"of a zone that nobody may have", func(m *mdns.Msg) {
			m.Question[0].Name = "sub.ok.test."
			signedBy("xfr.", mdns.HmacSHA256)(m)
		}, "bad xfr rcode: 5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			records, err := transferred(addresses[0].String(), tc.ask)
			if got := fmt.Sprint(err); (err == nil) != (tc.want == "") || !strings.Contains(got, tc.want) || err != nil && len(records) > 0 {
				t.Errorf("%d records: %v, want %q", len(records), err, tc.want)
			}
		})
	}
}

// The first message of a transfer has what any other reply has in its OPT record (RFC 5936 section 2.2.5), and tells a
// secondary when the zone expires (RFC 7314).
func TestTransferTellsItsOptions(t *testing.T) {
	_, addresses := serveText(t, strings.Replace(text, "      mail     MX    10 ns1\n", "      $GENERATE 0-4999 host$ A 198.18.0.1\n", 1), "127.0.0.1")
	for _, rrtype := range []uint16{mdns.TypeAXFR, mdns.TypeIXFR} {
		for _, edns := range []bool{true, false} {
			m := new(mdns.Msg)
			m.SetIxfr("ok.test.", 6, "ns1.ok.test.", "hostmaster.ok.test.")
			m.Question[0].Qtype = rrtype
			if edns {
				m.SetEdns0(1232, true)
				m.IsEdns0().Option = []mdns.EDNS0{&mdns.EDNS0_NSID{Code: mdns.EDNS0NSID}, &mdns.EDNS0_EXPIRE{Code: mdns.EDNS0EXPIRE, Empty: true}, &mdns.EDNS0_COOKIE{Code: mdns.EDNS0COOKIE, Cookie: "2464c4abcf10c957"}}
			}
			signedBy("xfr.", mdns.HmacSHA256)(m)
			conn, err := mdns.DialTimeout("tcp", addresses[0].String(), 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.TsigSecret = secrets
			if err := conn.WriteMsg(m); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				got, err := conn.ReadMsg()
				if got == nil || err != nil && i == 0 { // the library knows no MAC that spans messages
					t.Fatalf("message %d: %v", i, err)
				}
				o := got.IsEdns0()
				if (o != nil) != (edns && i == 0) {
					t.Fatalf("message %d of %s, EDNS %t: %v", i, mdns.Type(rrtype), edns, o)
				}
				if o == nil {
					continue
				}
				line := showRecord(o)
				if want := "OPT size=1232 version=0 do nsid=6e7331 cookie=2464c4abcf10c957"; !strings.HasPrefix(line, want) || expireOf(o) != 604800 {
					t.Errorf("%s, expires in %d", line, expireOf(o))
				}
			}
		}
	}
}

func expireOf(o *mdns.OPT) uint32 {
	for _, option := range o.Option {
		if e, ok := option.(*mdns.EDNS0_EXPIRE); ok && !e.Empty {
			return e.Expire
		}
	}
	return 0
}

// What a transfer is asked for and who gets it is counted, once.
func TestTransfersAreCounted(t *testing.T) {
	s := snapshotOf(t, strings.Replace(text, ", keys: [xfr]", "", 1))
	r := dns.NewResponder("ns1", "test")
	ask := func(serial uint32, over dns.Transport, most int) {
		m := new(mdns.Msg)
		m.SetIxfr("ok.test.", serial, "ns1.ok.test.", "hostmaster.ok.test.")
		packet, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		messages := 0
		for range r.Transfer(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Over: over, Now: noon}) {
			if messages++; messages >= most {
				break
			}
		}
	}
	ask(6, dns.TCP, 100)
	ask(7, dns.TCP, 100)
	ask(6, dns.TLS, 100)
	ask(6, dns.TLS, 1)
	got, want := maps.Collect(r.Counts.Transfers()), map[dns.TransferOf]uint64{
		{Zone: "ok.test.", Over: dns.TCP, Outcome: dns.TransferSent}:    1,
		{Zone: "ok.test.", Over: dns.TCP, Outcome: dns.TransferCurrent}: 1,
		{Zone: "ok.test.", Over: dns.TLS, Outcome: dns.TransferSent}:    1,
		{Zone: "ok.test.", Over: dns.TLS, Outcome: dns.TransferFailed}:  1,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	queries, rcodes := maps.Collect(r.Counts.Queries()), maps.Collect(r.Counts.Rcodes())
	if queries[dns.TCP] != 2 || queries[dns.TLS] != 2 || rcodes["NOERROR"] != 4 {
		t.Errorf("%v questions, %v answers", queries, rcodes)
	}
}

// What a transfer asks for itself is nobody's question: no log of questions has it, and no counter.
func TestTransferAsksInSilence(t *testing.T) {
	s := snapshotOf(t, strings.Replace(text, ", keys: [xfr]", "", 1))
	r := dns.NewResponder("ns1", "test")
	tracer := dns.NewTracer(1, 100)
	r.Trace(tracer)
	ask := new(mdns.Msg)
	ask.SetAxfr("ok.test.")
	packet, err := ask.Pack()
	if err != nil {
		t.Fatal(err)
	}
	octets := 0
	for message := range r.Transfer(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Over: dns.TCP, Now: noon}) {
		octets += len(message)
	}
	if taken, lost := tracer.Counts(); octets == 0 || taken+lost > 0 {
		t.Errorf("%d octets came, and %d questions were told", octets, taken+lost)
	}
	for over, n := range r.Counts.Queries() {
		if n > 1 { // which is that for the transfer
			t.Errorf("%d questions over %v", n, over)
		}
	}
}

func TestTransferThatCannotGoOnEndsTheConnection(t *testing.T) {
	// As long as an answer can be, so that a signature has no room.
	huge := "      huge TXT" + strings.Repeat(` "`+strings.Repeat("x", 255)+`"`, 255) + ` "` + strings.Repeat("x", 200) + "\"\n"
	_, addresses := serveText(t, strings.Replace(text, "    records: |\n", "    records: |\n"+huge, 1), "127.0.0.1")
	conn, err := net.Dial("tcp", addresses[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	m := new(mdns.Msg)
	m.SetAxfr("ok.test.")
	signedBy("xfr.", mdns.HmacSHA256)(m)
	packet, _, err := mdns.TsigGenerate(m, secrets["xfr."], "", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(framed(packet)); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil { // a client that waits for more would wait until the connection is idle
		t.Error(err)
	}
}

func TestIncrementalTransfer(t *testing.T) {
	_, addresses := serve(t, "127.0.0.1")
	for serial, least := range map[uint32]int{6: 20, 7: 1, 8: 1} {
		records, err := transferred(addresses[0].String(), func(m *mdns.Msg) {
			m.SetIxfr("ok.test.", serial, "ns1.ok.test.", "hostmaster.ok.test.")
			signedBy("xfr.", mdns.HmacSHA256)(m)
		})
		if err != nil || len(records) < least || least == 1 && len(records) > 1 {
			t.Errorf("from serial %d: %d records, %v", serial, len(records), err)
		}
	}
}

// An asker that does not say which version it has asks for nothing that there is (RFC 1995 section 3).
func TestIncrementalTransferFromNowhere(t *testing.T) {
	s := snapshotOf(t, strings.Replace(text, ", keys: [xfr]", "", 1))
	for name, change := range map[string]func(*mdns.Msg){
		"no SOA record":   func(m *mdns.Msg) { m.Ns = nil },
		"that of another": func(m *mdns.Msg) { m.Ns[0].Header().Name = "sub.ok.test." },
		"another record": func(m *mdns.Msg) {
			m.Ns[0] = &mdns.NULL{Hdr: *m.Ns[0].Header(), Data: "x"}
			m.Ns[0].Header().Rrtype = mdns.TypeNULL
		},
		"in another section": func(m *mdns.Msg) { m.Answer, m.Ns = m.Ns, nil },
	} {
		m := new(mdns.Msg)
		m.SetIxfr("ok.test.", 6, "ns1.ok.test.", "hostmaster.ok.test.")
		m.RecursionDesired = false
		change(m)
		packet, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		for _, over := range []dns.Transport{dns.UDP, dns.TCP} {
			if dns.NewResponder("ns1", "test").Transfer(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Over: over, Now: noon}) != nil {
				t.Errorf("%s over %s: it was given", name, over)
			}
			if got := ask(t, s, "127.0.0.1", packet, over == dns.TCP); got != "FORMERR\n" {
				t.Errorf("%s over %s: %s", name, over, got)
			}
			if got := ask(t, s, "192.0.2.1", packet, over == dns.TCP); got != "REFUSED\n" {
				t.Errorf("%s over %s, by who may not have it: %s", name, over, got)
			}
		}
	}
}

// In a datagram the SOA record tells whether it is worth to come over TCP (RFC 1995 section 2).
func TestIncrementalTransferInADatagram(t *testing.T) {
	s := snapshot(t)
	for _, tc := range []struct{ name, key, want string }{
		{"with the key", "xfr.", "NOERROR aa\nanswer: ok.test. 3600 IN SOA ns1.ok.test. hostmaster.ok.test. 7 3600 600 604800 60\n"},
		{"with another key", "other.", "REFUSED\n"},
		{"without a key", "", "REFUSED\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := new(mdns.Msg)
			m.SetIxfr("ok.test.", 6, "ns1.ok.test.", "hostmaster.ok.test.")
			packet, err := m.Pack()
			if tc.key != "" {
				m.SetTsig(tc.key, map[string]string{"xfr.": mdns.HmacSHA256, "other.": mdns.HmacSHA512}[tc.key], 300, time.Now().Unix())
				packet, _, err = mdns.TsigGenerate(m, secrets[tc.key], "", false)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := ask(t, s, "127.0.0.1", packet, false)
			if got, _, _ = strings.Cut(got, "additional:"); got != tc.want {
				t.Errorf("got:\n%swant:\n%s", got, tc.want)
			}
		})
	}
}

func TestSignedQuestions(t *testing.T) {
	s := snapshot(t)
	for _, tc := range []struct {
		name, key, algorithm string
		age                  int64
		rcode, err           int
	}{
		{"by a key that we share", "xfr.", mdns.HmacSHA256, 0, mdns.RcodeSuccess, 0},
		{"in other letters", "XFR.", mdns.HmacSHA256, 0, mdns.RcodeSuccess, 0},
		{"by nobody we know", "nobody.", mdns.HmacSHA256, 0, mdns.RcodeNotAuth, mdns.RcodeBadKey},
		{"by another secret", "other.", mdns.HmacSHA256, 0, mdns.RcodeNotAuth, mdns.RcodeBadKey},
		{"long ago", "xfr.", mdns.HmacSHA256, 3600, mdns.RcodeNotAuth, mdns.RcodeBadTime},
		{"with a broken signature", "xfr.", mdns.HmacSHA256, -1, mdns.RcodeNotAuth, mdns.RcodeBadSig},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := new(mdns.Msg)
			m.SetQuestion("www.ok.test.", mdns.TypeA)
			m.SetTsig(tc.key, tc.algorithm, 300, time.Now().Unix()-max(tc.age, 0))
			packet, mac, err := mdns.TsigGenerate(m, secrets[strings.ToLower(tc.key)], "", false)
			if err != nil {
				t.Fatal(err)
			}
			if tc.age < 0 {
				packet[len(packet)-10] ^= 1 // in the MAC
			}
			reply := dns.NewResponder("ns1", "test").Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Now: time.Now()}, nil)
			got := new(mdns.Msg)
			if err := got.Unpack(reply); err != nil || got.IsTsig() == nil {
				t.Fatalf("%v in\n%s", err, got)
			}
			if age := time.Now().Unix() - int64(got.IsTsig().TimeSigned); age > 300 && tc.err != mdns.RcodeBadTime || got.IsTsig().OrigId != m.Id {
				t.Errorf("signed %d seconds ago, for %d: %s", age, m.Id, got.IsTsig())
			}
			if sig := got.IsTsig(); got.Rcode != tc.rcode || int(sig.Error) != tc.err || (len(got.Answer) > 0) != (tc.err == 0) {
				t.Errorf("got\n%s", got)
			}
			if tc.err == 0 || tc.err == mdns.RcodeBadTime {
				err := mdns.TsigVerify(reply, secrets["xfr."], mac, false)
				if err != nil && tc.err != mdns.RcodeBadTime {
					t.Errorf("the answer's signature: %v", err)
				}
			}
		})
	}
}

// Who signs a request believes no answer without a signature, also where it says no.
func TestErrorsAreSigned(t *testing.T) {
	s := snapshot(t)
	update := new(mdns.Msg)
	update.SetUpdate("ok.test.")
	update.Insert([]mdns.RR{&mdns.A{Hdr: mdns.RR_Header{Name: "new.ok.test.", Rrtype: mdns.TypeA, Class: mdns.ClassINET, Ttl: 60}, A: net.IP{192, 0, 2, 7}}})
	notify := new(mdns.Msg)
	notify.SetNotify("ok.test.")
	version := new(mdns.Msg)
	version.SetQuestion("www.ok.test.", mdns.TypeA).SetEdns0(1232, false)
	version.IsEdns0().SetVersion(1)
	cookie := new(mdns.Msg)
	cookie.SetQuestion("www.ok.test.", mdns.TypeA).SetEdns0(1232, false)
	cookie.IsEdns0().Option = []mdns.EDNS0{&mdns.EDNS0_COOKIE{Code: mdns.EDNS0COOKIE, Cookie: "abcd"}}
	twice := new(mdns.Msg)
	twice.SetQuestion("www.ok.test.", mdns.TypeA)
	twice.Question = append(twice.Question, twice.Question[0])
	for name, tc := range map[string]struct {
		m     *mdns.Msg
		rcode int
	}{
		"an update": {update, mdns.RcodeNotImplemented}, "a notification": {notify, mdns.RcodeNotImplemented}, "another EDNS version": {version, mdns.RcodeBadVers},
		"a malformed option": {cookie, mdns.RcodeFormatError}, "two questions": {twice, mdns.RcodeFormatError},
	} {
		for key, err := range map[string]int{"xfr.": 0, "nobody.": mdns.RcodeBadKey} {
			m := tc.m.Copy()
			signedBy(key, mdns.HmacSHA256)(m)
			packet, mac, failed := mdns.TsigGenerate(m, secrets[key], "", false)
			if failed != nil {
				t.Fatal(failed)
			}
			rcode := tc.rcode
			if err != 0 {
				rcode = mdns.RcodeNotAuth
			}
			reply := dns.NewResponder("ns1", "test").Respond(s, dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Now: time.Now()}, nil)
			got := new(mdns.Msg)
			if failed := got.Unpack(reply); failed != nil || got.Rcode != rcode || got.IsTsig() == nil || int(got.IsTsig().Error) != err {
				t.Errorf("%s by %s: %v, want %s in\n%s", name, key, failed, mdns.RcodeToString[rcode], got)
				continue
			}
			if failed := mdns.TsigVerify(reply, secrets[key], mac, false); failed != nil && err == 0 {
				t.Errorf("%s: the answer's signature: %v", name, failed)
			}
		}
	}
}

// What a stranger signs is not looked up, and counts as what it gets.
func TestStrangersSignaturesCountAsErrors(t *testing.T) {
	m := new(mdns.Msg)
	m.SetQuestion("nothing.ok.test.", mdns.TypeA)
	m.SetEdns0(1232, false)
	m.SetTsig("nobody.", mdns.HmacSHA256, 300, time.Now().Unix())
	packet, _, err := mdns.TsigGenerate(m, secrets["xfr."], "", false)
	if err != nil {
		t.Fatal(err)
	}
	r := dns.NewResponder("ns1", "test")
	reply := new(mdns.Msg)
	if err := reply.Unpack(r.Respond(snapshot(t), dns.Request{Packet: packet, Source: netip.MustParseAddr("127.0.0.1"), Now: time.Now()}, nil)); err != nil {
		t.Fatal(err)
	}
	if reply.Rcode != mdns.RcodeNotAuth || reply.Authoritative || len(reply.Ns) > 0 || reply.IsEdns0() == nil { // RFC 6891 section 6.1.1
		t.Errorf("got\n%s", reply)
	}
	for rcode, n := range r.Counts.Rcodes() {
		if rcode != "NOTAUTH" || n != 1 {
			t.Errorf("%d answers counted as %s", n, rcode)
		}
	}
}

// cut leaves so many octets of the MAC of a question for www.ok.test that is signed by xfr.
func cut(packet []byte, octets int) []byte {
	packet = slices.Clone(packet)
	end, mac := 12+len("\x03www\x02ok\x04test\x00")+4, len(packet)-6-32
	packet[mac-1] = byte(octets)
	packet[end+len("\x03xfr\x00")+9] -= byte(32 - octets)
	return append(packet[:mac+octets], packet[mac+32:]...)
}

// A MAC that was cut is told from one that is wrong, though neither is believed (RFC 8945 section 5.2.4).
func TestCutSignatures(t *testing.T) {
	m := new(mdns.Msg)
	m.SetQuestion("www.ok.test.", mdns.TypeA)
	signedBy("xfr.", mdns.HmacSHA256)(m)
	packet, _, err := mdns.TsigGenerate(m, secrets["xfr."], "", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		octets, err int
		wrong       bool
	}{{16, mdns.RcodeBadTrunc, false}, {31, mdns.RcodeBadTrunc, false}, {32, 0, false}, {16, mdns.RcodeBadSig, true}, {32, mdns.RcodeBadSig, true}} {
		request := cut(packet, tc.octets)
		if tc.wrong {
			request[len(request)-7] ^= 1 // the last of the MAC
		}
		mac := hex.EncodeToString(request[len(request)-6-tc.octets : len(request)-6])
		reply := dns.NewResponder("ns1", "test").Respond(snapshot(t), dns.Request{Packet: request, Source: netip.MustParseAddr("127.0.0.1"), Now: time.Now()}, nil)
		got := new(mdns.Msg)
		if err := got.Unpack(reply); err != nil || got.IsTsig() == nil || int(got.IsTsig().Error) != tc.err || (got.Rcode == mdns.RcodeNotAuth) != (tc.err != 0) || (len(got.Answer) > 0) != (tc.err == 0) {
			t.Errorf("%d octets, wrong %t: %v in\n%s", tc.octets, tc.wrong, err, got)
			continue
		}
		if octets := len(got.IsTsig().MAC) / 2; octets != 32 && !tc.wrong || octets != 0 && tc.wrong { // there is nothing to sign with
			t.Errorf("%d octets, wrong %t: the answer's signature has %d", tc.octets, tc.wrong, octets)
		}
		if err := mdns.TsigVerify(reply, secrets["xfr."], mac, false); err != nil && tc.err == 0 { // the library verifies no NOTAUTH
			t.Errorf("the answer's signature: %v", err)
		}
	}
}

func TestWhatOnlyLooksSigned(t *testing.T) {
	m := new(mdns.Msg)
	m.SetQuestion("www.ok.test.", mdns.TypeA)
	m.RecursionDesired = false
	signedBy("xfr.", mdns.HmacSHA256)(m)
	packet, _, err := mdns.TsigGenerate(m, secrets["xfr."], "", false)
	if err != nil {
		t.Fatal(err)
	}
	end := 12 + len("\x03www\x02ok\x04test\x00") + 4
	tsig := packet[end:]
	short := func(octets int) func([]byte) []byte { return func(b []byte) []byte { return cut(b, octets) } }
	for name, change := range map[string]func([]byte) []byte{
		"with half a MAC, less an octet": short(15), "with no MAC": short(0),
		"in the answer section":          func(b []byte) []byte { b[7], b[11] = 1, 0; return b },
		"twice":                          func(b []byte) []byte { b[11] = 2; return append(b, tsig...) },
		"with a MAC longer than it is":   func(b []byte) []byte { b[len(b)-6-32-2] = 9; return b },
		"with an algorithm that is none": func(b []byte) []byte { b[end+len("\x03xfr\x00")+10] = 0x41; return b },
	} {
		if got := ask(t, snapshot(t), "127.0.0.1", change(append([]byte(nil), packet...)), false); got != "FORMERR\n" {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
