// Keeps the list current without moving it under the hands: while the pointer or the focus is in
// it, news wait behind a quiet button. The list itself always comes from the server.

import { disarm } from "./arming.js";
import { showBadge } from "./badge.js";
import { fetched, paced } from "./pacing.js";

const QUIET_MS = 150; // the first change is looked at at once, and those of a burst after it together
const list = () => document.getElementById("list");
const pane = document.querySelector(".queue");
const button = document.getElementById("list-news");
const ring = paced(fetchList, QUIET_MS);
let forced = false;
let behind = false; // something was held back

const idsIn = (root) => [...root.querySelectorAll(".item")].map((item) => item.dataset.id);
const isInUse = () => pane.matches(":hover") || list().matches(":focus-within") || button.matches(":focus");

/** @param {boolean} [force] - also while the list is in use */
export function look(force = false) {
  forced ||= force;
  ring(force);
}

function fetchList() {
  const options = { target: "#list", select: "#list", swap: "outerHTML" };
  if (document.getElementById("choose")) options.selectOOB = "#choose";
  return fetched(pane, list().dataset.url, options); // the pane stays while lists come and go
}

/** Ask again for a list whose place was taken by another in the meantime. */
function drop(event) {
  const { target } = event.detail;
  if (target?.id !== "list" || target.isConnected) return;
  event.preventDefault();
  look();
}

/**
 * Hold the fetched list back if it would move rows that somebody is about to press.
 *
 * @param {CustomEvent} event
 */
function consider(event) {
  const { target, pathInfo, serverResponse } = event.detail;
  if (target !== list()) return;
  const fresh = new DOMParser().parseFromString(serverResponse, "text/html").getElementById("list");
  if (!fresh) return; // swapping.js knows what that means
  if (pathInfo.requestPath !== list().dataset.url) {
    event.detail.shouldSwap = false; // the filters have changed since; what they want is asked for
  } else if (!forced && isInUse()) {
    event.detail.shouldSwap = false;
    hold(fresh);
  } else {
    forced = behind = false;
    button.hidden = true;
  }
}

/** @param {Element} fresh - the list that is held back */
function hold(fresh) {
  const ids = idsIn(fresh);
  const shown = idsIn(list());
  const added = ids.filter((id) => !shown.includes(id)).length;
  for (const item of list().querySelectorAll(".item")) {
    if (!ids.includes(item.dataset.id)) setAside(item);
  }
  button.textContent = added ? `${added} new` : "Show changes";
  button.hidden = ids.join() === shown.join();
  behind = true;
  list().dataset.mine = fresh.dataset.mine;
  showBadge(Number(fresh.dataset.mine));
}

function setAside(item) {
  const word = item.querySelector(".item-gone");
  if (!word) return;
  item.classList.add("item--gone");
  item.querySelector(".item-left")?.remove();
  word.hidden = false;
}

/** The list was left: show what was held back meanwhile. */
function left() {
  setTimeout(() => behind && !isInUse() && look(), QUIET_MS);
}

if (pane) {
  for (const name of ["live:changed", "live:caught-up", "countdown:over"]) document.addEventListener(name, () => look());
  document.addEventListener("htmx:beforeOnLoad", drop);
  document.addEventListener("htmx:beforeSwap", consider);
  button.addEventListener("click", () => look(true));
  for (const name of ["pointerleave", "focusout"]) pane.addEventListener(name, left);
  document.addEventListener("htmx:oobAfterSwap", disarm);
}
