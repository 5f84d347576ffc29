package sign

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gslb/dns/zone"
)

// Source is a zone that is to be signed.
type Source struct {
	Zone      *zone.Zone
	Folder    string    // of its keys
	Algorithm Algorithm // of the key that is made where there is none
	Rules     Rules

	Longest     time.Duration // the longest TTL of the zone's records
	Propagation time.Duration // until all servers have what changed in the folder, and all resolvers may see it
	ParentTTL   time.Duration // of the DS records in the parent zone
}

// Usable says why a zone cannot be signed at a moment by the keys that it has. Having none is no fault: whoever serves
// the zone makes one.
func (s Source) Usable(now time.Time) error {
	keys, err := ReadFolder(s.Folder, s.Zone.Origin())
	if err != nil || len(keys) == 0 {
		return err
	}
	if _, err = newRing(keys, s.Zone.Origin(), now); err != nil {
		return fmt.Errorf("%s: %w", s.Folder, err)
	}
	return nil
}

// Signed is the signed zones of one configuration. It is immutable. Nil has none.
type Signed struct{ zones map[*zone.Zone]*watched }

// watched is a zone whose keys are followed.
type watched struct {
	*Zone
	source Source

	// Owned by the goroutine of Signer.Run.
	files  string // what the folder held when it was read last
	keys   []*Key
	fault  string // that was told of last
	looked time.Time
	until  time.Time // when the keys come to do something else; zero: never

	outlook atomic.Pointer[Outlook]
}

// Zone gives the signatures of a zone; nil: it is not signed.
func (s *Signed) Zone(plain *zone.Zone) *Zone {
	if s == nil {
		return nil
	}
	if w := s.zones[plain]; w != nil {
		return w.Zone
	}
	return nil
}

// Signer keeps zones signed.
type Signer struct {
	Counts *Counts

	log    *slog.Logger
	latest atomic.Pointer[Signed]
	work   sync.Mutex // held while signatures are looked through
}

// errKeysGone is for a folder that has lost its keys, as where a disk is not mounted.
var errKeysGone = errors.New("no key is left of a zone that is signed: put its keys back, for the parent may point to them")

// NewSigner makes a signer that has no zones yet.
func NewSigner(log *slog.Logger) *Signer { return &Signer{Counts: new(Counts), log: log} }

// Latest gives the zones that are in use.
func (s *Signer) Latest() *Signed { return s.latest.Load() }

// Use puts the zones that were prepared into use.
func (s *Signer) Use(signed *Signed) { s.latest.Store(signed) }

// Prepare signs the zones of a configuration that is not in use yet, as far as they differ from those in use. Where a
// folder has no key, one is made, but not for a zone that is signed already: a parent may point to its keys.
func (s *Signer) Prepare(sources []Source, now time.Time) (*Signed, error) {
	before := s.latest.Load().byOrigin()
	next := &Signed{zones: make(map[*zone.Zone]*watched, len(sources))}
	var errs []error
	for _, source := range sources {
		w, err := s.prepare(source, before[source.Zone.Origin()], now)
		if err != nil {
			errs = append(errs, fmt.Errorf("zone %s: %w", source.Zone.Origin(), err))
			continue
		}
		next.zones[source.Zone] = w
	}
	return next, errors.Join(errs...)
}

// byOrigin gives the zones by their names.
func (s *Signed) byOrigin() map[zone.Name]*Zone {
	if s == nil {
		return nil
	}
	zones := make(map[zone.Name]*Zone, len(s.zones))
	for plain, w := range s.zones {
		zones[plain.Origin()] = w.Zone
	}
	return zones
}

func (s *Signer) prepare(source Source, prev *Zone, now time.Time) (*watched, error) {
	w := &watched{source: source, looked: now, files: listing(source.Folder, source.Zone.Origin())}
	keys, err := ReadFolder(source.Folder, source.Zone.Origin())
	if err != nil {
		return nil, err
	}
	switch {
	case len(keys) > 0:
	case prev != nil:
		return nil, fmt.Errorf("%s: %w", source.Folder, errKeysGone)
	default:
		k, err := s.firstKey(source, now)
		if err != nil {
			return nil, err
		}
		keys, w.files = []*Key{k}, listing(source.Folder, source.Zone.Origin())
	}
	w.keys = keys
	if w.Zone, err = newZone(source.Zone, source.Rules, keys, prev, s.Counts, now); err != nil {
		return nil, fmt.Errorf("keys in %s: %w", source.Folder, err)
	}
	r := w.apex.Load().ring
	if w.until = r.until; prev != nil && !r.same(prev.apex.Load().ring) {
		w.tellKeys(s, r)
	}
	tasks := w.tasks(now)
	if err := w.perform(tasks, now, allProcessors(), &s.Counts.Loaded, s.progress(source.Zone, len(tasks))); err != nil {
		return w, err
	}
	w.lookAhead(now)
	return w, nil
}

// firstKey makes the key of a zone that has none.
func (s *Signer) firstKey(source Source, now time.Time) (*Key, error) {
	times := Times{Created: now, Publish: now, Activate: now, SyncPublish: now}
	k, err := Make{Folder: source.Folder, Zone: source.Zone.Origin(), Algorithm: source.Algorithm, EntryPoint: true, Times: times}.Key()
	if err != nil {
		return nil, fmt.Errorf("no key could be made in %s: %w", source.Folder, err)
	}
	_, ds := k.DS(SHA256)
	s.log.Warn("key made: copy its folder to every other server of the zone, and only then publish its DS in the parent zone",
		"zone", source.Zone.Origin(), "folder", source.Folder, "key", k.tag, "algorithm", k.Algorithm().String(), "ds", ds)
	return k, nil
}

// progressTime is how often it is told how far a large zone is.
const progressTime = 2 * time.Second

// progress tells how far a zone is.
func (s *Signer) progress(z *zone.Zone, all int) func(done int) {
	var mu sync.Mutex
	last := time.Now()
	return func(done int) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) >= progressTime && done < all {
			last = now
			s.log.Info("zone being signed", "zone", z.Origin(), "signatures", done, "of", all)
		}
	}
}

// lookTime is how often the signer looks for what is to be done.
const lookTime = 2 * time.Second

// Run keeps the zones signed until ctx ends. It goes by the wall clock, which may jump: what counts is what is good at
// the moment at which it looks.
func (s *Signer) Run(ctx context.Context) error {
	t := time.NewTicker(lookTime)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			s.Look(time.Now())
		}
	}
}

// Look does what is to be done at a moment: it reads the keys again where their files changed, takes the ring of
// the moment, and makes new signatures in the place of old ones.
func (s *Signer) Look(now time.Time) {
	s.work.Lock()
	defer s.work.Unlock()
	signed := s.latest.Load()
	if signed == nil {
		return
	}
	for _, w := range signed.zones {
		w.look(s, now)
	}
}

// renewTime is how often the signatures of a zone are looked through, unless something happens: in that time none
// gets from due to expired.
func (w *watched) renewTime() time.Duration { return min(time.Minute, w.rules.Validity/(4*renewal)) }

func (w *watched) look(s *Signer, now time.Time) {
	turned := w.readAgain(s, now)
	if turned || reached(w.until, now) {
		turned = w.turn(s, now)
	}
	passed := now.Sub(w.looked)
	if o := w.outlook.Load(); o == nil || o.Followed != (w.fault == "") {
		w.lookAhead(now)
	}
	if !turned && passed >= 0 && passed < w.renewTime() {
		return
	}
	w.looked = now
	defer w.lookAhead(now)
	w.tellOld(s, now, passed)
	tasks := w.tasks(now)
	if err := w.perform(tasks, now, max(1, allProcessors()/2), &s.Counts.Renewed, s.progress(w.plain, len(tasks))); err != nil {
		s.log.Error("zone not signed", "zone", w.plain.Origin(), "cause", err)
		return
	}
	if len(tasks) > 0 {
		s.log.Debug("signatures made anew", "zone", w.plain.Origin(), "signatures", len(tasks))
	}
}

// tellOld says that the server stood still, or the clock jumped, for so long that signatures ended meanwhile, or have
// not begun yet.
func (w *watched) tellOld(s *Signer, now time.Time, passed time.Duration) {
	if set := w.apex.Load().sets[0]; set.slot.Load() != nil && !set.slot.Load().Good(uint32(now.Unix())) {
		s.log.Error("signatures were not good any more, and are made anew: the server stood still, or its clock was set",
			"zone", w.plain.Origin(), "for", passed.Round(time.Second), "now", now)
	}
}

// readAgain reads the keys again when their files changed, and tells whether it did.
func (w *watched) readAgain(s *Signer, now time.Time) bool {
	files := listing(w.source.Folder, w.plain.Origin())
	if files == w.files {
		return false
	}
	keys, err := ReadFolder(w.source.Folder, w.plain.Origin())
	if err == nil && len(keys) == 0 {
		err = errKeysGone
	}
	if err == nil {
		_, err = newRing(keys, w.plain.Origin(), now)
	}
	if err != nil {
		w.tellFault(s, err)
		return false
	}
	w.files, w.keys, w.fault = files, keys, ""
	return true
}

// tellFault says once why keys are not used.
func (w *watched) tellFault(s *Signer, err error) {
	if w.fault != err.Error() {
		s.log.Error("keys not usable, those from before stay in use", "zone", w.plain.Origin(), "folder", w.source.Folder, "cause", err)
	}
	w.fault = err.Error()
}

// turn takes the ring of the moment, and tells whether it is another than before.
func (w *watched) turn(s *Signer, now time.Time) bool {
	r, err := newRing(w.keys, w.plain.Origin(), now)
	if err != nil {
		w.tellFault(s, err)
		return false
	}
	w.until = r.until
	before := w.apex.Load()
	if r.same(before.ring) {
		return false
	}
	next := w.apexOf(r)
	for _, rec := range append([]*Record{next.link}, next.sets...) {
		if rec == nil {
			continue
		}
		made, err := r.sign(r.keysFor(rec.set.Type), subject{rec.owner, rec.set.Type, rec.set.TTL, w.plain.AppendCanonical(nil, rec.owner, rec.set)}, w.life, now)
		if err != nil {
			w.tellFault(s, err)
			return false
		}
		rec.slot.Store(made)
	}
	w.apex.Store(next)
	if c, ok := w.denial.(*compact); ok {
		c.forget()
	}
	if t := w.leaves[0].steered; t != nil {
		t.forgetDenials()
	}
	w.tellKeys(s, r)
	return true
}

// tellKeys says that other keys do what there is to do.
func (w *watched) tellKeys(s *Signer, r *ring) {
	s.log.Info("keys changed", "zone", w.plain.Origin(), "published", tags(r.shown), "signing", tags(r.data), "signing keys", tags(r.shows))
}

// tags names keys.
func tags(keys []*Key) string {
	var words []string
	for _, k := range keys {
		words = append(words, fmt.Sprint(k.tag))
	}
	return strings.Join(words, " ")
}

// listing tells key files apart from what they were before: by their names, sizes and times.
func listing(folder string, origin zone.Name) string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, e := range entries {
		if !ofZone(e.Name(), origin) {
			continue
		}
		if about, err := os.Stat(filepath.Join(folder, e.Name())); err == nil {
			fmt.Fprintln(&b, e.Name(), about.Size(), about.ModTime().UnixNano())
		}
	}
	return b.String()
}
