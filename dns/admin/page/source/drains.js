// The drains that hold, with their clock; and the forms that begin and end one.
import { useState } from "preact/hooks";
import { Departure } from "./departure.js";
import { useClock, useLive, useLoad } from "./live.js";
import { Field, html, Mark, Panel, PlaceLink, ServiceLink, Title, Waiting } from "./ui.js";
import { clockOf, span } from "./words.js";

const spans = ["30m", "1h", "2h", "4h", "8h", "24h"];

// Drains shows what is drained, and drains.
export function Drains({ live, query }) {
  const { drains, places, failure } = useLive(live);
  const [told, setTold] = useState(null); // what came of the last order
  if (!drains) return html`<${Title}>Drains<//><${Waiting} failure=${failure} />`;
  return html`<${Title}>Drains<//>
    <p class="dim">A drain here is of this server only: it becomes a file of its configuration, as by gslb drain.</p>
    <div role="status">${told && html`<p class=${told.failed ? "trouble" : "told"}><${Mark} standing=${told.failed ? "withdrawn" : "serving"}>${told.text}<//></p>`}</div>
    <${Panel} title="In force">
      ${drains.drains.length === 0 && html`<p class="dim">no drain holds</p>`}
      <ul class="drains">${drains.drains.map((d) => html`<${Drain} key=${`${d.place}/${d.service}/${d.file}`} of=${d} live=${live} onTold=${setTold} />`)}</ul>
      ${watched(drains.drains).map((place) => html`<section key=${place} aria-label="how far ${place} is left"><h3>How far ${place} is left</h3><${Departure} live=${live} place=${place} /></section>`)}
    <//>
    <${Panel} title="Drain a place"><${Order} live=${live} places=${places.places.map((p) => p.place)} first=${query.get("place") ?? ""} onTold=${setTold} /><//>`;
}

// watched gives the places that are drained. A server that does not tell since when cannot tell how far they are left.
function watched(drains) {
  return [...new Set(drains.filter((d) => d.since).map((d) => d.place))];
}

// Drain is one drain: how long it holds, why, and the button that ends it.
function Drain({ of: d, live, onTold }) {
  const { events } = useLive(live);
  const now = useClock(live.api);
  const [sure, setSure] = useState(false);
  const begun = d.since ?? begunOf(events, d);
  const end = async () => {
    if (!sure) return setSure(true);
    setSure(false);
    try {
      const keys = d.service ? "?service=" + encodeURIComponent(d.service) : "";
      const done = await live.api.remove(`/v1/drains/${encodeURIComponent(d.place)}${keys}`);
      const held = done.holding?.length > 0 ? `, but another drain holds: ${done.holding.join(", ")}` : "";
      onTold({ text: `${titleOf(d)} is no longer drained${held}` });
    } catch (failure) {
      onTold({ failed: true, text: failure.message });
    }
    return live.look();
  };
  return html`<li class="drain">
    <p><${Mark} standing="drained"><b><${PlaceLink} place=${d.place} /></b>${d.service ? html` for <${ServiceLink} service=${d.service} />` : " for every service"}${d.hard && ", hard"}<//></p>
    <p class="clock" role="timer" aria-label="time left">${d.until ? html`<b>${span((Date.parse(d.until) - now) / 1000)}</b> left` : html`<b>no end</b> set`}</p>
    <p class="dim">${[begun && `drained for ${span((now - Date.parse(begun)) / 1000)}, since ${clockOf(begun, now)}`, d.until && `until ${clockOf(d.until, now)}`,
      d.reason, d.by && `by ${d.by}`, d.force && `forced: ${d.force}`].filter(Boolean).join(" · ")}<br />in <code class="wrap">${d.file}</code></p>
    <p><button type="button" onClick=${end} onBlur=${() => setSure(false)}>${sure ? `Yes, give ${d.place} its clients back` : "End this drain"}</button></p>
  </li>`;
}

// begunOf finds in the journal when a drain began.
function begunOf(events, d) {
  const about = (e) => e.kind === "drain" && e.fields?.place === d.place && (e.fields?.service ?? "") === (d.service ?? "");
  return events.find((e) => about(e) && / drained/.test(e.text) && !/no longer/.test(e.text))?.time;
}

function titleOf(d) {
  return d.place + (d.service ? ` for ${d.service}` : "");
}

// Order is the form of a new drain. What it would leave bare is told before.
function Order({ live, places, first, onTold }) {
  const [form, setForm] = useState({ place: places.includes(first) ? first : "", service: "", for: "2h", reason: "", by: "", hard: false, force: "" });
  const [busy, setBusy] = useState(false);
  const put = (key) => (event) => setForm({ ...form, [key]: event.target.type === "checkbox" ? event.target.checked : event.target.value });
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const order = Object.fromEntries(Object.entries(form).filter(([, value]) => value));
      const done = await live.api.post("/v1/drains", order);
      onTold({ text: `${titleOf(done)} is drained: ${done.file}` });
      setForm({ ...form, place: "", service: "", reason: "", force: "" });
    } catch (failure) {
      onTold({ failed: true, text: failure.message });
    }
    setBusy(false);
    live.look();
  };
  return html`<form class="order" onSubmit=${submit}>
    <${Field} label="Place"><select name="place" required value=${form.place} onChange=${put("place")}><option value="">choose</option>${places.map((p) => html`<option key=${p} value=${p}>${p}</option>`)}</select><//>
    <${Field} label="Service" hint="empty: every service"><input name="service" value=${form.service} onInput=${put("service")} autocomplete="off" /><//>
    <${Field} label="For"><select name="for" value=${form.for} onChange=${put("for")}>${spans.map((s) => html`<option key=${s} value=${s}>${s}</option>`)}<option value="">until it is ended</option></select><//>
    <${Field} label="Reason"><input name="reason" value=${form.reason} onInput=${put("reason")} autocomplete="off" /><//>
    <${Field} label="Your name"><input name="by" value=${form.by} onInput=${put("by")} autocomplete="nickname" /><//>
    <${Field} label="Force, and why" hint="only to leave a service too few places, or none"><input name="force" value=${form.force} onInput=${put("force")} autocomplete="off" /><//>
    <label class="check"><input type="checkbox" name="hard" checked=${form.hard} onChange=${put("hard")} /> hard: not even when no other place serves</label>
    ${form.place && html`<${Bare} live=${live} place=${form.place} service=${form.service} />`}
    <button type="submit" disabled=${busy || !form.place}>${busy ? "draining …" : `Drain ${form.place || "…"}`}</button>
  </form>`;
}

// Bare tells which services the drain would leave without a serving place.
function Bare({ live, place, service }) {
  const keys = new URLSearchParams(service ? { place, service } : { place });
  const { data } = useLoad(live, () => live.api.get("/v1/drain?" + keys), "bare " + keys, 5000);
  if (!data) return null;
  if (data.bare.length === 0) return html`<p class="advice"><${Mark} standing="serving">Every service keeps a serving place.<//></p>`;
  return html`<p class="advice"><${Mark} standing="withdrawn">Without ${place} no place serves ${data.bare.slice(0, 10).join(", ")}${data.bare.length > 10 && ` and ${data.bare.length - 10} more`}<//></p>`;
}
