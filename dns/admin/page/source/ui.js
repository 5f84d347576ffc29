// The small parts that all views are made of.
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import htm from "htm";
import { linkTo } from "./route.js";
import { about } from "./words.js";

// html makes elements from templates.
export const html = htm.bind(h);

// shapes draw the standings, so that nobody needs to tell their colours apart.
const shapes = {
  serving: html`<circle cx="6" cy="6" r="5" />`,
  unknown: html`<circle class="hollow" cx="6" cy="6" r="4.4" />`,
  withdrawn: html`<path class="stroke" d="M2 2 10 10M10 2 2 10" />`,
  drained: html`<path d="M.5 1.5h11L6 11z" />`,
  unused: html`<path class="stroke thin" d="M2 6h8" />`,
};
const like = { up: "serving", down: "withdrawn", established: "serving" };

// shapeOf gives the form of a standing, a verdict or the state of a session.
export function shapeOf(standing) {
  return shapes[standing] ?? shapes[like[standing]] ?? shapes.unknown;
}

// colourOf gives the class of its colour.
export function colourOf(standing) {
  return "is-" + (shapes[standing] ? standing : like[standing] ?? "unknown");
}

// Mark is a standing as shape and word.
export function Mark({ standing, children }) {
  return html`<span class="mark ${colourOf(standing)}" title=${about[standing]}>
    <svg class="shape" viewBox="0 0 12 12" aria-hidden="true">${shapeOf(standing)}</svg>${children ?? standing}
  </span>`;
}

// PlaceLink leads to a place.
export function PlaceLink({ place }) {
  return html`<a href=${linkTo("places", place)}>${place}</a>`;
}

// ServiceLink leads to a service.
export function ServiceLink({ service }) {
  return html`<a href=${linkTo("services", service)}>${service}</a>`;
}

// Title is what a view begins with. It takes the focus when the view opens, so that the keyboard goes on from there.
export function Title({ children, of }) {
  const heading = useRef(null);
  useEffect(() => {
    document.title = `${of ?? children} · gslb`;
    if (document.activeElement === document.body || document.activeElement?.closest("main, nav")) {
      heading.current.focus({ preventScroll: true });
    }
    scrollTo(0, 0);
  }, [of ?? children]);
  return html`<h1 ref=${heading} tabindex="-1">${children}</h1>`;
}

// Panel is a part of a view with a heading.
export function Panel({ title, aside, class: name = "", children }) {
  return html`<section class="panel ${name}" aria-label=${title}>
    <header><h2>${title}</h2>${aside}</header>
    ${children}
  </section>`;
}

// Trouble tells that something could not be loaded; what was loaded before is still shown.
export function Trouble({ failure }) {
  return failure && html`<p class="trouble" role="alert"><${Mark} standing="withdrawn">${failure.message}<//></p>`;
}

// Waiting stands where something will be.
export function Waiting({ failure }) {
  return failure ? html`<${Trouble} failure=${failure} />` : html`<p class="dim">asking the server …</p>`;
}

// Facts is a list of words and what they are.
export function Facts({ of }) {
  const rows = of.filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  return html`<dl class="facts">${rows.map(([word, value]) => html`<div key=${word}><dt>${word}</dt><dd>${value}</dd></div>`)}</dl>`;
}

// Field is a labelled input of a form.
export function Field({ label, hint, children }) {
  return html`<label class="field"><span>${label}</span>${children}${hint && html`<small class="dim">${hint}</small>`}</label>`;
}
