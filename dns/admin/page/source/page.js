// Where the page begins.
import { render } from "preact";
import { App } from "./app.js";
import { html } from "./ui.js";

render(html`<${App} />`, document.body);
