// No press counts within half a second after something changed under the hands, and no form is
// sent twice; a press that does not count is told so. Without script the server refuses the second
// answer instead.

import { announceInSight, hide } from "./announcing.js";

const ARMS_AFTER_MS = 500;
const root = document.documentElement; // says so too: data-arming, for the pointer's shape
let armedAt = 0;
let timer = 0;

/** Start the half second again: something moved or was replaced. */
export function disarm() {
  armedAt = performance.now() + ARMS_AFTER_MS;
  root.dataset.arming = "";
  clearTimeout(timer);
  timer = setTimeout(() => delete root.dataset.arming, ARMS_AFTER_MS + 10);
}

/** @param {Event} event */
function refuse(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Why nothing comes of a press that was too early. */
export function sayTooEarly() {
  announceInSight("The page just changed: press again. Nothing was sent.");
}

/** @param {Event} event */
function refuseEarly(event) {
  refuse(event);
  sayTooEarly();
}

/** @param {SubmitEvent} event */
function refuseTwice(event) {
  refuse(event);
  announceInSight("Sent already. The answer has not come yet.");
}

/** @param {SubmitEvent} event */
function guard(event) {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.matches(".decide, [data-arms]") && performance.now() < armedAt) return refuseEarly(event);
  if (form.getAttribute("aria-busy") === "true") return refuseTwice(event);
  hide();
  form.setAttribute("aria-busy", "true"); // not disabled: a disabled button is not sent
}

/** Let forms be sent again, after an answer that left them where they are. */
export function release() {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.removeAttribute("aria-busy");
}

// On the way down, so before htmx or anybody else hears of it.
document.addEventListener("submit", guard, true);
document.addEventListener(
  "click",
  (event) => {
    if (!event.target.closest?.(".item-link, .result .button") || event.detail === 0) return;
    if (performance.now() < armedAt) refuseEarly(event);
    else hide();
  },
  true,
);
window.addEventListener("pageshow", release); // back from the history, as it was left
disarm();
