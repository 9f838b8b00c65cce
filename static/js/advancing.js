// After a decision the next request opens by itself, and says what became of the last one; "u" leads
// back to that. It can be switched off, which this browser remembers. Without this file the bar has
// a link to the next request.

import { announce } from "./announcing.js";
import { fetched, paced } from "./pacing.js";
import { onceLifted } from "./pressing.js";

const STORED = "approvals:open-next"; // "off", or nothing
const bar = () => document.getElementById("request-bar");
const place = () => document.getElementById("last-decision");
const isOn = () => localStorage.getItem(STORED) !== "off";
const refresh = paced(fetchLast, 0);
let answered = null; // the bar that said so
let last = null; // the request that was answered here last: its id, page and bar

/** Have every switch say what is remembered. */
function showSwitches() {
  for (const label of document.querySelectorAll(".goes-on-switch")) {
    label.hidden = false;
    label.querySelector("input").checked = isOn();
  }
}

/** @param {HTMLFormElement} form - whether what it asks for is the end of the work on this request */
const isAnswer = (form) => form?.matches?.("#request-bar :is(.decide, .snooze form)");

/** @param {CustomEvent} event - an answer of the server was swapped in */
function settled(event) {
  showSwitches();
  const { target, elt, requestConfig } = event.detail;
  if (target?.id === "pane") return arrived();
  if (target?.id !== "request-bar" || requestConfig?.verb !== "post" || !isAnswer(requestConfig.elt ?? elt)) return;
  if (answered === bar() || !bar().querySelector("[data-after]")) return; // refused: still to be answered
  answered = bar(); // htmx says so once for each part that it swapped
  const link = bar().querySelector(".goes-on");
  const request = document.getElementById("request");
  last = { id: request.dataset.id, page: location.pathname, bar: bar().dataset.url, opens: isOn() && link !== null };
  if (last.opens) onceLifted(() => goOn(request));
}

/**
 * The bar may be another by now: what the agent did since is news as well.
 *
 * @param {Element} request - which was answered
 */
function goOn(request) {
  if (request.isConnected) bar()?.querySelector(".goes-on")?.click();
}

/** The next request is open: say above its buttons what became of the last one. */
function arrived() {
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
  const said = asked.place.querySelector(".last-said");
  const before = said.textContent;
  const back = asked.place.querySelector(".last-back");
  const options = { target: said, select: "[data-after]" };
  await fetched(asked.place, asked.bar, options);
  if (asked !== last || !asked.place || !said.firstElementChild) return;
  if (back.pathname !== asked.page) {
    back.href = asked.page;
    back.setAttribute("hx-boost", "true");
    htmx.process(back);
  }
  asked.place.hidden = false;
  if (said.textContent !== before) announce(said.innerText);
}

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
