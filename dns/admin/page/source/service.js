// One service: its places, what they are given, and their endpoints with their windows.
import { Checks } from "./checks.js";
import { useLoad } from "./live.js";
import { linkTo } from "./route.js";
import { EndpointTable, Share } from "./places.js";
import { Table } from "./table.js";
import { Facts, html, Mark, Panel, PlaceLink, Title, Trouble, Waiting } from "./ui.js";
import { clockOf, count, grave, marginOf, millis, percent, since, verdictOf } from "./words.js";

const every = 3000;

// Service shows the service that the address names; with the keys place and address, one of its endpoints in full.
export function Service({ live, part, query }) {
  const { data, failure } = useLoad(live, () => live.api.get("/v1/services/" + encodeURIComponent(part)), "service " + part, every);
  if (!data) return html`<${Title}>${part}<//><${Waiting} failure=${failure} />`;
  const now = live.api.now();
  return html`<${Title}>${part}<//>
    <${Trouble} failure=${failure} />
    <${Facts} of=${[
      ["standing", data.served ? html`<${Mark} standing="serving">served<//>` : html`<${Mark} standing="withdrawn">no place serves it: all_down answers<//>`],
      ["answers", `${count(data.given)} since the start`], ["TTL", `${data.ttl}s while every window is clean`],
      ["names", data.names.length > 0 && data.names.map((name, i) => html`${i > 0 && ", "}<a href=${linkTo("why", "", { name })} title="why do clients get what they get?">${name}</a>`)],
    ]} />
    <${Panel} title="Places"><${Members} of=${data} now=${now} /><//>
    <${Panel} title="Endpoints"><${EndpointTable} label="endpoints of ${part}" endpoints=${data.all_endpoints} first="place" now=${now} /><//>
    ${data.all_endpoints.filter((e) => shows(query, e)).map((e) => html`<${Endpoint} key=${e.place + e.address} endpoint=${e} now=${now} />`)}`;
}

// shows tells whether an endpoint is shown in full: those that fail, and the one that the address names.
function shows(query, e) {
  if (query.get("address")) return e.address === query.get("address") && (!query.get("place") || e.place === query.get("place"));
  return e.check !== undefined && e.failed > 0;
}

function Members({ of, now }) {
  return html`<${Table} id="m." label="places of ${of.service}" rows=${of.places} keyOf=${(p) => p.place} filterable=${of.places.length > 12} columns=${[
    { title: "Place", width: "16%", text: (p) => p.place, cell: (p) => html`<${PlaceLink} place=${p.place} />` },
    { title: "Standing", width: "18%", text: (p) => p.standing, sort: (p) => grave.indexOf(p.standing), cell: (p) => html`<${Mark} standing=${p.standing} />` },
    { title: "Answers", class: "number", width: "13%", sort: (p) => p.share, cell: (p) => html`<${Share} of=${p.share} />` },
    { title: "Placed by", class: "wide", width: "18%", text: placedBy, cell: placedBy },
    { title: "Up", class: "number", width: "12%", sort: (p) => p.up, cell: (p) => `${p.up} of ${p.endpoints}` },
    { title: "Beside that", class: "wide", width: "23%", text: (p) => beside(p, now), cell: (p) => html`<span title=${beside(p, now)}>${beside(p, now)}</span>` },
  ]} />`;
}

function placedBy(p) {
  const by = Object.entries(p.placed).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  return by.map(([word, n]) => `${word} ${count(n)}`).join(", ");
}

// beside tells of a drain, or of a place that comes back step by step.
function beside(p, now) {
  const words = [];
  if (p.drain) words.push(["drained", p.drain.reason, p.drain.by && `by ${p.drain.by}`, p.drain.until && `until ${clockOf(p.drain.until, now)}`].filter(Boolean).join(", "));
  if (p.ramp) words.push(`comes back: has ${percent(p.ramp.part)} of its clients, all at ${clockOf(p.ramp.until, now)}`);
  return words.join("; ");
}

// Endpoint shows one endpoint with its whole window.
function Endpoint({ endpoint: e, now }) {
  const took = e.took ?? [];
  return html`<${Panel} title="${e.place} ${e.address}">
    <p class="scroll"><${Checks} endpoint=${e} last=${64} /></p>
    <${Facts} of=${[
      ["verdict", html`<${Mark} standing=${e.verdict}>${verdictOf(e)}<//>${e.since && ` for ${since(e.since, now)}`}`],
      ["check", html`${e.check}${e.probe && html` of <code>${e.probe}</code>`}, every ${e.interval}s; out at ${e.fall} failed, back at ${e.rise} good of ${e.window}`],
      ["how near", marginOf(e)], ["last cause", e.cause && html`<code>${e.cause}</code>`],
      ["could turn in", e.next > 0 && `${Math.ceil(e.next)}s at the earliest`],
      ["probes took", took.length > 0 && `${millis(Math.min(...took))} to ${millis(Math.max(...took))}, the last ${millis(took.at(-1))}`],
      ["its checks", e.checks?.length > 0 && e.checks.map((c) => html`<${Mark} key=${c.check} standing=${c.verdict}>${c.check}: ${c.verdict}, ${c.failed} failed ${c.cause ?? ""}<//> `)],
    ]} />
  <//>`;
}
