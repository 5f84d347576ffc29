// The first view: what is amiss, where the places are, and what happened last.
import { useEffect, useState } from "preact/hooks";
import { EventList } from "./journal.js";
import { useLive } from "./live.js";
import { linkTo } from "./route.js";
import { html, Mark, Panel, PlaceLink, ServiceLink, Title, Waiting } from "./ui.js";
import { PlaceTable } from "./places.js";
import { count, many, since, span } from "./words.js";

const lastEvents = 8;

// Overview shows the whole server at a glance.
export function Overview({ live }) {
  const state = useLive(live);
  const { status, places } = state;
  if (!places) return html`<${Title} of="gslb">Overview<//><${Waiting} failure=${state.failure} />`;
  const wrongs = wrongsOf(state, live.api.now());
  return html`
    <${Title} of=${wrongs.length > 0 ? `(${wrongs.length}) ${wrongs[0].short}` : "all is well"}>Overview<//>
    <${Wrongs} of=${wrongs} status=${status} />
    <${Totals} of=${status.totals} />
    <div class="pair">
      <${Panel} title="Where the places are" class="grow"><${Late} load=${loadMap} places=${places.places} partners=${state.partners.partners} /><//>
      <${Panel} title="Answers a second"><${Late} load=${loadChart} samples=${state.samples} /><//>
    </div>
    <${Panel} title="Places"><${PlaceTable} id="p." places=${places.places} /><//>
    <${Panel} title="What happened last" aside=${html`<a href=${linkTo("journal")}>journal</a>`}>
      <${EventList} events=${state.events.slice(0, lastEvents)} now=${live.api.now()} />
    <//>`;
}

const loadMap = () => import("./map.js").then((module) => module.Map);
const loadChart = () => import("./chart.js").then((module) => module.Chart);

// Late shows what is loaded after everything else: the outlines of the world and the chart are most of the page's bytes.
function Late({ load, ...of }) {
  const [loaded, setLoaded] = useState({ show: null });
  useEffect(() => {
    load().then((show) => setLoaded({ show }), () => setLoaded({ show: Missing }));
  }, []);
  const Show = loaded.show;
  return Show ? html`<${Show} ...${of} />` : html`<div class="late"></div>`;
}

function Missing() {
  return html`<p class="dim">This drawing could not be loaded. The tables have the same.</p>`;
}

// wrongsOf tells what an operator wants to know first, the worst first, each with a short form for the browser's tab.
function wrongsOf({ status, places, drains, partners, unserved }, now) {
  const wrongs = [];
  const add = (standing, short, text) => wrongs.push({ standing, short, text });
  if (unserved.total > 0) {
    add("withdrawn", `${many(unserved.total, "service")} unserved`, html`${many(unserved.total, "service")} without a serving place:
      ${" "}${listed(unserved.services.map((s) => html`<${ServiceLink} service=${s.service} />`), unserved.total)}`);
  }
  if (status.config.refused) {
    add("withdrawn", "configuration refused", html`The files of the configuration were refused ${since(status.config.refused.time, now)} ago, and
      config ${status.config.number} stays in force: <code>${status.config.refused.problems[0]}</code>
      ${status.config.refused.problems.length > 1 && ` and ${status.config.refused.problems.length - 1} more; gslb check tells all`}`);
  }
  if (status.brake.on) {
    add("withdrawn", "brake on", html`The brake holds verdicts for ${since(status.brake.since, now)}: ${status.brake.failing} of ${status.brake.of} endpoints failed at once`);
  }
  for (const p of places.places.filter((p) => p.services.withdrawn > 0)) {
    add("withdrawn", `${p.place} withdrawn`, html`<${PlaceLink} place=${p.place} /> is withdrawn for ${ofServices(p.services.withdrawn, p.services)};
      ${" "}${p.up} of ${many(p.endpoints, "endpoint")} up`);
  }
  for (const p of partners.partners) {
    const down = p.peers.filter((peer) => peer.state !== "established");
    if (down.length > 0) {
      add("withdrawn", `${p.partner} without session`, html`<a href=${linkTo("partners", p.partner)}>${p.partner}</a>: ${down.length} of ${many(p.peers.length, "session")}
        not established${down[0].error && html`, <code>${down[0].error}</code>`}`);
    }
  }
  for (const d of drains.drains) {
    add("drained", `${d.place} drained`, html`<${PlaceLink} place=${d.place} />${d.service && html` for <${ServiceLink} service=${d.service} />`} is drained
      ${d.reason && `: ${d.reason}`}${d.by && `, by ${d.by}`}${d.until && `, for another ${span((Date.parse(d.until) - now) / 1000)}`} · <a href=${linkTo("drains")}>drains</a>`);
  }
  return wrongs;
}

function ofServices(some, tallied) {
  const all = tallied.serving + tallied.unknown + tallied.withdrawn + tallied.drained;
  return some === all ? `all of its ${many(all, "service")}` : `${count(some)} of its ${many(all, "service")}`;
}

function listed(links, total) {
  const some = links.slice(0, 5);
  const rest = total - some.length;
  return html`${some.map((link, i) => html`${i > 0 && ", "}${link}`)}${rest > 0 && html` and <a href=${linkTo("services", "", { q: "unserved" })}>${count(rest)} more</a>`}`;
}

function Wrongs({ of, status }) {
  if (!status.ready) return html`<p class="banner"><${Mark} standing="unknown">The server waits for the first results of its checks before it answers questions.<//></p>`;
  if (of.length === 0) return html`<p class="banner well"><${Mark} standing="serving">Nothing is amiss: every place serves, every session stands, no drain holds.<//></p>`;
  return html`<ul class="banner wrongs" aria-label="what is amiss">
    ${of.map((w) => html`<li key=${w.short}><${Mark} standing=${w.standing}><span>${w.text}</span><//></li>`)}
  </ul>`;
}

function Totals({ of: t }) {
  return html`<dl class="totals">
    <${Total} word="services served" some=${t.served} all=${t.services} />
    <${Total} word="endpoints up" some=${t.up} all=${t.endpoints} />
    <${Total} word="sessions established" some=${t.established} all=${t.sessions} />
    <div><dt>places</dt><dd>${count(t.places)}</dd></div>
    <div><dt>drains in force</dt><dd>${count(t.drains)}</dd></div>
    <div><dt>prefixes of partners</dt><dd>${count(t.prefixes)}</dd></div>
  </dl>`;
}

// Total shows a part of a whole; when it is not all of it, that is marked.
function Total({ word, some, all }) {
  const text = html`${count(some)}<small> of ${count(all)}</small>`;
  return html`<div><dt>${word}</dt><dd>${some === all ? text : html`<${Mark} standing="withdrawn">${text}<//>`}</dd></div>`;
}
