package sign

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb/dns/zone"
)

// scene is a signed zone in the hands of a signer.
type scene struct {
	t      testing.TB
	signer *Signer
	source Source
	log    bytes.Buffer
	now    time.Time
}

const sceneText = "ns1 A 192.0.2.53\na TXT \"a\"\nb.c MX 10 ns1\n*.w TXT \"w\"\nd NS ns.d\nns.d A 192.0.2.1\n"

func newScene(t testing.TB, rules Rules) *scene {
	t.Helper()
	s := &scene{t: t, now: noon}
	s.signer = NewSigner(slog.New(slog.NewTextHandler(&s.log, nil)))
	if rules.Validity == 0 {
		rules.Validity = 14 * 24 * time.Hour
	}
	rules.KeyTTL, rules.Given = 3600, func(int) Given { return Given{Types: []uint16{dns.TypeA, dns.TypeAAAA}, TTL: 60} }
	s.source = Source{Zone: s.zone(sceneText), Folder: t.TempDir(), Algorithm: Ed25519, Rules: rules}
	s.use()
	return s
}

func (s *scene) zone(text string) *zone.Zone {
	s.t.Helper()
	z, problems := zone.Build(zone.Spec{
		Origin: "ok.test", TTL: 3600, NS: []string{"ns1"}, Texts: []zone.Text{{Text: text}},
		Services: []zone.ServiceName{{Name: "www", Gives: []uint16{dns.TypeA, dns.TypeAAAA}}},
	})
	if z == nil {
		s.t.Fatal(problems)
	}
	return z
}

func (s *scene) use() {
	s.t.Helper()
	signed, err := s.signer.Prepare([]Source{s.source}, s.now)
	if err != nil {
		s.t.Fatal(err)
	}
	s.signer.Use(signed)
}

func (s *scene) signed() *Zone { return s.signer.Latest().Zone(s.source.Zone) }

// all gives every signature of the zone by what it is of.
func (s *scene) all() map[string]*Signature {
	all := map[string]*Signature{}
	z := s.signed()
	for n, node := range z.plain.All() {
		for i, set := range node.Types() {
			if i < len(z.leaves[node.Index()].sets) {
				if sig := z.leaves[node.Index()].sets[i].Load(); sig != nil {
					all[fmt.Sprint(n, dns.Type(set))] = sig
				}
			}
		}
		for _, r := range z.AllOwn(node, 0) {
			all[fmt.Sprint(r.owner, dns.Type(r.set.Type))] = r.slot.Load()
		}
	}
	return all
}

// later lets time pass, while the signer looks as often as it does.
func (s *scene) later(d, step time.Duration) {
	for end := s.now.Add(d); s.now.Before(end); {
		s.now = s.now.Add(step)
		s.signer.Look(s.now)
	}
}

func TestSignaturesAreMadeAnewLongBeforeTheyEnd(t *testing.T) {
	for _, denial := range []Denial{NSEC, NSEC3} {
		s := newScene(t, Rules{Denial: denial})
		made := s.signer.Counts.Loaded.Load()
		if made < 10 {
			t.Fatalf("%d signatures", made)
		}
		life, ends := s.signed().life.validity, map[uint32]bool{}
		for range 60 {
			s.later(12*time.Hour, time.Hour)
			for what, sig := range s.all() {
				ends[sig.expires] = true
				if left := time.Duration(sig.expires-uint32(s.now.Unix())) * time.Second; left < life/renewal-time.Hour || left > life {
					t.Fatalf("%v: %s is good for %v more", s.now.Sub(noon), what, left)
				}
				if !sig.Good(uint32(s.now.Add(-time.Hour).Unix())) && sig.inception > uint32(noon.Unix()) {
					t.Errorf("%s is not good for a clock that is an hour late", what)
				}
			}
		}
		if renewed := s.signer.Counts.Renewed.Load(); renewed < 2*made || renewed > 5*made {
			t.Errorf("%d signatures were made anew of %d in a month", renewed, made)
		}
		if len(ends) < int(made) {
			t.Errorf("signatures end at %d moments: too many at once", len(ends))
		}
		if s.signer.Counts.Asked.Load() > 0 {
			t.Error("somebody had to wait for a signature")
		}
	}
}

// A process that was stopped for longer than its signatures are good, and a clock that was set: nobody gets what is
// not good, it is said, and made anew at once.
func TestNobodyGetsSignaturesThatAreNotGood(t *testing.T) {
	for what, jump := range map[string]time.Duration{"forward": 40 * 24 * time.Hour, "back": -40 * 24 * time.Hour} {
		s := newScene(t, Rules{})
		s.now = s.now.Add(jump)
		now := uint32(s.now.Unix())
		node := s.source.Zone.Find(name(t, "a.ok.test")).Node
		if s.signed().leaves[node.Index()].sets[0].Load().Good(now) {
			t.Fatal("they are good still")
		}
		if sig := s.signed().Signature(node.Name(), node, dns.TypeTXT, now); !sig.Good(now) {
			t.Errorf("%s: somebody gets a signature that is not good", what)
		}
		s.signer.Look(s.now)
		for what, sig := range s.all() {
			if !sig.Good(now) {
				t.Errorf("%s is not good", what)
			}
		}
		if !strings.Contains(s.log.String(), "level=ERROR msg=\"signatures were not good any more") {
			t.Errorf("%s: it is not said:\n%s", what, s.log.String())
		}
	}
}

func TestWhatDoesNotChangeIsNotSignedAgain(t *testing.T) {
	s := newScene(t, Rules{})
	before := s.signer.Counts.Loaded.Load()
	s.source.Zone = s.zone(sceneText)
	s.use()
	if made := s.signer.Counts.Loaded.Load() - before; made > 0 {
		t.Errorf("the same zone: %d signatures", made)
	}
	before = s.signer.Counts.Loaded.Load()
	s.source.Zone = s.zone(sceneText + "bb TXT new\n")
	s.use()
	if made := s.signer.Counts.Loaded.Load() - before; made != 4 { // its RRset and link, the link before, the SOA record
		t.Errorf("another name: %d signatures", made)
	}
}

// A key that comes by its time, or into the folder, is taken over, and everything is signed by it.
func TestFollowsTheKeys(t *testing.T) {
	s := newScene(t, Rules{})
	old := s.signed().apex.Load().ring.data[0]
	next := newKey(t, s.source.Folder, Ed25519, true, Times{Publish: s.now, Activate: s.now.Add(2 * time.Hour), SyncPublish: s.now.Add(2 * time.Hour)})
	s.later(time.Minute, 2*time.Second)
	r := s.signed().apex.Load().ring
	if len(r.shown) != 2 || len(r.shows) != 2 || !sameKey(r.data[0], old) || len(r.synced) != 1 {
		t.Fatalf("%d keys are shown, %d sign them, %d in CDS", len(r.shown), len(r.shows), len(r.synced))
	}
	s.later(2*time.Hour, time.Minute)
	for what, sig := range s.all() {
		rr := s.source.Zone.RecordsAt(next.zone, sig.Records())
		if tag := rr[0].(*dns.RRSIG).KeyTag; tag != next.tag && len(rr) == 1 {
			t.Errorf("%s is signed by %d, want %d", what, tag, next.tag)
		}
	}
	if cds := s.signed().Own(s.source.Zone.Find(next.zone).Node, dns.TypeCDS); cds.Set().Len() != 4 {
		t.Errorf("%d CDS records", cds.Set().Len())
	}
	if !strings.Contains(s.log.String(), "keys changed") {
		t.Error(s.log.String())
	}
}

// Keys that cannot be used change nothing, and are told of once.
func TestBadKeysChangeNothing(t *testing.T) {
	s := newScene(t, Rules{})
	before := s.signed().apex.Load().ring
	bad := newKey(t, s.source.Folder, Ed25519, true, Times{Publish: s.now, Activate: s.now})
	if err := replace(bad.path+privateEnding, "nothing\n", 0o600); err != nil {
		t.Fatal(err)
	}
	s.later(time.Minute, 2*time.Second)
	if s.signed().apex.Load().ring != before {
		t.Error("the keys changed")
	}
	if n := strings.Count(s.log.String(), "keys not usable"); n != 1 {
		t.Errorf("told %d times:\n%s", n, s.log.String())
	}
}

// Keys that are gone, as where a disk is not mounted, are not replaced by others: the parent points to those that were.
func TestKeysThatAreGoneAreNotReplaced(t *testing.T) {
	s := newScene(t, Rules{})
	before, folder := s.signed().apex.Load().ring, s.source.Folder
	if err := os.Rename(folder, folder+".gone"); err != nil {
		t.Fatal(err)
	}
	s.later(time.Minute, 2*time.Second)
	if s.signed().apex.Load().ring != before {
		t.Error("the keys changed")
	}
	if _, err := s.signer.Prepare([]Source{s.source}, s.now); !errors.Is(err, errKeysGone) {
		t.Errorf("prepared for another configuration: %v", err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("a folder was made")
	}
	s.source.Folder += ".elsewhere"
	if _, err := s.signer.Prepare([]Source{s.source}, s.now); !errors.Is(err, errKeysGone) {
		t.Errorf("prepared with a folder that has no keys: %v", err)
	}
}
