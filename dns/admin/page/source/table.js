// A table that is filtered, sorted, walked with the arrow keys, and draws only the rows that can be seen.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "./ui.js";
import { setKeys, useRoute } from "./route.js";
import { count } from "./words.js";

const drawnAll = 60; // tables of at most so many rows are drawn whole
const beyond = 10; // rows that are drawn above and below what can be seen

// Table shows rows. A column is { title, cell, text, sort, class, width }: text is what the filter looks at, and what is
// sorted by unless sort gives something else; the first column's cell holds the row's link. The table keeps its filter
// and order in the keys of the address, which begin with its id. Of all rows those that are given may be the first.
export function Table({ id = "", label, columns, rows, all = rows.length, keyOf, empty = "nothing", filterable = true }) {
  const { query } = useRoute();
  const filter = query.get(id + "q") ?? "";
  const order = query.get(id + "sort") ?? "";
  const texts = useMemo(() => rows.map((row) => textOf(columns, row)), [rows]);
  const shown = useMemo(() => arrange(columns, rows, texts, filter, order), [rows, texts, filter, order]);
  return html`<div class="table">
    ${filterable && html`<${Filter} label=${label} value=${filter} all=${all} shown=${shown.length === rows.length ? all : shown.length}
      onChange=${(value) => setKeys({ [id + "q"]: value })} />`}
    <${Body} label=${label} columns=${columns} rows=${shown} keyOf=${keyOf} order=${order}
      onOrder=${(value) => setKeys({ [id + "sort"]: value })} />
    ${shown.length === 0 && html`<p class="dim none">${rows.length === 0 ? empty : `none of ${count(rows.length)} has “${filter}”`}</p>`}
  </div>`;
}

function textOf(columns, row) {
  return columns.map((c) => c.text?.(row) ?? "").join(" ").toLowerCase();
}

// arrange gives the rows that have every word of the filter, in the order that is wanted: -2 is by the third column, the
// greatest first.
function arrange(columns, rows, texts, filter, order) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = words.length === 0 ? rows.slice() : rows.filter((_, i) => words.every((word) => texts[i].includes(word)));
  const column = columns[Math.abs(parseInt(order, 10))];
  if (!column) return chosen;
  const value = column.sort ?? column.text;
  const turn = order.startsWith("-") ? -1 : 1;
  return chosen.sort((a, b) => turn * compare(value(a), value(b)));
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function Filter({ label, value, all, shown, onChange }) {
  return html`<div class="filter">
    <input type="search" aria-label=${`filter ${label}`} placeholder="filter" value=${value} autocomplete="off" spellcheck=${false}
      onInput=${(event) => onChange(event.target.value)} />
    <output class="dim" aria-live="polite">${shown === all ? count(all) : `${count(shown)} of ${count(all)}`}</output>
  </div>`;
}

function Body({ label, columns, rows, keyOf, order, onOrder }) {
  const box = useRef(null);
  const [from, to, row] = useSeen(box, rows.length);
  const walk = useWalk(box, rows.length, row);
  return html`<div class="box" ref=${box} role="region" aria-label=${label} tabindex=${rows.length > drawnAll ? 0 : undefined}>
    <table aria-rowcount=${rows.length + 1} onKeyDown=${walk}>
      <caption class="unseen">${label}</caption>
      <colgroup>${columns.map((c) => html`<col key=${c.title} class=${c.class} style=${c.width ? { width: c.width } : undefined} />`)}</colgroup>
      <thead><tr aria-rowindex="1">${columns.map((c, i) => html`<${Head} key=${c.title} column=${c} at=${i} order=${order} onOrder=${onOrder} />`)}</tr></thead>
      <tbody>
        ${from > 0 && html`<tr class="gap" key="above" aria-hidden="true"><td colspan=${columns.length} style=${{ height: `${from * row}px` }}></td></tr>`}
        ${rows.slice(from, to).map((r, i) => html`<tr key=${keyOf(r)} data-row=${from + i} aria-rowindex=${from + i + 2}>
          ${columns.map((c, n) => html`<${n === 0 ? "th" : "td"} key=${c.title} scope=${n === 0 ? "row" : undefined} class=${c.class}>${c.cell(r)}<//>`)}
        </tr>`)}
        ${to < rows.length && html`<tr class="gap" key="below" aria-hidden="true"><td colspan=${columns.length} style=${{ height: `${(rows.length - to) * row}px` }}></td></tr>`}
      </tbody>
    </table>
  </div>`;
}

function Head({ column, at, order, onOrder }) {
  const now = order === String(at) ? "ascending" : order === "-" + at ? "descending" : "none";
  const next = { none: String(at), ascending: "-" + at, descending: "" }[now];
  const arrow = { none: "", ascending: " ↑", descending: " ↓" }[now];
  if (!column.text && !column.sort) return html`<th scope="col" class=${column.class}>${column.title}</th>`;
  return html`<th scope="col" class=${column.class} aria-sort=${now}>
    <button type="button" onClick=${() => onOrder(next)}>${column.title}${arrow}</button>
  </th>`;
}

// useSeen gives the first and the last row that are to be drawn, and the height of one.
function useSeen(box, rows) {
  const [seen, setSeen] = useState({ top: 0, height: 800 });
  const row = rowHeight();
  useEffect(() => {
    const look = () => setSeen({ top: box.current.scrollTop, height: box.current.clientHeight });
    look();
    box.current.addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      box.current?.removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [rows]);
  if (rows <= drawnAll) return [0, rows, row];
  const from = Math.max(0, Math.min(Math.floor(seen.top / row), rows) - beyond);
  return [from, Math.min(rows, Math.ceil((seen.top + seen.height) / row) + beyond), row];
}

function rowHeight() {
  return parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 32;
}

// useWalk moves the focus from the link of one row to that of another, wherever that is.
function useWalk(box, rows, row) {
  const [wanted, setWanted] = useState(null);
  useLayoutEffect(() => {
    if (wanted === null) return;
    const link = box.current.querySelector(`[data-row="${wanted}"] a`);
    if (link) {
      link.focus({ preventScroll: rows > drawnAll });
      setWanted(null);
    }
  });
  return (event) => {
    const at = event.target.closest("[data-row]");
    if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(box.current.clientHeight / row) - 2);
    const now = Number(at.dataset.row);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, PageDown: now + page, PageUp: now - page, Home: 0, End: rows - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(rows - 1, to));
    show(box.current, next, row);
    setWanted(next);
  };
}

// show scrolls so that a row can be seen, below the head.
function show(box, at, row) {
  if (at * row < box.scrollTop) box.scrollTop = at * row;
  const under = (at + 2) * row - box.clientHeight;
  if (under > box.scrollTop) box.scrollTop = under;
}
