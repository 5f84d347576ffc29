// How the page asks the server. Everything it shows comes through here.

// Failure is an answer that is not what was asked for. Its code is the status of HTTP, or 0 when nobody answered.
export class Failure extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

const tokenKey = "gslb-token"; // in the storage of this tab, which forgets it when it is closed
const patience = 10_000; // milliseconds that an answer may take
const pagesMost = 50; // of a list that comes page by page
const pageMost = 1000; // rows of a page: as many as the server gives at once
const seenFirst = 40; // rows of a first page that is waited for: more than a screen shows

// createAPI makes the one door to the server. wantToken is called when the server wants a token that it was not given.
export function createAPI(wantToken) {
  let ahead = 0; // milliseconds that the server's clock is ahead of ours

  function send(method, path, { body, signal, headers = {} } = {}) {
    const token = sessionStorage.getItem(tokenKey);
    if (token) headers.Authorization = "Bearer " + token;
    if (body !== undefined) headers["Content-Type"] = "application/json";
    return fetch(path, {
      method, headers, signal, cache: "no-store", credentials: "omit",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  // accept gives an answer that is what was asked for, and throws any other.
  async function accept(response) {
    if (response.ok) return response;
    if (response.status === 401) wantToken();
    const text = await response.text();
    throw new Failure(messageOf(text) || `the server answers ${response.status}`, response.status);
  }

  async function ask(method, path, body) {
    let response;
    try {
      response = await send(method, path, { body, signal: AbortSignal.timeout(patience) });
    } catch (error) {
      const slow = error.name === "TimeoutError";
      throw new Failure(slow ? `no answer within ${patience / 1000} seconds` : "the server does not answer", 0);
    }
    const date = Date.parse(response.headers.get("Date"));
    const off = date + 500 - Date.now(); // the header has whole seconds
    if (Math.abs(off - ahead) > 1500) ahead = Math.abs(off) > 1500 ? off : 0;
    await accept(response);
    return response.status === 204 ? null : response.json();
  }

  // all gets every page of a list, whose rows stand under a key, and gives the first page with all the rows. When somebody
  // waits to see it, the first page is a short one, which show is given before the others are asked for.
  async function all(path, key, show) {
    const more = (words) => path + (path.includes("?") ? "&" : "?") + words;
    const whole = await ask("GET", show ? more("limit=" + seenFirst) : more("limit=" + pageMost));
    if (show && whole.next) show({ ...whole, part: true });
    let next = whole.next;
    for (let page = 1; next && page < pagesMost; page++) {
      const rest = await ask("GET", more(`limit=${pageMost}&from=${encodeURIComponent(next)}`));
      whole[key] = whole[key].concat(rest[key]);
      next = rest.next;
    }
    return { ...whole, next };
  }

  // follow gives the events of the journal that come after one, as they happen, until the signal or the server ends it.
  // A stream that is read by hand, unlike an EventSource, can show a token.
  async function* follow(last, signal, opened) {
    const headers = last ? { "Last-Event-ID": last } : {};
    const response = await accept(await send("GET", "/v1/events/stream", { signal, headers }));
    opened();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (text + value).split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const data = block.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
        if (data.length > 0) yield JSON.parse(data.join("\n"));
      }
    }
  }

  return {
    get: (path) => ask("GET", path),
    post: (path, body) => ask("POST", path, body),
    remove: (path) => ask("DELETE", path),
    all,
    follow,
    now: () => Date.now() + ahead, // the server's time in milliseconds
    hasToken: () => sessionStorage.getItem(tokenKey) !== null,
    setToken: (token) => sessionStorage.setItem(tokenKey, token),
  };
}

function messageOf(text) {
  try {
    return JSON.parse(text).error;
  } catch {
    return text.trim();
  }
}
