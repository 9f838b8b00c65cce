// Keeps an open request honest: its status and its bar follow events, its content never moves.
// Also offers Approve as the policy allows it, the next part of a long text in the place of the link
// to it, and more time near the end of a time limit.

import { announce } from "./announcing.js";
import { serverNow } from "./countdown.js";
import { closest, find, findAll, need } from "./dom.js";
import { rescan, wasAllInView, watch } from "./inview.js";
import { comingId } from "./opening.js";
import { fetched, paced, reload } from "./pacing.js";
import { disarm, isOffline } from "./pressing.js";
import { showSteps } from "./steps.js";

const request = () => document.getElementById("request");
const bar = () => document.getElementById("request-bar");
const isSending = () => document.querySelector(":is(#request-bar, #request-status) [aria-busy]") !== null;
/** @type {HTMLElement | null} */
let watched = null;
let wasInside = false; // whether the focus was in what an answer replaced
let focused = ""; // where in it, as a selector
/** @type {string[]} */
let folds = []; // what was open in it when news came, as ids
let missed = ""; // news came while it was opened

const REPLACED = ":is(#request-bar, #request-status, #request-why)";
const AHEAD = { rootMargin: "0px 0px 200px 0px" };

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting && target instanceof HTMLAnchorElement) load(target);
}, AHEAD);

/** Approve is off while the policy wants more of the content in view, and while nothing can be sent. */
function showWhetherSeen() {
  const form = find(document, "#request-bar form.decide", HTMLFormElement);
  if (!form) return;
  const seen = wasAllInView() && !Number(find(form, ".owed", HTMLElement)?.dataset.owed);
  bar()?.toggleAttribute("data-unseen", !seen);
  need(form, "[name=end_seen]", HTMLInputElement).checked = seen;
  offerAnswers(form, "whole" in form.dataset && !seen);
}

/**
 * @param {HTMLFormElement} form
 * @param {boolean} isShut - whether the policy wants more of the content in view
 */
function offerAnswers(form, isShut) {
  const isFixed = form.querySelector("#why-not") !== null;
  const steps = showSteps(form); // a part is approved on the page that the button leads to
  const isOff = steps.isPart ? steps.isShut : isFixed || isShut;
  for (const yes of findAll(form, "[value=approve], [data-unseen]", HTMLButtonElement)) yes.disabled = isOff || isOffline();
  for (const no of findAll(form, "[value=reject], [value=same-reject]", HTMLButtonElement)) no.disabled = isOffline();
  for (const panel of findAll(form, ".remember", HTMLElement)) panel.hidden = isShut || steps.isPart;
}

function open() {
  const opened = request();
  if (!opened || watched === opened) return;
  watched = opened;
  watch(opened);
  showWhetherSeen();
  if (missed === opened.dataset.id) refresh();
  missed = "";
}

/** @param {string} [id] - of what changed, if not of all */
function hear(id) {
  if (!id || id === comingId()) missed = comingId() ?? "";
  if (!id || id === request()?.dataset.id) refresh();
}

const refresh = paced(fetchBar, 0);

async function fetchBar() {
  const url = bar()?.dataset.url;
  if (!url) return;
  const options = { target: "#request-bar", select: "#request-bar", selectOOB: "#request-status,#request-why", swap: "outerHTML" };
  await fetched(need(document, "#main", HTMLElement), url, options); // main stays
}

/**
 * @param {Element} element - in what an answer replaces
 * @returns {string} what selects the same in another drawing of it; empty where nothing does
 */
function selectorOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  if (element.localName === "summary" && element.parentElement) return `${selectorOf(element.parentElement)} > summary`;
  const [name, value] = ["name", "value"].map((attribute) => CSS.escape(element.getAttribute(attribute) ?? ""));
  return name && `[name="${name}"][value="${value}"]`;
}

/**
 * Leave the bar alone, and what is being typed in it, if nothing in it changed or an answer comes.
 *
 * @param {HtmxSwapEvent} event
 */
function consider(event) {
  const { target, requestConfig, serverResponse } = event.detail;
  const here = bar();
  if (!here || target !== here || !event.detail.shouldSwap) return; // an error replaces nothing
  const isSame = serverResponse.includes(`data-stamp="${here.dataset.stamp}"`);
  const isNoNews = requestConfig.verb === "get" && (isSame || isSending());
  if (isNoNews) return void (event.detail.shouldSwap = false);
  // News closes nothing that somebody reads or chooses in; the answer to their own press does.
  const unfolded = findAll(document, `${REPLACED} details[id][open]`, HTMLElement).map(({ id }) => id);
  folds = requestConfig.verb === "get" ? [...folds, ...unfolded] : [];
  const focus = closest(document.activeElement, `${REPLACED} *`, HTMLElement);
  if (!focus) return;
  wasInside = true; // kept until it is settled
  focused = selectorOf(focus);
}

/**
 * An answer for a bar that is gone, because another came first, would only spoil the new one.
 *
 * @param {HtmxAnswerEvent} event
 */
function drop(event) {
  const { target } = event.detail;
  if (target?.id !== "request-bar" || target.isConnected) return;
  event.preventDefault();
  refresh();
}

/** @param {HtmxEvent} event */
function settled(event) {
  open();
  const here = bar();
  if (event.detail.target?.id === "pane") document.getElementById("request-title")?.focus({ preventScroll: true });
  if (event.detail.target?.id === "request-bar" && here) settledIn(here);
}

/**
 * Say aloud that it ended, and keep the place of somebody who was in what was replaced.
 *
 * @param {HTMLElement} here - the bar
 */
function settledIn(here) {
  showWhetherSeen();
  for (const id of folds) document.getElementById(id)?.setAttribute("open", "");
  folds = [];
  const said = find(here, ".result-title, .progress-said", HTMLElement);
  const place = find(here, ".result, .progress-said", HTMLElement);
  if (wasInside && !closest(document.activeElement, REPLACED, HTMLElement)) {
    (place ?? (focused ? find(document, `${REPLACED} ${focused}`, HTMLElement) : null))?.focus({ preventScroll: true });
  }
  wasInside = false;
  if (said) announce(said.innerText);
}

/** @param {HTMLAnchorElement} link */
async function load(link) {
  const line = link.parentElement;
  if (!line) return;
  near.unobserve(link);
  line.setAttribute("aria-busy", "true");
  const answer = await fetch(link.href, { headers: { "X-Part": "alone" } }).catch(() => null);
  if (!answer?.ok) return line.removeAttribute("aria-busy"); // the link still works
  const part = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-part]");
  if (!part) return reload(); // signed out: the server says so on a page of its own
  const owed = need(part, ".owed", HTMLElement);
  line.replaceWith(...need(part, ".code", HTMLElement).childNodes);
  document.getElementById(owed.id)?.replaceWith(owed);
  rescan();
  watchParts();
}

/** Load the next parts when they come near. */
function watchParts() {
  for (const link of document.querySelectorAll("[data-next]")) near.observe(link);
}

/** Offer more time when the end of a time limit comes near. */
function offer() {
  for (const form of findAll(document, "form.extend[hidden]", HTMLFormElement)) {
    if (serverNow() < Date.parse(form.dataset.opens ?? "")) continue;
    form.hidden = false;
    disarm(); // the bar has grown
  }
}

document.addEventListener("live:changed", (event) => hear(event.detail.id));
for (const name of ["live:gate", "live:joined", "live:caught-up", "countdown:over"]) document.addEventListener(name, () => hear());
// A press whose answer was lost may have been recorded, and the news of it come while it was awaited.
for (const name of /** @type {const} */ (["htmx:sendError", "htmx:timeout"])) {
  document.addEventListener(name, (event) => event.detail.requestConfig?.verb === "post" && refresh());
}
for (const name of ["inview:changed", "pressing:line"]) document.addEventListener(name, showWhetherSeen);
document.addEventListener("change", (event) => closest(event.target, ".step-choice input[type=radio]", HTMLInputElement) && showWhetherSeen());
document.addEventListener("htmx:beforeOnLoad", drop);
document.addEventListener("htmx:beforeSwap", consider);
document.addEventListener("htmx:afterSettle", settled);
open();

offer();
setInterval(offer, 1000);
document.addEventListener("htmx:afterSettle", offer);

document.addEventListener("htmx:afterSettle", watchParts);
watchParts();
