// Where the page is: everything that can be linked to stands behind the # of its address, as #/view/part?key=value.
import { useEffect, useMemo, useState } from "preact/hooks";

const changed = "gslb-route"; // the event when a key has changed without a new entry in the browser's history

// readRoute reads the address.
export function readRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [view, ...part] = path.split("/");
  return { view: view || "overview", part: part.map(decodeWord).join("/"), query: new URLSearchParams(query) };
}

function decodeWord(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand
  }
}

// linkTo writes an address. Keys without a value are left out.
export function linkTo(view, part = "", query = {}) {
  const keys = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString();
  return "#/" + view + (part ? "/" + encodeURIComponent(part) : "") + (keys ? "?" + keys : "");
}

// go leads to another address.
export function go(href) {
  location.hash = href;
}

// setKeys changes keys of the address that the page is at.
export function setKeys(keys) {
  const { view, part, query } = readRoute();
  history.replaceState(null, "", linkTo(view, part, { ...Object.fromEntries(query), ...keys }));
  dispatchEvent(new Event(changed));
}

// useRoute gives where the page is, and follows it.
export function useRoute() {
  const [address, setAddress] = useState(location.hash);
  useEffect(() => {
    const read = () => setAddress(location.hash);
    read(); // it may have changed since this was drawn
    addEventListener("hashchange", read);
    addEventListener(changed, read);
    return () => {
      removeEventListener("hashchange", read);
      removeEventListener(changed, read);
    };
  }, []);
  return useMemo(readRoute, [address]);
}
