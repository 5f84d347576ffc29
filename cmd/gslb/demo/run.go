package demo

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// Options say how a demo is run.
type Options struct {
	Program  string        // path of gslb: it is run as the name server, and for the verbs that are typed
	In       io.Reader     // what is typed, line by line; nil: nothing
	Out      io.Writer     // where everything is shown
	Colour   bool          // whether Out shows colours
	Interval time.Duration // between the checks of a place
}

// Interval is how often a place is checked, unless somebody wants otherwise: so the tenth failure comes
// ten seconds after the first thing that went wrong.
const Interval = time.Second

// Run runs the demo until ctx ends or somebody types quit. The error says why there is no demo, or
// why it ended by itself.
func Run(ctx context.Context, o Options) error {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	t := newTeller(o.Out, o.Colour)
	fmt.Fprintln(t.out, "gslb demo: starting three datacenters, a CDN site, a name server and a partner ...")
	w, err := openWorld(t)
	if err != nil {
		return err
	}
	defer w.close()
	s := newScene(w, o.Interval)
	f, err := newFolder(o.Program, s)
	if err != nil {
		return err
	}
	defer f.remove()
	r := newRouter(o.Program, f, s, t)
	if err := r.open(); err != nil {
		return err
	}
	defer r.close()
	st := &stage{program: o.Program, folder: f, scene: s, tell: t, crash: make(chan struct{})}
	if err := st.open(ctx); err != nil {
		return err
	}
	defer func() { st.server.stop() }()
	typist := typist{world: w, router: r, tell: t, quit: quit, crash: st.crash, program: o.Program, config: f.config()}
	go typist.read(ctx, o.In) // a read of a terminal cannot be called off: it ends with the process
	return st.play(ctx)
}

// stage is where the name server is, and is looked at.
type stage struct {
	program string
	folder  folder
	scene   scene
	tell    *teller
	crash   chan struct{} // somebody wants to see the server end suddenly

	server *server // owned by the goroutine of Run
}

// open starts the name server, and shows the start screen when it answers.
func (st *stage) open(ctx context.Context) (err error) {
	if st.server, err = startServer(st.program, st.folder); err != nil {
		return err
	}
	d, guest := door{st.scene.Admin}, st.scene.guest()
	status, err := st.server.ready(ctx, d, st.folder.config())
	learned := false
	if err == nil {
		learned, err = st.server.learned(ctx, d, guest)
	}
	if err == nil && ctx.Err() == nil {
		err = showScreen(st.tell, st.scene.with(st.folder, status.Geo))
	}
	switch {
	case err != nil:
		st.server.stop()
	case !learned && ctx.Err() == nil:
		st.tell.say(bad, st.scene.Partner.Name+"'s prefixes have not come yet; gslb.log and "+st.scene.Partner.Name+".log tell more")
	}
	return err
}

// play shows what changes, until ctx ends; or until the server does, which is an error.
func (st *stage) play(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var crew sync.WaitGroup
	defer crew.Wait()
	defer stop()
	crew.Go(func() { newWatcher(door{st.scene.Admin}, st.tell, st.scene, st.folder.config()).run(ctx) })
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(st.tell.out, "\nending the demo ...")
			return nil
		case <-st.server.ended:
			return st.server.died()
		case <-st.crash:
			if err := st.restart(ctx); err != nil {
				return err
			}
		}
	}
}

// restart kills the server and starts it again, on the state that it left behind.
func (st *stage) restart(ctx context.Context) error {
	st.server.kill()
	st.tell.say(note, "the name server was killed (kill -9), and is started again")
	again, err := startServer(st.program, st.folder)
	if err != nil {
		return err
	}
	st.server = again
	begun := time.Now()
	if _, err := again.ready(ctx, door{st.scene.Admin}, st.folder.config()); err != nil || ctx.Err() != nil {
		return err
	}
	st.tell.say(good, fmt.Sprintf("the name server answers again, after %s", time.Since(begun).Round(100*time.Millisecond)))
	return nil
}
