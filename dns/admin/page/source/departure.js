// How far a drained place has been left: what is measured, and apart from it what a model says.
import { useLoad } from "./live.js";
import { Facts, html, Mark, Trouble } from "./ui.js";
import { clockOf, count, many, percent, since, span } from "./words.js";

const every = 3000;
const wide = 320;
const tall = 56;
const steps = 9; // points of the model that are drawn: until eight times the time in which most users leave

// Departure watches a place that is drained.
export function Departure({ live, place }) {
  const { data: d, failure } = useLoad(live, () => live.api.get("/v1/drains/" + encodeURIComponent(place)), "departure " + place, every);
  if (!d) return html`<${Trouble} failure=${failure} />`;
  const now = live.api.now();
  return html`<div class="departure">
    <p>${d.safe_to_power_off ? html`<${Mark} standing="serving"><b>Safe to power off</b>: ${d.because}<//>` : html`<${Mark} standing="unknown">Not known to be safe to power off: ${d.because}<//>`}</p>
    <${Facts} of=${[
      ["answers", d.given === 0 ? "none has given it since" : html`<${Mark} standing="withdrawn">${many(d.given, "answer")} gave it since: nobody else serves<//>`],
      ["caches", cachesOf(d.expired, now)], ["clients", clientsOf(d.clients)], ["load", loadOf(d.load, now)],
    ]} />
    <${Forecast} of=${d.forecast} now=${now} />
  </div>`;
}

function cachesOf(expired, now) {
  if (!expired) return "";
  const left = (Date.parse(expired) - now) / 1000;
  return left > 0 ? `those that keep to the TTL have it for another ${span(left)}` : `those that keep to the TTL forgot it ${since(expired, now)} ago`;
}

function clientsOf({ had, moved, share }) {
  if (had === 0) return "none that is remembered had been given it in the hour before";
  return `${count(moved)} of ${many(had, "network")} that had been given it have been given another place since (${percent(moved / had)}; one in ${share} is remembered)`;
}

function loadOf({ endpoints, measured, total, reports }, now) {
  if (measured === 0) return "not measured: no check of it tells one";
  const newest = reports.map((r) => r.at).sort().at(-1);
  return `${total} measured, told by ${measured} of ${many(endpoints, "endpoint")}, the newest ${since(newest, now)} ago`;
}

// Forecast draws the line of the model, dashed since nobody measured it, and where it is now.
function Forecast({ of, now }) {
  const points = of.points.slice(0, steps);
  if (points.length < 2) return null;
  const [first, last] = [points[0], points.at(-1)].map((p) => Date.parse(p.at));
  const x = (at) => (wide * (at - first)) / (last - first);
  const y = (left) => 2 + (tall - 4) * (1 - left);
  const line = points.map((p) => `${x(Date.parse(p.at)).toFixed(1)} ${y(p.left).toFixed(1)}`).join("L");
  return html`<figure class="forecast">
    <svg viewBox="0 0 ${wide} ${tall}" width=${wide} height=${tall} role="img" aria-label="forecast of a model: ${percent(of.now)} of the users may still come">
      <path class="floor" d="M0 ${tall - 1}h${wide}" /><path class="model" d="M${line}" />
      ${now < last && html`<circle cx=${x(now)} cy=${y(of.now)} r="4" />`}
    </svg>
    <figcaption class="dim" title=${of.model}>${percent(of.now)} of the users may still come, ${percent(points.at(-1).left)} at ${clockOf(points.at(-1).at, now)}: a model, not a measurement</figcaption>
  </figure>`;
}
