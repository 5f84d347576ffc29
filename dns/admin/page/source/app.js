// The frame around the views: where to go, whether what is shown is so now, and the door when a token is wanted.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { createAPI } from "./api.js";
import { createLive, useClock, useLive } from "./live.js";
import { linkTo, useRoute } from "./route.js";
import { Field, html, Mark, Title, Waiting } from "./ui.js";
import { many, span } from "./words.js";
import { Overview } from "./overview.js";
import { Services } from "./services.js";
import { Service } from "./service.js";
import { Place, Places } from "./places.js";
import { Why } from "./why.js";
import { Drains } from "./drains.js";
import { Partners } from "./partners.js";
import { Journal } from "./journal.js";

const views = [
  { name: "overview", title: "Overview", show: Overview },
  { name: "services", title: "Services", show: Services, part: Service },
  { name: "places", title: "Places", show: Places, part: Place },
  { name: "why", title: "Why", show: Why },
  { name: "drains", title: "Drains", show: Drains },
  { name: "partners", title: "Partners", show: Partners, part: Partners },
  { name: "journal", title: "Journal", show: Journal },
];

const old = 6000; // milliseconds after which what is shown is called old

// App is the whole page.
export function App() {
  const [locked, setLocked] = useState(false);
  const [key, setKey] = useState(0); // another one begins everything anew
  const api = useMemo(() => createAPI(() => setLocked(true)), [key]);
  const live = useMemo(() => createLive(api), [api]);
  useEffect(() => (locked ? undefined : live.run()), [live, locked]);
  useKeys();
  const open = (token) => {
    api.setToken(token);
    setKey(key + 1);
    setLocked(false);
  };
  return html`
    <a class="skip" href="#main" onClick=${toMain}>to the content</a>
    <${Header} live=${live} />
    <main id="main" tabindex="-1">${locked ? html`<${Lock} again=${api.hasToken()} onToken=${open} />` : html`<${View} live=${live} key=${key} />`}</main>
    <${Footer} live=${live} />`;
}

function toMain(event) {
  event.preventDefault(); // the address is where the page is
  document.getElementById("main").focus();
}

function View({ live }) {
  const { view, part, query } = useRoute();
  const { status, failure } = useLive(live);
  const found = views.find((v) => v.name === view);
  if (!found) return html`<${Title}>There is nothing here<//><p><a href=${linkTo("overview")}>to the overview</a></p>`;
  if (!status) return html`<${Title}>${found.title}<//><${Waiting} failure=${failure} />`;
  const Show = part && found.part ? found.part : found.show;
  return html`<${Show} key=${view + "/" + part} live=${live} part=${part} query=${query} />`;
}

function Header({ live }) {
  const { view } = useRoute();
  return html`<header class="top">
    <nav aria-label="views">
      <a class="brand" href=${linkTo("overview")} aria-label="gslb, overview">gslb</a>
      ${views.map((v) => html`<a key=${v.name} href=${linkTo(v.name)} aria-current=${v.name === view ? "page" : undefined}>${v.title}</a>`)}
    </nav>
    <${Freshness} live=${live} />
  </header>`;
}

// Freshness tells whether what is shown is so now.
function Freshness({ live }) {
  const state = useLive(live);
  const now = useClock(live.api);
  const age = now - state.asOf;
  let mark = html`<${Mark} standing="unknown">asking<//>`;
  if (state.failure?.code === 401) {
    mark = html`<${Mark} standing="unknown">locked<//>`;
  } else if (state.failure && (state.asOf === 0 || age > old)) {
    mark = html`<${Mark} standing="withdrawn">${state.failure.message}${state.asOf ? `; what you see is ${span(age / 1000)} old` : ""}<//>`;
  } else if (state.asOf) {
    mark = html`<${Mark} standing="serving">${state.following ? "live" : "up to date"}<//>`;
  }
  return html`<p class="fresh" role="status">${mark}</p>`;
}

// Lock asks for the token, which this tab keeps until it is closed.
function Lock({ again, onToken }) {
  const input = useRef(null);
  useEffect(() => input.current.focus(), []);
  const submit = (event) => {
    event.preventDefault();
    onToken(input.current.value.trim());
  };
  return html`<${Title}>A token is wanted<//>
    <form class="lock" onSubmit=${submit}>
      ${again && html`<p class="trouble" role="alert"><${Mark} standing="withdrawn">The server does not take the token that this tab has.<//></p>`}
      <p>This server shows how it stands to those who have a token. Your browser keeps it until this tab is closed.</p>
      <${Field} label="Token"><input ref=${input} type="password" autocomplete="off" required /><//>
      <button type="submit">Open</button>
    </form>`;
}

function Footer({ live }) {
  const { status } = useLive(live);
  return html`<footer class="bottom dim">
    <p>${status && html`gslb ${status.version} · ${status.answers} · ${status.geo} · up ${span((live.api.now() - Date.parse(status.since)) / 1000)}`}</p>
    <p><span class="keys">Keys: <kbd>/</kbd> filter, <kbd>1</kbd>–<kbd>${views.length}</kbd> views, <kbd>↑</kbd><kbd>↓</kbd> rows · </span>
      <a href="/v1/openapi.json">API</a> · <a href="/page/licenses.txt">licences</a>
      ${status?.totals && html` · ${many(status.totals.services, "service")}`}</p>
  </footer>`;
}

// useKeys lets single keys lead: / to the filter of the view, the numbers to the views.
function useKeys() {
  useEffect(() => {
    const press = (event) => {
      const typing = event.target.closest?.("input, select, textarea");
      if (event.key === "Escape" && typing) event.target.blur();
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "/") {
        event.preventDefault();
        document.querySelector("main input")?.focus();
      }
      const view = views[Number(event.key) - 1];
      if (view) location.hash = linkTo(view.name);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
