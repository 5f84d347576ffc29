// Numbers, times and standings in words, as the command line has them.

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

// span tells a time in seconds by its two greatest units.
export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < minute) return `${s}s`;
  if (s < hour) return pair(s, minute, "m", 1, "s");
  if (s < day) return pair(s, hour, "h", minute, "m");
  return pair(s, day, "d", hour, "h");
}

function pair(seconds, great, greatWord, small, smallWord) {
  const rest = Math.floor((seconds % great) / small);
  return Math.floor(seconds / great) + greatWord + (rest ? ` ${rest}${smallWord}` : "");
}

// millis tells how long a probe took, given in seconds.
export function millis(seconds) {
  const ms = seconds * 1000;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

// since tells how long ago a time of the server was; "" when there is none.
export function since(time, now) {
  return time ? span((now - Date.parse(time)) / 1000) : "";
}

// clockOf writes a time as this machine's clock shows it, with the day where that is another one.
export function clockOf(time, now) {
  const at = new Date(time);
  const clock = at.toLocaleTimeString([], { hour12: false });
  return at.toDateString() === new Date(now).toDateString() ? clock : `${dayOf(at)} ${clock}`;
}

function dayOf(at) {
  const two = (n) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

// count writes a whole number with its thousands apart.
export function count(n) {
  return Number(n).toLocaleString("en-GB").replaceAll(",", "\u202f");
}

// many writes a number and what it counts.
export function many(n, one, several = one + "s") {
  return `${count(n)} ${n === 1 ? one : several}`;
}

// percent writes a share; what is little is not written as nothing.
export function percent(share) {
  const p = 100 * share;
  if (p > 0 && p < 1) return "<1 %";
  return `${Math.round(p)} %`;
}

// rate writes how many a second.
export function rate(n) {
  return n < 10 ? n.toFixed(1) : count(Math.round(n));
}

// grave are the standings from the one that is looked at first to the best.
export const grave = ["withdrawn", "drained", "unknown", "serving", "unused"];

// about explains a standing.
export const about = {
  serving: "given to clients",
  unknown: "given to clients; not checked yet",
  withdrawn: "not given: too few healthy endpoints",
  drained: "not given: drained by an operator",
  unused: "no service has it",
};

// tally tells how many services a place has of each standing, the grave ones first.
export function tally(services) {
  const words = grave.filter((g) => services[g] > 0).map((g) => `${count(services[g])} ${g}`);
  return words.join(", ") || "no services";
}

// verdictOf tells in words what the checks say of an endpoint, and how far it is from the next turn.
export function verdictOf(e) {
  if (!e.check) return "not checked";
  const words = [e.verdict];
  if (e.state) words.push(`${e.state} by hand`);
  if (e.held) words.push("held by the brake");
  else if (e.degraded) words.push("degraded");
  return words.join(", ");
}

// marginOf tells what the window lacks to its next turn; "" when nothing points that way.
export function marginOf(e) {
  if (!e.check || !e.window) return "";
  if (e.verdict === "withdrawn") {
    return e.succeeding > 0 ? `${e.succeeding} good in a row, back at ${e.rise}` : `${e.failed} of ${e.results} failed`;
  }
  return e.failed > 0 ? `${e.failed} of ${e.window} failed, out at ${e.fall}` : "";
}
