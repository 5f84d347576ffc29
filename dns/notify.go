package dns

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/miekg/dns"

	"gslb/config"
	"gslb/dns/steer"
	"gslb/dns/zone"
)

const (
	// notifyTries is how often a secondary is told of one change, until it answers.
	notifyTries = 5
	// notifyWait is how long it is listened for an answer.
	notifyWait = 2 * time.Second
	// notifyPause is how long it is waited before the second try; each pause is twice as long as the one before, so
	// that the last try comes after a minute.
	notifyPause = 4 * time.Second
	// notifyAtOnce bounds the tries at one time: secondaries that are silent hold others up, but only so far.
	notifyAtOnce = 64
)

// Notifier tells secondaries that a zone has changed (RFC 1996), so that they need not wait for its refresh time: each secondary
// of a zone when the server begins to answer, and whenever the zone has another serial. What a secondary does with that is its
// own affair; one that hears nothing of it looks by itself when the refresh time is over.
type Notifier struct {
	latest   func() *steer.Snapshot
	served   func() []netip.AddrPort
	counts   *Counts
	log      *slog.Logger
	changed  chan struct{} // one slot
	places   chan struct{} // one for each try
	exchange func(ctx context.Context, m *dns.Msg, way Way, key config.TSIGKey) (*dns.Msg, error)
}

// Way is from where to where a message goes.
type Way struct {
	From netip.Addr // zero: as the kernel chooses
	To   netip.AddrPort
}

// NewNotifier makes a notifier for the zones of a responder's snapshots, and for the addresses that are served: a secondary
// believes whom it has the zone from. It tells nobody anything before the first call of [Notifier.Changed].
func NewNotifier(r *Responder, latest func() *steer.Snapshot, served func() []netip.AddrPort, log *slog.Logger) *Notifier {
	return &Notifier{
		latest: latest, served: served, counts: r.Counts, log: log, exchange: exchange,
		changed: make(chan struct{}, 1), places: make(chan struct{}, notifyAtOnce),
	}
}

// Changed says that there may be other zones in force.
func (n *Notifier) Changed() {
	select {
	case n.changed <- struct{}{}:
	default: // it has yet to look at what is in force by now
	}
}

// notice is one secondary of one zone.
type notice struct {
	zone zone.Name
	to   netip.AddrPort
}

// noticed is the last that a secondary was told, or is being told.
type noticed struct {
	serial uint32
	stop   context.CancelFunc
}

// Run tells secondaries until ctx ends.
func (n *Notifier) Run(ctx context.Context) error {
	var telling sync.WaitGroup
	defer telling.Wait()
	var all map[notice]noticed
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.changed:
		}
		last := all
		all = map[notice]noticed{}
		for of, do := range n.due() {
			if was, told := last[of]; told && was.serial == do.serial {
				all[of] = was
				delete(last, of)
				continue
			}
			inner, stop := context.WithCancel(ctx)
			all[of] = noticed{do.serial, stop}
			telling.Go(func() {
				defer stop()
				n.tell(inner, of, do)
			})
		}
		for _, was := range last { // of another serial, or of whom nobody tells any more
			was.stop()
		}
	}
}

// news is what a secondary is told.
type news struct {
	serial uint32
	key    config.TSIGKey // zero: it is not signed
	source netip.Addr     // as configured
	*dns.Msg
}

// due is what each secondary is to know of the zones in force.
func (n *Notifier) due() iter.Seq2[notice, news] {
	return func(yield func(notice, news) bool) {
		policy := n.latest().Policy()
		for _, z := range policy.Zones() {
			rule := policy.Transfer(z)
			if rule == nil {
				continue
			}
			for _, secondary := range rule.Notify {
				key, _ := policy.Key(secondary.Key)
				if !yield(notice{z.Origin(), secondary.Address}, news{z.Serial(), key, secondary.Source, notification(z)}) {
					return
				}
			}
		}
	}
}

// notification is what a secondary is told: the zone's SOA record, as a hint (RFC 1996 section 3.7).
func notification(z *zone.Zone) *dns.Msg {
	m := new(dns.Msg)
	m.SetNotify(z.Origin().String())
	m.Authoritative = true
	m.Answer = z.Records(z.Find(z.Origin()).Node, z.SOA())
	return m
}

// tell tells one secondary of one change, until it answers, or ctx ends since there is a newer one.
func (n *Notifier) tell(ctx context.Context, of notice, m news) {
	log := n.log.With("zone", of.zone.String(), "secondary", of.to, "serial", m.serial)
	var cause error
	for try := range notifyTries {
		if try > 0 && !pause(ctx, notifyPause<<(try-1)) {
			return
		}
		reply, err := n.try(ctx, of.to, m)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			cause = err
			continue
		case reply.Rcode != dns.RcodeSuccess:
			n.counts.notified(of.zone.String(), NotifyRefused)
			log.Warn("secondary refused to be notified", "cause", "it answered "+dns.RcodeToString[reply.Rcode])
			return
		}
		n.counts.notified(of.zone.String(), NotifyAnswered)
		log.Info("secondary notified")
		return
	}
	n.counts.notified(of.zone.String(), NotifyLost)
	log.Warn("secondary could not be notified", "tries", notifyTries, "cause", cause)
}

// try tells it once, when it has a place to do so.
func (n *Notifier) try(ctx context.Context, to netip.AddrPort, m news) (*dns.Msg, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case n.places <- struct{}{}:
	}
	defer func() { <-n.places }()
	next := m.Copy()
	next.Id = dns.Id()
	return n.exchange(ctx, next, Way{n.source(to, m.source), to}, m.key)
}

// source is the address that a secondary is told from: the configured one, or else the first that is served and is no
// loopback address, unless the secondary's is one.
func (n *Notifier) source(to netip.AddrPort, configured netip.Addr) netip.Addr {
	if configured.IsValid() {
		return configured
	}
	for _, at := range n.served() {
		a := at.Addr()
		if a.Is4() == to.Addr().Is4() && !a.IsUnspecified() && (!a.IsLoopback() || to.Addr().IsLoopback()) {
			return a
		}
	}
	return netip.Addr{}
}

// pause waits, and gives false when ctx ended before.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// errUnsigned is what an answer is that should have a signature.
var errUnsigned = errors.New("its answer is not signed")

// exchange sends a message in a datagram, signed when there is a key, and gives the answer.
func exchange(ctx context.Context, m *dns.Msg, way Way, key config.TSIGKey) (*dns.Msg, error) {
	c := dns.Client{Net: "udp", Timeout: notifyWait, Dialer: &net.Dialer{Timeout: notifyWait}}
	if way.From.IsValid() {
		c.Dialer.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(way.From, 0))
	}
	if key.Name != "" {
		c.TsigSecret = map[string]string{key.Name: string(key.Secret)}
		m.SetTsig(key.Name, key.Algorithm, tsigFudge, time.Now().Unix())
	}
	conn, err := c.DialContext(ctx, way.To.String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	reply, _, err := c.ExchangeWithConnContext(ctx, m, conn)
	switch {
	case err != nil:
		return nil, err
	case !reply.Response || reply.Opcode != dns.OpcodeNotify:
		return nil, fmt.Errorf("its answer is none to a %s", dns.OpcodeToString[dns.OpcodeNotify])
	case key.Name != "" && reply.IsTsig() == nil:
		return nil, errUnsigned
	}
	return reply, nil
}
