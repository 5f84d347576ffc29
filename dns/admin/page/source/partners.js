// The partners: their sessions, what these bring, and the routes.
import { useState } from "preact/hooks";
import { useLive, useLoad } from "./live.js";
import { linkTo, setKeys } from "./route.js";
import { Table } from "./table.js";
import { Facts, html, Mark, Panel, PlaceLink, Title, Trouble, Waiting } from "./ui.js";
import { count, many, since } from "./words.js";

// Partners shows all partners, or the one that the address names with its routes.
export function Partners({ live, part, query }) {
  const { partners, failure } = useLive(live);
  const title = part || "Partners";
  if (!partners) return html`<${Title}>${title}<//><${Waiting} failure=${failure} />`;
  const shown = partners.partners.filter((p) => !part || p.partner === part);
  const now = live.api.now();
  return html`<${Title}>${title}<//>
    ${shown.length === 0 && html`<p class="dim">${part ? "The configuration has no partner of this name." : "The configuration has no partners."}</p>`}
    ${shown.map((p) => html`<${Partner} key=${p.partner} of=${p} now=${now} />`)}
    ${!part && html`<${Doors} of=${partners} now=${now} />`}
    ${(shown.length > 0 || !part) && html`<${Panel} title="Routes"><${Routes} live=${live} partner=${part} query=${query} /><//>`}`;
}

function Partner({ of: p, now }) {
  const title = html`<a href=${linkTo("partners", p.partner)}>${p.partner}</a> leads to <${PlaceLink} place=${p.site} />`;
  return html`<section class="panel" aria-label=${p.partner}>
    <header><h2>${title}</h2>${p.shadow && html`<span class="dim">shadow: nobody is steered by it</span>`}</header>
    <${Facts} of=${[
      ["prefixes", `${count(p.ipv4)} IPv4, ${count(p.ipv6)} IPv6`], ["static", p.static > 0 && many(p.static, "network")],
      ["not of all peers", p.partial.count > 0 && sampleOf(p.partial)],
      ["nowhere else to fall to", p.alone.count > 0 && sampleOf(p.alone)], ["at most", many(p.max_prefixes, "prefix", "prefixes")],
    ]} />
    ${p.peers.length > 0 && html`<${Table} id=${p.partner + "."} label="sessions of ${p.partner}" rows=${p.peers} keyOf=${(s) => s.peer} filterable=${p.peers.length > 12} columns=${sessionColumns(p, now)} />`}
  </section>`;
}

function sampleOf({ count: n, first = [] }) {
  return `${count(n)}: ${first.join(", ")}${n > first.length ? " …" : ""}`;
}

function sessionColumns(partner, now) {
  return [
    { title: "Peer", width: "16%", text: (s) => s.peer, cell: (s) => html`<a href=${linkTo("partners", partner.partner)}><code>${s.peer}</code></a>` },
    { title: "Session", width: "18%", text: (s) => s.state, cell: (s) => html`<${Mark} standing=${s.state === "established" ? "established" : "down"}>${s.state}${s.since && ` ${since(s.since, now)}`}<//>` },
    { title: "Accepted", class: "number", sort: (s) => s.accepted, cell: (s) => count(s.accepted) },
    { title: "Stale", class: "number", sort: (s) => s.stale, cell: (s) => (s.stale ? `${count(s.stale)}, ${since(s.stale_since, now)}` : "0") },
    { title: "AS", class: "wide number", sort: (s) => s.asn, cell: (s) => s.asn },
    { title: "Refused", class: "wide", text: refusedOf, cell: (s) => html`<span title=${refusedOf(s)}>${refusedOf(s)}</span>` },
    { title: "Why not", class: "wide", text: (s) => s.error ?? "", cell: (s) => html`<span title=${s.error}>${s.error ?? ""}</span>` },
    { title: "Ended", class: "wide number", sort: (s) => s.flaps, cell: (s) => count(s.flaps) },
  ];
}

function refusedOf(session) {
  return Object.entries(session.refused ?? {}).map(([why, n]) => `${count(n)} ${why}`).join(", ");
}

// Doors tells where partners may open sessions, and where origins are judged by.
function Doors({ of, now }) {
  const rpki = of.rpki ?? [];
  if (of.listeners.length === 0 && rpki.length === 0) return null;
  return html`<${Panel} title="Doors"><${Facts} of=${[
    ...of.listeners.map((l) => [l.address, l.cause ? html`<${Mark} standing="withdrawn">${l.cause}<//>` : html`<${Mark} standing="serving">listens<//>${l.unknown > 0 && `, ${many(l.unknown, "stranger")} sent away`}`]),
    ...rpki.map((r) => [r.from, `${r.state}, ${many(r.vrps, "VRP")}${r.updated ? `, ${since(r.updated, now)} old` : ""}`]),
  ]} /><//>`;
}

// Routes shows the prefixes of a partner or of all, page by page; with a network or address, those around and inside it.
function Routes({ live, partner, query }) {
  const within = query.get("within") ?? "";
  const refused = query.get("refused") === "1";
  const [limit, setLimit] = useState(100);
  const keys = new URLSearchParams({ limit, ...(partner && { partner }), ...(within && { prefix: within }), ...(refused && { refused: 1 }) });
  const { data, failure } = useLoad(live, () => live.api.get("/v1/routes?" + keys), "routes " + keys, 5000);
  const rows = (data?.prefixes ?? []).flatMap((p) => p.routes.map((r) => ({ ...r, prefix: p.prefix, sites: p.sites })));
  return html`<div class="filter">
      <input type="search" aria-label="a network or an address" placeholder="a network or an address" value=${within} autocomplete="off" onChange=${(e) => setKeys({ within: e.target.value.trim() })} />
      <label class="check"><input type="checkbox" checked=${refused} onChange=${(e) => setKeys({ refused: e.target.checked ? "1" : "" })} /> only what is refused</label>
      <output class="dim">${data && `${many(data.table, "prefix", "prefixes")} in the table`}</output>
    </div>
    <${Trouble} failure=${failure} />
    ${data && html`<${Table} id="r." label="routes" rows=${rows} keyOf=${(r) => [r.prefix, r.partner, r.peer, r.path_id].join()} columns=${routeColumns} empty="no routes" />`}
    ${data?.next && html`<button type="button" onClick=${() => setLimit(Math.min(10_000, limit * 4))}>more prefixes</button>`}`;
}

const turns = { wins: "serving", spare: "unused", shadow: "unknown", refused: "withdrawn" };

const routeColumns = [
  { title: "Prefix", width: "20%", text: (r) => r.prefix, cell: (r) => html`<a class="quiet" href=${linkTo("partners", r.partner, { within: r.prefix })}><code>${r.prefix}</code></a>` },
  { title: "Verdict", width: "13%", text: (r) => `${r.verdict} ${r.refused ?? ""} ${r.because ?? ""}`, cell: (r) => html`<${Mark} standing=${turns[r.verdict]}>${r.verdict}${r.refused && `: ${r.refused}`}${r.stale && ", stale"}<//>` },
  { title: "Partner", width: "10%", text: (r) => r.partner, cell: (r) => html`<a href=${linkTo("partners", r.partner)}>${r.partner}</a>` },
  { title: "Site", class: "wide", text: (r) => r.site, cell: (r) => html`<${PlaceLink} place=${r.site} />` },
  { title: "Peer", class: "wide", text: (r) => r.peer, cell: (r) => html`<code>${r.peer}</code>` },
  { title: "Origin", class: "wide number", text: (r) => String(r.origin ?? ""), cell: (r) => r.origin ?? "" },
  { title: "Preference", class: "wide number", sort: (r) => r.preference, cell: (r) => r.preference },
  { title: "Path", class: "wide number", sort: (r) => r.path_length, cell: (r) => r.path_length },
  { title: "Because", class: "wide", text: (r) => r.because ?? "", cell: (r) => r.because ?? "" },
];
