// Why a client gets what it gets, in the words that dig prints.
import { useState } from "preact/hooks";
import { useLoad } from "./live.js";
import { go, linkTo } from "./route.js";
import { Field, html, Title, Trouble, Waiting } from "./ui.js";

const every = 5000;

// Why asks for the reasons of one name and one client, which stand in the address, and keeps them up to date.
export function Why({ live, query }) {
  const asked = { name: query.get("name") ?? "", client: query.get("client") ?? "", type: query.get("type") ?? "" };
  return html`<${Title} of=${asked.name ? `why ${asked.name}` : "Why"}>Why<//>
    <${Ask} key=${JSON.stringify(asked)} asked=${asked} />
    ${asked.name ? html`<${Reasons} live=${live} asked=${asked} />` : html`<p class="dim">Which places were considered for a client, and why each was or was not given. Without a client it is this server’s own machine that asks.</p>`}`;
}

function Ask({ asked }) {
  const [form, setForm] = useState(asked);
  const put = (key) => (event) => setForm({ ...form, [key]: event.target.value.trim() });
  const submit = (event) => {
    event.preventDefault();
    go(linkTo("why", "", form));
  };
  return html`<form class="ask" onSubmit=${submit}>
    <${Field} label="Name"><input name="name" required value=${form.name} onInput=${put("name")} placeholder="www.example.test" autocomplete="off" autocapitalize="none" spellcheck=${false} /><//>
    <${Field} label="Client"><input name="client" value=${form.client} onInput=${put("client")} placeholder="203.0.113.7 or 203.0.113.0/24" autocomplete="off" spellcheck=${false} /><//>
    <${Field} label="Type"><select name="type" value=${form.type} onChange=${put("type")}><option value="">both</option><option>A</option><option>AAAA</option></select><//>
    <button type="submit">Ask</button>
  </form>`;
}

function Reasons({ live, asked }) {
  const keys = new URLSearchParams(Object.entries(asked).filter(([, value]) => value));
  const { data, failure } = useLoad(live, () => live.api.get("/v1/explain?" + keys), "why " + keys, every);
  if (!data) return html`<${Waiting} failure=${failure} />`;
  return html`<${Trouble} failure=${failure} />
    <ol class="reasons" aria-label="reasons">${data.text.map((line, i) => html`<li key=${i} class=${classOf(data.lines[i])}><code>${words(line)}</code></li>`)}</ol>
    <p class="dim">The same from a shell: <code class="wrap">${commandOf(asked, data.lines, live.state.status).split(" ").map((word, i) => html`<span key=${i} class="whole">${word}</span> `)}</code></p>`;
}

// classOf marks the line of a place by its verdict.
function classOf(line) {
  return line.verdict ? "verdict-" + line.verdict : "";
}

// words sets the keys of a line apart from their values. The text stays as it is.
function words(line) {
  const parts = line.match(/[^\s="]+=("(?:[^"\\]|\\.)*"|\S*)|\S+|\s+/g) ?? [line];
  return parts.map((part) => {
    const cut = part.indexOf("=");
    if (cut < 0) return part;
    const [key, value] = [part.slice(0, cut), part.slice(cut + 1)];
    return html`<span class="key">${key}=</span>${valueOf(key, value)}`;
  });
}

function valueOf(key, value) {
  if (key === "place") return html`<a href=${linkTo("places", value)}>${value}</a>`;
  if (key === "service") return html`<a href=${linkTo("services", value)}>${value}</a>`;
  if (key === "partner") return html`<a href=${linkTo("partners", value)}>${value}</a>`;
  return html`<b>${value}</b>`;
}

// commandOf writes the question as a command, whose answer these reasons are. No resolver may name a client such as
// 10.1.2.3, of whom the reasons are told as of one who asks by itself: dig cannot ask for it.
function commandOf(asked, reasons, status) {
  if (asked.client && reasons[0].via === "source") return `gslb explain ${asked.name} --client ${asked.client}`;
  const at = status?.listen?.[0] ?? "";
  const cut = at.lastIndexOf(":");
  const host = at.slice(0, cut).replace(/[[\]]/g, "");
  const door = at ? `@${host} -p ${at.slice(cut + 1)} ` : "";
  return `dig ${door}CH TXT ${asked.name}${asked.client ? ` +subnet=${asked.client}` : ""}`;
}
