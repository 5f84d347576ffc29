// The journal: what happened, as it happens.
import { useState } from "preact/hooks";
import { useLive } from "./live.js";
import { linkTo, setKeys } from "./route.js";
import { html, Mark, Title, Waiting } from "./ui.js";
import { clockOf, count } from "./words.js";

const drawn = 300; // events that are drawn at most

// Journal shows the events that have the words of the filter, and goes on while it is open.
export function Journal({ live, query }) {
  const state = useLive(live);
  const [held, setHeld] = useState(null); // the events of the moment when it was held
  const events = held ?? state.events;
  const filter = query.get("q") ?? "";
  const kind = query.get("kind") ?? "";
  const kinds = [...new Set([...events.map((e) => e.kind), kind])].filter(Boolean).sort();
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = events.filter((e) => (!kind || e.kind === kind) && words.every((w) => `${e.kind} ${e.text}`.toLowerCase().includes(w)));
  return html`<${Title}>Journal<//>
    <div class="filter">
      <input type="search" aria-label="filter the journal" placeholder="filter" value=${filter} autocomplete="off" onInput=${(e) => setKeys({ q: e.target.value })} />
      <select aria-label="kind of event" value=${kind} onChange=${(e) => setKeys({ kind: e.target.value })}>
        <option value="">every kind</option>${kinds.map((k) => html`<option key=${k} value=${k}>${k}</option>`)}
      </select>
      <button type="button" aria-pressed=${held !== null} onClick=${() => setHeld(held ? null : state.events)}>
        ${held ? `go on (${count(state.events.length - held.length)} new)` : "hold"}</button>
      <output class="dim">${state.following ? "as it happens" : "not connected; tries again"} · ${count(chosen.length)} of ${count(events.length)}</output>
    </div>
    ${state.events.length === 0 && !state.status ? html`<${Waiting} failure=${state.failure} />` : html`<${EventList} events=${chosen.slice(0, drawn)} now=${live.api.now()} live />`}`;
}

// EventList shows events, the newest first.
export function EventList({ events, now, live }) {
  if (events.length === 0) return html`<p class="dim">nothing</p>`;
  return html`<ol class="events" role=${live ? "log" : undefined} aria-live=${live ? "polite" : undefined}>
    ${events.map((e) => html`<li key=${e.id}>
      <time datetime=${e.time} title=${e.time}>${clockOf(e.time, now)}</time>
      <span class="kind">${e.kind}</span>
      <span class="text"><${Told} event=${e} /></span>
    </li>`)}
  </ol>`;
}

// Told marks what an event says by the turn that it tells of, and leads to what it is about.
function Told({ event }) {
  const turn = turnOf(event.text);
  const { place, service } = event.fields ?? {};
  const href = service ? linkTo("services", service) : place ? linkTo("places", place) : null;
  const text = href ? html`<a class="quiet" href=${href}>${event.text}</a>` : event.text;
  return turn ? html`<${Mark} standing=${turn}>${text}<//>` : text;
}

// turnOf finds the turn in the words of an event.
function turnOf(text) {
  if (/\bno longer drained\b|\brestored\b|\bestablished\b|\bserves again\b/.test(text)) return "serving";
  if (/\bdrained\b/.test(text)) return "drained";
  if (/\bwithdrawn\b|\bno place\b|\brefused\b|\bsession (lost|closed|down)\b|\ball_down\b/.test(text)) return "withdrawn";
  return "";
}
