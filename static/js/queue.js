// Keeps the list current without moving it under the hands: while the pointer or the focus is in it,
// news wait behind a strip above it, and the row of what is open stays in sight. Keeps the list and the
// address at what the filters say, and counts in the title what needs the reader, where they asked for
// that on their account page. Without this file the filters are a form that is sent.

import { announceInSight } from "./announcing.js";
import { closest, find, findAll, need } from "./dom.js";
import { openId, openRequest } from "./opening.js";
import { disarm } from "./pressing.js";
import { fetched, paced } from "./pacing.js";

const QUIET_MS = 250; // the first change is looked at at once, and those of a burst after it together
const TYPING_MS = 250;
const BADGE_STORED = "approvals:badge"; // "on", or nothing
const BADGE = /^\(\d+\) /;
const filters = () => need(document, "#filters", HTMLFormElement);
const list = () => need(document, "#list", HTMLElement);
const address = () => list().dataset.url ?? "";
const query = () => new URL(address(), location.href).search;
const pane = () => need(document, ".queue", HTMLElement);
const button = () => need(document, "#list-news", HTMLButtonElement); // comes with each list
const ring = paced(fetchList, QUIET_MS);
const rowsInList = () => findAll(list(), "[data-id].item", HTMLElement);
/** @param {HTMLElement} root */
const idsIn = (root) => findAll(root, "[data-id]", HTMLElement).map((item) => item.dataset.id);
const isInUse = () => pane().matches(":hover") || list().matches(":focus-within") || button().matches(":focus");
const wouldMove = () => !isForced && isInUse() && location.search === query(); // else it is another list
let typing = 0;
let forced = false;
let isForced = false; // of the list that is on its way
let behind = false; // something was held back
let joining = false; // the list is as new as the page: only what came before the first news is missing
/** @type {string | undefined} */
let shown; // the id of the request that is open, once its row was brought into sight
let choosing = false; // the list that was asked for comes with what to do next, where nothing is open
let place = 0; // where in the list the row of what is open is, or was

/** @param {boolean} [force] - also while the list is in use */
function look(force = false) {
  forced ||= force;
  ring(force);
}

function fetchList() {
  isForced = forced;
  forced = false;
  /** @type {HtmxOptions} */
  const options = { target: "#list", select: "#list", swap: "outerHTML" };
  choosing = document.getElementById("choose") !== null;
  if (choosing) options.selectOOB = "#choose";
  return fetched(pane(), address(), options); // the pane stays while lists come and go
}

/**
 * Ask again for a list whose place was taken by another in the meantime.
 *
 * @param {HtmxAnswerEvent} event
 */
function drop(event) {
  const { target } = event.detail;
  if (target?.id !== "list" || target.isConnected) return;
  event.preventDefault();
  look(isForced);
}

/**
 * Hold the fetched list back if it would move rows that somebody is about to press.
 *
 * @param {HtmxSwapEvent} event
 */
function consider(event) {
  const { target, pathInfo, serverResponse } = event.detail;
  if (target !== list()) return;
  const fresh = new DOMParser().parseFromString(serverResponse, "text/html").getElementById("list");
  if (!fresh) return; // swapping.js knows what that means
  if (pathInfo.requestPath !== address()) {
    event.detail.shouldSwap = false; // the filters have changed since; what they want is asked for
  } else if (choosing && !document.getElementById("choose")) {
    event.detail.shouldSwap = false; // a request was opened meanwhile, so it has no place for all of it
    look(isForced);
  } else if (joining && isAsBefore(fresh)) {
    event.detail.shouldSwap = false; // as nearly always: nothing came in between
  } else if (wouldMove()) {
    event.detail.shouldSwap = false;
    hold(fresh);
  } else {
    behind = false;
  }
  joining = false;
}

/** @param {HTMLElement} fresh */
function isAsBefore(fresh) {
  const here = list();
  /** @param {string} name */
  const isEqual = (name) => fresh.dataset[name] === here.dataset[name];
  return isEqual("waiting") && isEqual("mine") && idsIn(fresh).join() === idsIn(here).join();
}

/** @param {HTMLElement} fresh - the list that is held back */
function hold(fresh) {
  const ids = idsIn(fresh);
  const here = idsIn(list());
  const added = ids.filter((id) => !here.includes(id)).length;
  for (const item of findAll(list(), ".item", HTMLElement)) {
    if (!ids.includes(item.dataset.id)) setAside(item);
  }
  button().textContent = added ? `${added} new` : "Show changes";
  button().hidden = ids.join() === here.join();
  behind = true;
  list().dataset.mine = fresh.dataset.mine;
  showBadge(Number(fresh.dataset.mine));
}

/** @param {HTMLElement} item */
function setAside(item) {
  const word = find(item, ".item-gone", HTMLElement);
  if (!word) return;
  item.classList.add("item--gone");
  for (const time of item.querySelectorAll(".item-left, .item-away")) time.remove();
  word.hidden = false;
}

/** The list was left: show what was held back meanwhile. */
function left() {
  setTimeout(() => behind && !isInUse() && look(), QUIET_MS);
}

/** Have the address say what the list is narrowed to: a link to the page then gives the same. */
function keepAddress() {
  if (location.search === query()) return;
  history.replaceState(history.state, "", location.pathname + query() + location.hash);
}

function narrow() {
  clearTimeout(typing);
  const all = [...new FormData(filters())].map(([name, value]) => [name, String(value)]);
  const fields = all.filter(([, value]) => value.trim());
  const asked = new URLSearchParams(fields).toString();
  list().dataset.url = filters().dataset.list + (asked && `?${asked}`);
  look(true);
}

/** Mark the request that is open beside the list, whoever swapped what, and count in the title. */
function mark() {
  const id = openId();
  rowsInList().forEach((item, index) => {
    const link = need(item, ".item-link", HTMLElement);
    if (item.dataset.id !== id) return link.removeAttribute("aria-current");
    link.setAttribute("aria-current", "page");
    place = index;
    if (shown !== id) item.scrollIntoView({ block: "nearest" });
    shown = id;
  });
  const waiting = Number(list().dataset.waiting);
  if (document.getElementById("choose")) {
    document.title = `${waiting ? `${waiting} waiting` : "Queue"} · Approvals`;
  }
  showBadge(Number(list().dataset.mine));
}

/**
 * Where the list is narrowed or in another order, the next request is the one after it in this list: the
 * row that followed, or took the place of one that is gone.
 *
 * @returns {string | null} its address; null if nothing else is left here
 */
function nextHere() {
  const id = openId();
  const all = rowsInList();
  const others = all.filter((item) => item.dataset.id !== id && !item.matches(".item--gone"));
  /** @param {HTMLElement} item */
  const follows = (item) => all.indexOf(item) >= place;
  const due = others.filter((item) => "due" in item.dataset);
  const next = due.find(follows) ?? due[0] ?? others.find(follows);
  if (next) return need(next, ".item-link", HTMLAnchorElement).href;
  const fold = find(list(), ".item--fold", HTMLElement); // those that are alike are opened one by one
  return fold && fold.dataset.first + query();
}

/**
 * Let "Next request" mean the next in this list, where that is not simply what is most urgent.
 *
 * @param {MouseEvent} event
 */
function goOn(event) {
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!query() || !isPlain || !closest(event.target, ".goes-on", HTMLElement)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const next = nextHere();
  if (next) openRequest(next);
  else announceInSight("Nothing else is in this list. “Show all” leads to the other requests.");
}

/** @param {HtmxEvent} event */
function settled(event) {
  mark();
  if (event.detail.target?.id === "list" || event.type === "htmx:pushedIntoHistory") keepAddress();
}

/** @param {number} mine - how many need the reader */
function showBadge(mine) {
  const plain = document.title.replace(BADGE, "");
  const title = mine && localStorage.getItem(BADGE_STORED) === "on" ? `(${mine}) ${plain}` : plain;
  if (document.title !== title) document.title = title;
}

if (document.querySelector(".queue")) {
  for (const name of ["live:caught-up", "countdown:over"]) document.addEventListener(name, () => look());
  document.addEventListener("live:changed", (event) => {
    if (event.detail.in_queue === false) return;
    joining = false;
    look();
  });
  document.addEventListener("live:joined", () => {
    joining = true;
    look();
  });
  document.addEventListener("htmx:beforeOnLoad", drop);
  document.addEventListener("htmx:beforeSwap", consider);
  document.addEventListener("click", (event) => closest(event.target, "#list-news", HTMLElement) && look(true));
  for (const name of ["pointerleave", "focusout"]) pane().addEventListener(name, left);
  document.addEventListener("htmx:oobAfterSwap", (event) => event.detail.target?.id !== "choose" && disarm()); // nothing there decides
}

if (document.getElementById("filters")) {
  filters().addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(narrow, TYPING_MS);
  });
  filters().addEventListener("submit", (event) => {
    event.preventDefault();
    narrow();
  });
  document.addEventListener("click", goOn, true);
  document.addEventListener("htmx:afterSettle", settled);
  document.addEventListener("htmx:pushedIntoHistory", settled);
  mark();
}
