// After a decision the next request opens by itself, and says what became of the last one; "u" leads
// back to that. It can be switched off, which this browser remembers. Without this file the bar has
// a link to the next request.

import { announce } from "./announcing.js";
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
let answered = null; // the bar that said so
let last = null; // the request that was answered here last: its id, page, bar and title

/** Have every switch say what is remembered. */
function showSwitches() {
  for (const label of document.querySelectorAll(".goes-on-switch")) {
    label.hidden = false;
    label.querySelector("input").checked = isOn();
  }
}

/** @param {HTMLFormElement} form - whether what it asks for is the end of the work on this request */
const isAnswer = (form) => form?.matches?.("#request-bar :is(.decide, .snooze form)");

/**
 * An answer of the server was swapped in. It is heard of now: by the time that it is settled, what the
 * agent reported meanwhile may have replaced the bar, and nothing is said of a bar that is gone.
 *
 * @param {CustomEvent} event
 */
function swapped(event) {
  const { target, elt, requestConfig } = event.detail;
  if (target?.id !== "request-bar" || requestConfig?.verb !== "post" || !isAnswer(requestConfig.elt ?? elt)) return;
  if (answered === bar() || !bar().querySelector("[data-after]")) return; // refused: still to be answered
  answered = bar(); // htmx says so once for each part that it swapped
  const opens = isOn() && bar().querySelector(".goes-on") !== null;
  const request = document.getElementById("request");
  const title = [...request.querySelector("#request-title > span").childNodes];
  last = { id: request.dataset.id, page: location.pathname, bar: bar().dataset.url, title, opens };
  if (last.opens) onceLifted(() => goOn(request));
}

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
  if (request.isConnected) bar()?.querySelector(".goes-on")?.click();
}

/** The next request is open: say above its buttons which one was decided, and what became of it. */
function arrived() {
  clearTimeout(timer);
  if (!place()) return;
  place().hidden = true;
  if (last) last.place = null;
  if (!last?.opens) return;
  last.opens = false;
  last.place = place();
  refresh(true);
}

async function fetchLast() {
  const asked = last;
  if (!asked?.place?.isConnected) return;
  const what = asked.place.querySelector(".last-what");
  const before = what.textContent;
  await fetched(asked.place, asked.bar, { target: what, select: ".last-words" });
  if (asked !== last || !asked.place || !what.firstElementChild) return;
  if (what.textContent === before && !asked.place.hidden) return;
  asked.place.querySelector(".last-name").replaceChildren(...asked.title.map((node) => node.cloneNode(true)));
  asked.place.querySelector(".last-back").href = asked.page;
  const isFirst = asked.place.hidden;
  asked.place.hidden = false;
  if (isFirst) timer = setTimeout(goAway, SHOWN_FOR_MS);
  announce(asked.place.querySelector(".last-said").textContent);
}

/** The line is gone after a while, unless somebody is about to press what it offers; "u" leads back. */
function goAway() {
  const line = last?.place;
  if (!line) return;
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
  if (!event.target.matches(".goes-on-box")) return;
  if (event.target.checked) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, "off");
  showSwitches();
});
showSwitches();
