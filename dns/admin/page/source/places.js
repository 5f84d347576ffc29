// The places: all of them, and one with what it does for each service.
import { Checks } from "./checks.js";
import { useLive, useLoad } from "./live.js";
import { linkTo } from "./route.js";
import { Table } from "./table.js";
import { Facts, html, Mark, Panel, PlaceLink, ServiceLink, Title, Trouble, Waiting } from "./ui.js";
import { count, grave, many, marginOf, percent, since, tally, verdictOf } from "./words.js";

// Places shows all places.
export function Places({ live }) {
  const { places, failure } = useLive(live);
  return html`<${Title}>Places<//>${places ? html`<${PlaceTable} places=${places.places} />` : html`<${Waiting} failure=${failure} />`}`;
}

const columns = [
  { title: "Place", width: "16%", text: (p) => p.place, cell: (p) => html`<${PlaceLink} place=${p.place} />` },
  { title: "Standing", width: "18%", text: (p) => p.standing, sort: (p) => grave.indexOf(p.standing), cell: (p) => html`<${Mark} standing=${p.standing} />` },
  { title: "For services", class: "wide", width: "24%", text: (p) => tally(p.services), cell: (p) => tally(p.services) },
  { title: "Answers", class: "number", width: "13%", sort: (p) => p.given, cell: (p) => html`<${Share} of=${p.share} />` },
  { title: "Up", class: "number", width: "12%", text: (p) => `${p.up}/${p.endpoints}`, sort: (p) => p.endpoints - p.up, cell: (p) => `${count(p.up)} of ${count(p.endpoints)}` },
  { title: "Kind", class: "wide", width: "17%", text: (p) => kindOf(p), cell: kindOf },
];

function kindOf(p) {
  return p.kind + (p.partners.length > 0 ? ` ⇄ ${p.partners.join(", ")}` : "");
}

// PlaceTable is the table of places.
export function PlaceTable({ id, places }) {
  return html`<${Table} id=${id} label="places" columns=${columns} rows=${places} keyOf=${(p) => p.place} empty="no places in the configuration" />`;
}

// Share is a share of answers as a bar and a number.
export function Share({ of }) {
  return html`<span class="share"><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="of" width="100" height="8" /><rect width=${100 * of} height="8" /></svg>${percent(of)}</span>`;
}


// Place shows one place, and its endpoints for each service with their windows.
export function Place({ live, part }) {
  const { places, failure } = useLive(live);
  const place = places?.places.find((p) => p.place === part);
  const loaded = useLoad(live, () => live.api.all(`/v1/endpoints?place=${encodeURIComponent(part)}`, "endpoints"), "place " + part, 4000);
  if (!places) return html`<${Title}>${part}<//><${Waiting} failure=${failure} />`;
  if (!place) return html`<${Title}>${part}<//><p>The configuration has no place of this name. <a href=${linkTo("places")}>All places</a></p>`;
  return html`<${Title}>${part}<//>
    <${PlaceFacts} place=${place} />
    <p><a class="button" href=${linkTo("drains", "", { place: part })}>Drain ${part} …</a></p>
    <${Panel} title="Endpoints">
      <${Trouble} failure=${loaded.failure} />
      ${loaded.data ? html`<${EndpointTable} label="endpoints of ${part}" endpoints=${loaded.data.endpoints} first="service" now=${live.api.now()} />` : html`<${Waiting} failure=${loaded.failure} />`}
    <//>`;
}

function PlaceFacts({ place: p }) {
  return html`<${Facts} of=${[
    ["standing", html`<${Mark} standing=${p.standing} /> <span class="dim">${tally(p.services)}</span>`],
    ["answers", `${percent(p.share)}, ${count(p.given)} since the start`],
    ["endpoints", `${count(p.up)} of ${count(p.endpoints)} up`],
    ["kind", p.kind + (p.partners_only ? ", only for its partners’ clients" : "")],
    ["partners", p.partners.length > 0 && p.partners.map((name, i) => html`${i > 0 && ", "}<a href=${linkTo("partners", name)}>${name}</a>`)],
    ["location", p.location && p.location.map((d) => d.toFixed(2)).join(", ")],
    ["weight", p.weight], ["capacity", p.capacity ? count(p.capacity) : ""],
    ["coming back", p.ramps > 0 && `for ${many(p.ramps, "service")}, step by step`],
    ["drains", p.drains.length > 0 && p.drains.map((d, i) => html`${i > 0 && "; "}${d.service || "every service"}${d.reason && `: ${d.reason}`}${d.by && `, by ${d.by}`}`)],
  ]} />`;
}

// EndpointTable shows endpoints with their windows; first says whether a row begins with the service or the place.
export function EndpointTable({ label, endpoints, first, now }) {
  const lead = first === "service"
    ? { title: "Service", width: "13%", text: (e) => e.service, cell: (e) => html`<${ServiceLink} service=${e.service} />` }
    : { title: "Place", width: "13%", text: (e) => e.place, cell: (e) => html`<${PlaceLink} place=${e.place} />` };
  return html`<${Table} id="e." label=${label} rows=${endpoints} keyOf=${(e) => `${e.service}/${e.place}/${e.address}`} empty="no endpoints" columns=${[
    lead,
    { title: "Address", class: "wide", width: "15%", text: (e) => e.address, cell: (e) => html`<code>${e.address}</code>` },
    { title: "Verdict", width: "17%", text: verdictOf, sort: (e) => [e.verdict === "withdrawn" ? 0 : 1, -e.failed].join(), cell: (e) => html`<${Mark} standing=${e.check ? e.verdict : "unused"}>${verdictOf(e)}<//>` },
    { title: "Last checks", width: "17%", sort: (e) => -e.failed, cell: (e) => html`<${Checks} endpoint=${e} />` },
    { title: "How near", class: "wide", width: "16%", text: marginOf, cell: (e) => html`<span title=${marginOf(e)}>${marginOf(e)}</span>` },
    { title: "Last cause", class: "wide", width: "15%", text: (e) => e.cause ?? "", cell: (e) => html`<span title=${e.cause}>${e.cause ?? ""}</span>` },
    { title: "Since", class: "wide number", width: "7%", sort: (e) => Date.parse(e.since) || 0, cell: (e) => since(e.since, now) },
  ]} />`;
}
