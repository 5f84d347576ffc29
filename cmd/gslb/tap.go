package main

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"gslb/config"
	"gslb/dns"
	"gslb/dns/dnstap"
)

// tap tells a reader of dnstap.
type tap struct {
	to       config.Dnstap
	identity string
	log      *slog.Logger

	stream  *dnstap.Stream
	retry   time.Time // no reader is looked for before
	failing bool
}

// tapRetry is how long it is waited before another reader is looked for.
const tapRetry = time.Second

func (t *tap) run(ctx context.Context, tracer *dns.Tracer) {
	tracer.Read(ctx, func(trace *dns.Trace) {
		if !t.write(trace) {
			tracer.Lose()
		}
	}, func() {
		if t.stream != nil {
			t.check(t.stream.Flush())
		}
	})
	if t.stream != nil {
		if err := t.stream.Close(); err != nil {
			t.log.Warn("dnstap not ended well", "cause", err)
		}
	}
}

// write gives false when there is no reader for the trace.
func (t *tap) write(trace *dns.Trace) bool {
	if t.stream == nil {
		if time.Now().Before(t.retry) {
			return false
		}
		var err error
		if t.to.Socket != "" {
			t.stream, err = dnstap.Dial(t.to.Socket)
		} else {
			t.stream, err = dnstap.Create(t.to.File)
		}
		if !t.check(err) {
			return false
		}
	}
	var extra []string
	for _, w := range decided(trace) {
		extra = append(extra, w[0]+"="+w[1])
	}
	return t.check(t.stream.Write(&dnstap.Message{
		Identity: t.identity, Version: "gslb " + version, Extra: strings.Join(extra, " "), Client: trace.Source,
		Over: tapProtocol(trace.Over), Asked: trace.Asked, Answered: trace.Answered, Query: trace.Query, Reply: trace.Reply,
	}))
}

// check leaves a reader that failed, and tells of it once.
func (t *tap) check(err error) bool {
	if failing := err != nil; failing != t.failing {
		t.failing = failing
		where := cmp.Or(t.to.Socket, t.to.File)
		if failing {
			t.log.Error("dnstap has no reader: messages are lost until there is one", "to", where, "cause", err)
		} else {
			t.log.Info("dnstap has a reader", "to", where)
		}
	}
	if err != nil {
		if t.stream != nil {
			_ = t.stream.Close() // it has failed already
		}
		t.stream, t.retry = nil, time.Now().Add(tapRetry)
	}
	return err == nil
}

func tapProtocol(over dns.Transport) dnstap.Protocol {
	switch over {
	case dns.TCP:
		return dnstap.TCP
	case dns.TLS:
		return dnstap.TLS
	case dns.HTTPS:
		return dnstap.DOH
	case dns.QUIC:
		return dnstap.DOQ
	}
	return dnstap.UDP
}
