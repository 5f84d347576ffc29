// What the page knows of the server and keeps up to date, whichever view is open.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

const pulse = 2000; // milliseconds from one look at the server to the next
const rest = 1000; // between two loads, when something happened during the first
const settle = 300; // after an event, before what it changed is looked at: events come in flocks
const retryLeast = 1000;
const retryMost = 15_000;
const journalMost = 1000; // events that are kept
const samplesMost = 300; // of the counts of answers: ten minutes

// createLive makes the store. state is replaced, never changed; whoever subscribes is told when it was.
export function createLive(api) {
  const listeners = new Set();
  let state = {
    status: null, places: null, drains: null, partners: null, unserved: null, // the last answers
    failure: null, // why the last look failed
    asOf: 0, // when the last look succeeded, by the server's clock
    events: [], // of the journal, the newest first
    following: false, // the journal comes as it happens
    flock: 0, // grows after events, for those who have more to look at
    samples: [], // [{ at, given }]: answers since the start of the server, by place
  };
  let stop = null; // ends what runs

  function set(change) {
    state = { ...state, ...change };
    for (const tell of listeners) tell();
  }

  async function look() {
    try {
      const status = await api.get("/v1/status?limit=1"); // alone: if a token is wanted, it is wanted once
      set({ status });
      const [places, drains, partners] = await Promise.all([api.all("/v1/places", "places"), api.get("/v1/drains"), api.get("/v1/partners")]);
      const bare = status.totals.served < status.totals.services;
      const unserved = bare ? await api.get("/v1/services?standing=unserved&limit=20") : { total: 0, services: [] };
      const given = Object.fromEntries(places.places.map((p) => [p.place, p.given]));
      const samples = [...state.samples, { at: api.now() / 1000, given }].slice(-samplesMost);
      set({ status, places, drains, partners, unserved, samples, failure: null, asOf: api.now() });
    } catch (failure) {
      set({ failure });
    }
  }

  // keepLooking looks again and again until the signal, and tells after the first look. An event shortens the wait.
  async function keepLooking(signal, nudge, first) {
    for (let times = 0; !signal.aborted; times++) {
      await look();
      if (times === 0) first();
      await Promise.race([sleep(pulse, signal), nudge.wait()]);
    }
  }

  // keepFollowing follows the journal until the signal, and goes on where it was when the stream was cut off.
  async function keepFollowing(signal, nudge) {
    let wait = retryLeast;
    if (state.failure?.code === 401) return;
    while (!signal.aborted) {
      try {
        const known = state.events[0];
        if (!known) {
          const events = await api.get("/v1/events?limit=200");
          set({ events: events.reverse() });
        }
        const opened = () => {
          wait = retryLeast;
          set({ following: true });
        };
        for await (const event of api.follow(state.events[0]?.id, signal, opened)) {
          set({ events: [event, ...state.events].slice(0, journalMost) });
          nudge.give();
        }
      } catch (failure) {
        if (failure.code === 400) set({ events: [] }); // the event that we know is not in the journal any more
      }
      if (signal.aborted) return;
      set({ following: false });
      await sleep(wait, signal);
      wait = Math.min(2 * wait, retryMost);
    }
  }

  function start() {
    const control = new AbortController();
    const nudge = createNudge(() => set({ flock: state.flock + 1 }));
    keepLooking(control.signal, nudge, () => keepFollowing(control.signal, nudge));
    return () => control.abort();
  }

  // run keeps everything up to date while the page can be seen, and gives how to end that.
  function run() {
    const turn = () => {
      stop?.();
      stop = document.hidden ? null : start();
    };
    turn();
    document.addEventListener("visibilitychange", turn);
    return () => {
      document.removeEventListener("visibilitychange", turn);
      stop?.();
      stop = null;
    };
  }

  return {
    api,
    run,
    look,
    get state() { return state; },
    subscribe(tell) {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
  };
}

// createNudge makes a signal that many events in a row give once.
function createNudge(tell) {
  let timer = 0;
  let waiting = [];
  return {
    wait: () => new Promise((done) => waiting.push(done)),
    give() {
      timer ||= setTimeout(() => {
        timer = 0;
        for (const done of waiting.splice(0)) done();
        tell();
      }, settle);
    },
  };
}

function sleep(time, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, time);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    }, { once: true });
  });
}

// useLive gives the state of the store, and follows it.
export function useLive(live) {
  const [, setCount] = useState(0);
  useEffect(() => live.subscribe(() => setCount((count) => count + 1)), [live]);
  return live.state;
}

// useLoad keeps what load gives up to date: from time to time, after events, and when the key changes, which names what
// is loaded. It gives the last { data, failure }; data stays while a later load fails. The first time load is given show,
// by which it may have a part seen before the rest is there.
export function useLoad(live, load, key, every) {
  const [loaded, setLoaded] = useState({ key: null, data: null, failure: null });
  const seen = useRef(null); // the key of what is shown
  seen.current = loaded.key;
  const { flock } = useLive(live);
  const gate = useMemo(() => ({ busy: false, again: false, over: false }), [key]);
  useEffect(() => () => { gate.over = true; }, [gate]);
  useEffect(() => {
    const get = async () => {
      gate.again = gate.busy;
      if (gate.busy || gate.over || document.hidden) return;
      gate.busy = true;
      let now;
      try {
        const show = (part) => { if (!gate.over) setLoaded((before) => (before.key === key ? before : { key, data: part, failure: null })); };
        const data = await load(seen.current === key ? undefined : show);
        now = () => ({ key, data, failure: null });
      } catch (failure) {
        now = (before) => ({ key, data: before.key === key ? before.data : null, failure });
      }
      gate.busy = false;
      if (!gate.over) setLoaded(now);
      if (gate.again) setTimeout(get, rest);
    };
    get();
    const timer = setInterval(get, every);
    return () => clearInterval(timer);
  }, [gate, flock]);
  return loaded.key === key ? loaded : { data: null, failure: null };
}

// useClock gives the server's time, and draws again each second.
export function useClock(api) {
  const [, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setCount((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return api.now();
}
