package page

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// pipe speaks the DevTools protocol with a browser: messages of JSON that end in a zero byte, over the two pipes that
// --remote-debugging-pipe means. There is no port that others could come to, and no library between.
type pipe struct {
	out io.Writer

	mu      sync.Mutex
	last    int                     // ID of the last command; guarded by mu
	waiting map[int]chan reply      // by the ID of the command; guarded by mu
	hear    map[string]func(notice) // who hears the events of a session; guarded by mu
	ended   error                   // why nothing comes any more; guarded by mu
}

// args are the parameters of a command.
type args map[string]any

// message is what comes from the browser: the reply to a command, or an event.
type message struct {
	ID      int             `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type reply struct {
	result json.RawMessage
	err    error
}

// notice is an event.
type notice struct {
	method string
	params json.RawMessage
}

func newPipe(in io.Reader, out io.Writer) *pipe {
	p := &pipe{out: out, waiting: map[int]chan reply{}, hear: map[string]func(notice){}}
	go p.read(in) // until the browser ends and with it the pipe
	return p
}

// commandTime bounds how long the browser may take for one command.
const commandTime = 60 * time.Second

// call sends a command to a session, or to the browser itself, and waits for the reply.
func (p *pipe) call(session, method string, with args) (json.RawMessage, error) {
	answer := make(chan reply, 1)
	p.mu.Lock()
	if p.ended != nil {
		p.mu.Unlock()
		return nil, fmt.Errorf("%s: %w", method, p.ended)
	}
	p.last++
	id := p.last
	p.waiting[id] = answer
	command := map[string]any{"id": id, "method": method}
	if with != nil {
		command["params"] = with
	}
	if session != "" {
		command["sessionId"] = session
	}
	text, err := json.Marshal(command)
	if err == nil {
		_, err = p.out.Write(append(text, 0))
	}
	p.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	select {
	case r := <-answer:
		if r.err != nil {
			return nil, fmt.Errorf("%s: %w", method, r.err)
		}
		return r.result, nil
	case <-time.After(commandTime):
		return nil, fmt.Errorf("%s: no reply after %s", method, commandTime)
	}
}

// listen has the events of a session told to somebody, in their order and from one goroutine.
func (p *pipe) listen(session string, hear func(notice)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hear[session] = hear
}

func (p *pipe) read(in io.Reader) {
	r := bufio.NewReader(in)
	for {
		text, err := r.ReadBytes(0)
		var m message
		if err == nil {
			err = json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m)
		}
		if err != nil {
			p.end(fmt.Errorf("the browser is gone: %w", err))
			return
		}
		p.mu.Lock()
		answer, hear := p.waiting[m.ID], p.hear[m.Session]
		delete(p.waiting, m.ID)
		p.mu.Unlock()
		switch {
		case m.ID != 0 && m.Error != nil:
			answer <- reply{err: errors.New(m.Error.Message)}
		case m.ID != 0:
			answer <- reply{result: m.Result}
		case hear != nil:
			hear(notice{m.Method, m.Params})
		}
	}
}

func (p *pipe) end(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = why
	for _, answer := range p.waiting {
		answer <- reply{err: why}
	}
	clear(p.waiting)
}
