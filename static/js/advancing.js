// After a decision the next request opens by itself, and says what became of the last one; "u" leads
// back to that. It can be switched off, which this browser remembers. Without this file the bar has
// a link to the next request.

import { announce } from "./announcing.js";
import { closest, find, findAll, need } from "./dom.js";
import { openId, openRequest } from "./opening.js";
import { fetched, paced } from "./pacing.js";
import { onceLifted } from "./pressing.js";

const STORED = "approvals:open-next"; // "off", or nothing
const bar = () => document.getElementById("request-bar");
const place = () => document.getElementById("last-decision");
const isOn = () => localStorage.getItem(STORED) !== "off";
const refresh = paced(fetchLast, 0);
const SHOWN_FOR_MS = 10_000;
let timer = 0; // until the line about the last request goes
/** @type {HTMLElement | null} */
let answered = null; // the bar that said so
/**
 * A request that was answered here, and the line that says so.
 *
 * @typedef {{id?: string, page: string, bar: string, title: Node[], opens: boolean, place?: HTMLElement | null}} Answered
 */

/** @type {Answered | null} */
let last = null;

/** Have every switch say what is remembered. */
function showSwitches() {
  for (const label of findAll(document, ".goes-on-switch", HTMLElement)) {
    label.hidden = false;
    need(label, "input", HTMLInputElement).checked = isOn();
  }
}

/**
 * @param {Partial<HtmxAnswer>} swap
 * @returns {boolean} whether what was asked for is the end of the work on this request
 */
function isAnswer({ target, elt, requestConfig }) {
  if (target?.id !== "request-bar" || requestConfig?.verb !== "post") return false;
  return Boolean((requestConfig.elt ?? elt)?.matches("#request-bar :is(.decide, .signing, .snooze form)"));
}

/**
 * An answer of the server was swapped in. It is heard of now: by the time that it is settled, what the
 * agent reported meanwhile may have replaced the bar, and nothing is said of a bar that is gone.
 *
 * @param {HtmxEvent} event
 */
function swapped(event) {
  if (!isAnswer(event.detail)) return;
  const now = bar();
  if (!now?.querySelector("[data-after]") || answered === now) return; // refused: still to be answered
  answered = now; // htmx says so once for each part that it swapped
  const opens = isOn() && now.querySelector(".goes-on") !== null;
  const request = need(document, "#request", HTMLElement);
  const title = [...need(request, "#request-title > span", HTMLElement).childNodes];
  last = { id: request.dataset.id, page: location.pathname, bar: now.dataset.url ?? "", title, opens };
  if (last.opens) onceLifted(() => goOn(request));
}

/** @param {HtmxEvent} event */
function settled(event) {
  showSwitches();
  if (event.detail.target?.id === "pane") arrived();
}

/**
 * The bar may be another by now: what the agent did since is news as well.
 *
 * @param {Element} request - which was answered
 */
function goOn(request) {
  if (request.isConnected) find(document, "#request-bar .goes-on", HTMLElement)?.click();
}

/** The next request is open: say above its buttons which one was decided, and what became of it. */
function arrived() {
  clearTimeout(timer);
  const line = place();
  if (!line) return;
  line.hidden = true;
  if (last) last.place = null;
  if (!last?.opens) return;
  last.opens = false;
  last.place = line;
  refresh(true);
}

async function fetchLast() {
  const asked = last;
  const line = asked?.place;
  if (!asked || !line?.isConnected) return;
  const what = need(line, ".last-what", HTMLElement);
  const before = what.textContent;
  await fetched(line, asked.bar, { target: what, select: ".last-words" });
  if (asked !== last || !asked.place || !what.firstElementChild) return;
  if (what.textContent === before && !line.hidden) return;
  showLast(line, asked);
}

/**
 * @param {HTMLElement} line
 * @param {Answered} answered - what it is about
 */
function showLast(line, { title, page }) {
  need(line, ".last-name", HTMLElement).replaceChildren(...title.map((node) => node.cloneNode(true)));
  need(line, ".last-back", HTMLAnchorElement).href = page;
  const isFirst = line.hidden;
  line.hidden = false;
  if (isFirst) timer = setTimeout(goAway, SHOWN_FOR_MS);
  announce(need(line, ".last-said", HTMLElement).textContent);
}

/** The line is gone after a while, unless somebody is about to press what it offers; "u" leads back. */
function goAway() {
  const line = last?.place;
  if (!last || !line) return;
  if (line.matches(":hover, :focus-within")) {
    timer = setTimeout(goAway, SHOWN_FOR_MS);
    return;
  }
  line.hidden = true;
  last.place = null;
}

/** Open the request that was answered last once more. */
export function goBack() {
  if (last && last.id !== openId()) openRequest(last.page);
}

document.addEventListener("htmx:afterSwap", swapped);
document.addEventListener("htmx:afterSettle", settled);
document.addEventListener("live:changed", (event) => event.detail.id === last?.id && refresh());
document.addEventListener("live:caught-up", () => refresh());
document.addEventListener("change", (event) => {
  const box = closest(event.target, ".goes-on-box", HTMLInputElement);
  if (!box) return;
  if (box.checked) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, "off");
  showSwitches();
});
showSwitches();
