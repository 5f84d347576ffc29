// The table of services.
import { useLoad } from "./live.js";
import { Table } from "./table.js";
import { html, Mark, PlaceLink, ServiceLink, Title, Trouble, Waiting } from "./ui.js";
import { count, grave, percent } from "./words.js";

const every = 10_000; // milliseconds between two looks at all services; events shorten it

// Services shows all services with how their places stand.
export function Services({ live, query }) {
  const asIs = !query.get("q") && !query.get("sort"); // the first rows are those that are seen first
  const { data, failure } = useLoad(live, (show) => live.api.all("/v1/services", "services", asIs ? show : undefined), "services", every);
  if (!data) return html`<${Title}>Services<//><${Waiting} failure=${failure} />`;
  return html`<${Title}>Services<//>
    <${Trouble} failure=${failure} />
    ${data.next && !data.part && html`<p class="trouble">There are more than the ${count(data.services.length)} that are shown.</p>`}
    <${Table} label="services" columns=${columns} rows=${data.services} all=${data.total} keyOf=${(s) => s.service} empty="no services in the configuration" />`;
}

// standingOf is the gravest thing about a service: that nobody serves it, or the worst standing of its places.
function standingOf(s) {
  if (!s.served) return "unserved";
  return grave.find((g) => s.places.some((p) => p.standing === g)) ?? "unused";
}

const order = ["unserved", ...grave];

const columns = [
  { title: "Service", width: "16%", text: (s) => s.service, cell: (s) => html`<${ServiceLink} service=${s.service} />` },
  { title: "Standing", width: "15%", text: standingOf, sort: (s) => order.indexOf(standingOf(s)), cell: (s) => html`<${Standing} of=${s} />` },
  { title: "Places", class: "wide", width: "33%", text: (s) => s.places.map((p) => `${p.place} ${p.standing}`).join(" "), sort: (s) => s.places.length, cell: (s) => html`<${Members} of=${s} />` },
  { title: "Answers", class: "number", width: "10%", sort: (s) => s.given, cell: (s) => count(s.given) },
  { title: "Names", class: "wide", width: "20%", text: (s) => s.names.join(" "), cell: (s) => html`<span title=${s.names.join(", ")}>${s.names.join(", ")}</span>` },
  { title: "TTL", class: "wide number", width: "6%", sort: (s) => s.ttl, cell: (s) => `${s.ttl}s` },
];

function Standing({ of }) {
  const standing = standingOf(of);
  if (standing === "unserved") return html`<${Mark} standing="withdrawn">unserved<//>`;
  const some = of.places.filter((p) => p.standing === standing).length;
  return html`<${Mark} standing=${standing}>${standing}${some < of.places.length ? ` ${some}/${of.places.length}` : ""}<//>`;
}

const shown = 4; // places of a service in its row: the gravest, then those that are given most

function Members({ of }) {
  const sorted = of.places.slice().sort((a, b) => grave.indexOf(a.standing) - grave.indexOf(b.standing) || b.share - a.share);
  return html`<span class="members">${sorted.slice(0, shown).map((p) => html`<span key=${p.place}><${Mark} standing=${p.standing}><${PlaceLink} place=${p.place} /> ${of.given > 0 && percent(p.share)}<//></span>`)}
    ${sorted.length > shown && html`<span class="dim">+${sorted.length - shown}</span>`}</span>`;
}
