// Answers a second by place, since the page was opened.
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { html } from "./ui.js";
import { rate } from "./words.js";

const lines = 5; // places with a line of their own; the others share one
const dashes = [[], [6, 3], [2, 3], [9, 3, 2, 3], [1, 4], [4, 6]];
const height = 250;

// Chart draws the rates between the samples, with a legend that tells the newest.
export function Chart({ samples }) {
  const box = useRef(null);
  const plot = useRef(null);
  const dark = useDark();
  const series = seriesOf(samples);
  const names = samples.length < 3 ? "" : series.map((s) => s.name).join("\n"); // two rates make a line
  useEffect(() => {
    if (names === "") return undefined;
    const into = box.current;
    const drawn = new uPlot(optionsOf(names.split("\n"), into), dataOf(samples, series), into);
    const fit = new ResizeObserver(([seen]) => drawn.setSize({ width: seen.contentRect.width, height }));
    fit.observe(into);
    plot.current = drawn;
    return () => {
      fit.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [names, dark]);
  useEffect(() => plot.current?.setData(dataOf(samples, series)), [samples]);
  return html`<div class="chart">
    <div ref=${box} class="plot" aria-hidden="true"></div>
    <ul class="legend" aria-label="answers a second">${series.map((s, i) => html`<li key=${s.name}>
      <svg viewBox="0 0 28 4" width="28" height="4" aria-hidden="true"><path class="line-${i}" d="M0 2h28" stroke-dasharray=${dashes[i].join(" ")} /></svg>
      ${s.name} <b>${rate(s.rates.at(-1) ?? 0)}</b></li>`)}
    </ul>
    ${samples.length < 3 && html`<p class="dim">the lines come in a moment</p>`}
  </div>`;
}

// seriesOf gives the places that were given most, and one series for the rest.
function seriesOf(samples) {
  const newest = samples.at(-1);
  if (!newest) return [];
  const first = samples[0].given;
  const places = Object.keys(newest.given);
  const grown = (place) => newest.given[place] - (first[place] ?? 0);
  const total = (place) => newest.given[place];
  const order = places.slice().sort((a, b) => grown(b) - grown(a) || total(b) - total(a));
  const own = order.length <= lines + 1 ? places : order.slice(0, lines).sort();
  const series = own.map((name) => ({ name, places: [name] }));
  if (own.length < places.length) series.push({ name: "others", places: order.slice(lines) });
  return series.map((s) => ({ ...s, rates: ratesOf(samples, s.places) }));
}

// ratesOf gives the answers a second from each sample to the next. A count that fell is that of a server begun anew.
function ratesOf(samples, places) {
  return samples.slice(1).map((now, i) => {
    const before = samples[i];
    const grown = places.reduce((sum, p) => sum + Math.max(0, (now.given[p] ?? 0) - (before.given[p] ?? 0)), 0);
    return grown / Math.max(0.1, now.at - before.at);
  });
}

function dataOf(samples, series) {
  return [samples.slice(1).map((s) => s.at), ...series.map((s) => s.rates)];
}

function optionsOf(names, box) {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
  const time = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  return {
    width: box.clientWidth || 300, height, legend: { show: false }, cursor: { show: false }, padding: [8, 8, 0, 0],
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    axes: [
      { ...axis, space: 90, values: (_, at) => at.map((t) => time.format(t * 1000)) },
      { ...axis, size: 46, values: (_, at) => at.map((n) => (Number.isInteger(n) ? String(n) : n.toFixed(1))) },
    ],
    series: [{}, ...names.map((label, i) => ({ label, stroke: colour(`--line-${i}`), width: 2, dash: dashes[i], points: { show: false } }))],
  };
}

// useDark follows whether the browser wants a dark page: a canvas does not see that by itself.
function useDark() {
  const [query] = useState(() => matchMedia("(prefers-color-scheme: dark)"));
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const turn = () => setDark(query.matches);
    query.addEventListener("change", turn);
    return () => query.removeEventListener("change", turn);
  }, []);
  return dark;
}
