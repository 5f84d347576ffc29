// The window of an endpoint, drawn as its last checks.
import { html } from "./ui.js";
import { marginOf, millis, verdictOf } from "./words.js";

const cell = 9; // its width, with the space after it
const tall = 20;
const low = 4; // the least height of a check that succeeded
export const recent = 20; // how many checks a row shows

// Checks draws the last results of an endpoint, oldest first: one that succeeded is a bar, as high as the probe took
// long; one that failed is a cross in a box; one that has not been made is a dot.
export function Checks({ endpoint, last = recent }) {
  if (!endpoint.check) return html`<span class="dim">not checked</span>`;
  const results = (endpoint.last ?? "").slice(-last).split("");
  const took = (endpoint.took ?? []).slice(-results.length);
  const times = Array(results.length - took.length).fill(0).concat(took);
  const cells = Array(Math.min(last, endpoint.window) - results.length).fill("").concat(results);
  const before = cells.length - results.length;
  const longest = Math.max(0.001, ...took);
  return html`<svg class="checks" viewBox="0 0 ${cells.length * cell} ${tall}" width=${cells.length * cell} height=${tall} role="img"
      aria-label=${wordsOf(endpoint, results)}>
    ${cells.map((result, i) => draw(result, i * cell, times[i - before] / longest, times[i - before]))}
  </svg>`;
}

function draw(result, x, part, took) {
  const wide = cell - 1.5;
  if (result === "") return html`<circle class="none" cx=${x + wide / 2} cy=${tall - 2} r="1.2" />`;
  if (result === "0") {
    return html`<g class="bad"><rect x=${x} y="0" width=${wide} height=${tall} rx="1.5" />
      <path d="M${x + 1.6} ${tall / 2 - 2.6}l4.3 5.2m0-5.2l-4.3 5.2" /><title>failed${took ? " after " + millis(took) : ""}</title></g>`;
  }
  const height = low + (tall - low - 4) * (took ? part : 0.4);
  return html`<g class="good"><rect x=${x} y=${tall - height} width=${wide} height=${height} rx="1" />
    <title>succeeded${took ? " in " + millis(took) : ""}</title></g>`;
}

// wordsOf tells the drawing to who cannot see it.
function wordsOf(endpoint, results) {
  const failed = results.filter((r) => r === "0").length;
  const told = results.length === 0 ? "no check made yet" : `last ${results.length} checks: ${failed} failed, the newest ${results.at(-1) === "0" ? "failed" : "succeeded"}`;
  return [told, verdictOf(endpoint), marginOf(endpoint)].filter(Boolean).join("; ");
}
