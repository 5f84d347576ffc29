package bgp

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gslb/test/rig"
)

// frr is a bgpd of FRR, alone: no other daemon of it runs.
type frr struct {
	t       *testing.T
	folder  string
	at      netip.AddrPort
	cmd     *exec.Cmd
	log     *rig.Output
	program string
}

func newFRR(t *testing.T, at netip.AddrPort) *frr {
	t.Helper()
	f := &frr{t: t, folder: t.TempDir(), at: at, log: &rig.Output{}, program: rig.Installed(t, "bgpd", "frr")}
	t.Cleanup(func() {
		f.kill()
		if t.Failed() {
			t.Logf("log of FRR %s:\n%s", at.Addr(), f.log)
		}
	})
	return f
}

// configure writes what AS 64501 announces to the server: lines of the router, and of its IPv4 and IPv6.
func (f *frr) configure(ours netip.AddrPort, router, ipv4, ipv6 string) {
	f.t.Helper()
	text := fmt.Sprintf(`log stdout
router bgp 64501
 bgp router-id %[1]s
 no bgp ebgp-requires-policy
 no bgp network import-check
 bgp disable-ebgp-connected-route-check
 no bgp default ipv4-unicast
 neighbor %[2]s remote-as 64512
 neighbor %[2]s port %[3]d
 neighbor %[2]s ebgp-multihop
 neighbor %[2]s update-source %[1]s
 neighbor %[2]s timers connect 1
 neighbor %[2]s advertisement-interval 0
%[4]s
 address-family ipv4 unicast
  neighbor %[2]s activate
%[5]s
 exit-address-family
 address-family ipv6 unicast
  neighbor %[2]s activate
  neighbor %[2]s route-map six out
%[6]s
 exit-address-family
route-map six permit 10
 set ipv6 next-hop global 2001:db8::9
`, f.at.Addr(), ours.Addr(), ours.Port(), router, ipv4, ipv6)
	f.write(text)
}

// write gives FRR its whole configuration.
func (f *frr) write(text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.folder, "frr.conf"), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *frr) begin() {
	f.t.Helper()
	f.cmd = exec.Command(f.program, "-f", filepath.Join(f.folder, "frr.conf"), "-n", "-S", "-Z", "-l", f.at.Addr().String(), "-p", fmt.Sprint(f.at.Port()),
		"-P", "0", "-i", filepath.Join(f.folder, "pid"), "--vty_socket", ".", "--log", "stdout") // from here: the path of a socket may not be long
	f.cmd.Dir, f.cmd.Stdout, f.cmd.Stderr = f.folder, f.log, f.log
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := f.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	rig.Until(f.t, rig.Soon, "a door", func() string {
		if _, err := os.Stat(filepath.Join(f.folder, "bgpd.vty")); err != nil {
			return err.Error()
		}
		return "a door"
	})
}

func (f *frr) kill() {
	if f.cmd == nil {
		return
	}
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
	_ = os.Remove(filepath.Join(f.folder, "bgpd.vty")) // it may be gone
	f.cmd = nil
}

// vtysh has FRR do something, and gives what it says.
func (f *frr) vtysh(commands ...string) string {
	f.t.Helper()
	arguments := []string{"--vty_socket", "."}
	for _, c := range commands {
		arguments = append(arguments, "-c", c)
	}
	cmd := exec.Command("vtysh", arguments...)
	cmd.Dir = f.folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("vtysh %v: %v: %s", commands, err, out)
	}
	return string(out)
}

// besideFRR is a server and an FRR at its host 9, neither running yet.
func besideFRR(t *testing.T) (*server, *frr) {
	t.Helper()
	rig.Installed(t, "bgpd", "frr")
	s := newServer(t)
	return s, newFRR(t, vacant(t, s.net.host(9)))
}

func frrPartner(f *frr, peer, partner string) string {
	return partnerText("sibtel", "nsk", fmt.Sprintf("address: %s, port: %d, asn: 64501%s", f.at.Addr(), f.at.Port(), peer), partner)
}

func TestFRRAnnouncesAndWithdraws(t *testing.T) {
	t.Parallel()
	s, f := besideFRR(t)
	f.configure(s.bgp, "", "  network 203.0.113.0/24\n  network 203.0.114.0/24", "  network 2001:db8:100::/40")
	f.begin()
	s.configure(frrPartner(f, ", local: OURS", ""))
	s.begin()
	s.sends("203.0.113.1", "nsk")
	s.sends("2001:db8:100::1", "nsk")
	s.keeps("203.0.115.1", "msk")
	s.says("203.0.113.1", "partner=sibtel prefix=203.0.113.0/24 origin=64501 peer="+f.at.Addr().String()+" age=")
	f.vtysh("configure", "router bgp 64501", "address-family ipv4 unicast", "no network 203.0.113.0/24")
	s.sends("203.0.113.1", "msk")
	s.keeps("203.0.114.1", "nsk")
	f.vtysh("configure", "router bgp 64501", "neighbor "+s.bgp.Addr().String()+" shutdown message works on the line")
	s.sends("203.0.114.1", "msk")
	s.logs(0, "works on the line")
}

func TestFRRWhoseSessionIsResetByItsOperatorComesBack(t *testing.T) {
	t.Parallel()
	s, f := besideFRR(t)
	f.configure(s.bgp, "", "  network 203.0.113.0/24", "")
	f.begin()
	s.configure(frrPartner(f, ", local: OURS", ""))
	s.begin()
	s.sends("203.0.113.1", "nsk")
	stop := s.watch("203.0.113.1", "nsk")
	mark := s.log.Mark()
	f.vtysh("clear bgp *")
	s.logs(mark, "administrative reset (6/4)")
	s.logs(mark, "session up")
	if asked, other := stop(); len(other) > 0 {
		t.Errorf("%d of %d answers were others: %v", len(other), asked, other)
	}
}

func TestFRRThatRestartsGracefullyConfirmsAndLosesTheRest(t *testing.T) {
	t.Parallel()
	s, f := besideFRR(t)
	graceful := " bgp graceful-restart\n bgp graceful-restart restart-time 30\n bgp graceful-restart select-defer-time 2\n bgp graceful-restart preserve-fw-state"
	f.configure(s.bgp, graceful, "  network 203.0.113.0/24\n  network 203.0.114.0/24", "")
	f.begin()
	s.configure(frrPartner(f, ", local: OURS", "    stale: 60s"))
	s.begin()
	s.sends("203.0.113.1", "nsk")
	s.sends("203.0.114.1", "nsk")
	stop := s.watch("203.0.114.1", "nsk")
	f.kill()
	s.says("203.0.113.1", "placed=partners", " stale=")
	s.says("203.0.114.1", "placed=partners", " stale=")
	f.configure(s.bgp, graceful, "  network 203.0.114.0/24", "")
	f.begin()
	s.sends("203.0.113.1", "msk")
	if line := s.reason("203.0.114.1"); strings.Contains(line, "stale") {
		t.Errorf("it is stale after it was confirmed: %s", line)
	}
	if asked, other := stop(); len(other) > 0 {
		t.Errorf("%d of %d answers were others: %v", len(other), asked, other)
	}
}

func TestFRRSendsSeveralPathsOfAPrefix(t *testing.T) {
	t.Parallel()
	rig.Installed(t, "bird", "bird2")
	s, f := besideFRR(t)
	members := []*routeServer{newRouteServer(t, vacant(t, s.net.host(20))), newRouteServer(t, vacant(t, s.net.host(21)))}
	var router, ipv4 strings.Builder
	ours := s.bgp.Addr()
	for i, m := range members {
		asn := 64601 + i
		fmt.Fprintf(&router, " neighbor %[1]s remote-as %[2]d\n neighbor %[1]s port %[3]d\n neighbor %[1]s ebgp-multihop\n neighbor %[1]s timers connect 1\n neighbor %[1]s update-source %[4]s\n",
			m.at.Addr(), asn, m.at.Port(), f.at.Addr())
		fmt.Fprintf(&ipv4, "  neighbor %[1]s activate\n  neighbor %[1]s route-server-client\n", m.at.Addr())
		m.configure(routes("four", "203.0.113.0/24"), fmt.Sprintf(`protocol bgp exchange {
	local %s port %d as %d;
	strict bind yes;
	neighbor %s port %d as 64501;
	multihop;
	connect delay time 1;
	ipv4 { import none; export all; next hop address 192.0.2.%d; };
}
`, m.at.Addr(), m.at.Port(), asn, f.at.Addr(), f.at.Port(), 20+i))
		m.begin()
	}
	fmt.Fprintf(&ipv4, "  neighbor %[1]s route-server-client\n  neighbor %[1]s addpath-tx-all-paths\n  neighbor %[1]s attribute-unchanged next-hop\n", ours)
	f.configure(s.bgp, router.String(), ipv4.String(), "")
	f.begin()
	s.configure(frrPartner(f, ", local: OURS, add_path: true", ""))
	s.begin()
	for _, m := range members {
		m.established("exchange")
	}
	s.sends("203.0.113.1", "nsk")
	rig.Until(t, rig.Soon, "two paths", func() string {
		if out := f.vtysh("show bgp ipv4 neighbors " + ours.String() + " advertised-routes"); strings.Count(out, "203.0.113.0/24") < 2 {
			return out
		}
		return "two paths"
	})
	rig.Until(t, rig.Soon, "2 paths here", func() string {
		return fmt.Sprintf("%d paths here", strings.Count(s.gslb("routes", "203.0.113.0/24"), f.at.Addr().String()+"#"))
	})
	stop := s.watch("203.0.113.1", "nsk")
	for i, m := range members {
		m.command("disable", "four")
		if i == 0 {
			s.says("203.0.113.1", "placed=partners", "origin=64602 ")
			if asked, other := stop(); len(other) > 0 {
				t.Errorf("%d of %d answers were others: %v", len(other), asked, other)
			}
		}
	}
	s.sends("203.0.113.1", "msk")
}
