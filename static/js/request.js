// Keeps an open request honest: its status and its bar follow events, its content never moves.
// Also offers Approve as the policy allows it, puts the next part of a long text in the place of the
// link to it, and offers more time near the end of a time limit. Without this file links lead to
// parts, and the offer is on the page that is loaded then.

import { announce } from "./announcing.js";
import { serverNow } from "./countdown.js";
import { rescan, wasAllInView, watch } from "./inview.js";
import { fetched, paced } from "./pacing.js";
import { disarm, isOffline } from "./pressing.js";
import { showSteps } from "./steps.js";

const request = () => document.getElementById("request");
const bar = () => document.getElementById("request-bar");
const isSending = () => document.querySelector(":is(#request-bar, #request-status) [aria-busy]") !== null;
let watched = null;
let wasInBar = false;
let focused = ""; // where in the bar the focus was, as a selector

const AHEAD = { rootMargin: "0px 0px 200px 0px" };

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) load(target);
}, AHEAD);

/** Approve is off while the policy wants more of the content in view, and while nothing can be sent. */
function showWhetherSeen() {
  const form = bar()?.querySelector("form.decide");
  if (!form) return;
  const seen = wasAllInView() && !Number(form.querySelector(".owed")?.dataset.owed);
  bar().toggleAttribute("data-unseen", !seen);
  form.querySelector("[name=end_seen]").checked = seen;
  const isFixed = Boolean(form.querySelector("#why-not"));
  const isShut = "whole" in form.dataset && !seen;
  const steps = showSteps(form); // a part is approved on the page that the button leads to
  const isOff = steps.isPart ? steps.isShut : isFixed || isShut;
  for (const yes of form.querySelectorAll("[value=approve], [data-unseen]")) yes.disabled = isOff || isOffline();
  for (const no of form.querySelectorAll("[value=reject], [value=same-reject]")) no.disabled = isOffline();
  for (const panel of form.querySelectorAll(".remember")) panel.hidden = isShut || steps.isPart;
}

/** A request was opened, by loading the page or from the list. */
function open() {
  if (!request() || watched === request()) return;
  watched = request();
  watch(watched);
  showWhetherSeen();
}

const refresh = paced(fetchBar, 0);

async function fetchBar() {
  if (!bar()) return;
  const options = { target: "#request-bar", select: "#request-bar", selectOOB: "#request-status,#request-why", swap: "outerHTML" };
  await fetched(document.getElementById("main"), bar().dataset.url, options); // main stays
}

/** @param {Element} element - in the bar: what the same would be in another drawing of it */
function selectorOf(element) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  return element.name ? `[name="${CSS.escape(element.name)}"][value="${CSS.escape(element.value)}"]` : "";
}

/** Leave the bar alone, and what is being typed in it, if nothing in it changed or an answer comes. */
function consider(event) {
  const { target, requestConfig, serverResponse } = event.detail;
  if (target !== bar()) return;
  const isSame = serverResponse.includes(`data-stamp="${bar().dataset.stamp}"`);
  const isNoNews = requestConfig.verb === "get" && (isSame || isSending());
  if (isNoNews) event.detail.shouldSwap = false;
  else if (target.contains(document.activeElement)) {
    wasInBar = true; // kept until it is settled
    focused = selectorOf(document.activeElement);
  }
}

/** An answer for a bar that is gone, because another came first, would only spoil the new one. */
function drop(event) {
  const { target } = event.detail;
  if (target?.id !== "request-bar" || target.isConnected) return;
  event.preventDefault();
  refresh();
}

/** Say aloud that it ended, and keep the place of somebody who was in the bar. */
function settled(event) {
  open();
  if (event.detail.target?.id === "pane") document.getElementById("request-title")?.focus({ preventScroll: true });
  if (event.detail.target?.id !== "request-bar") return;
  showWhetherSeen();
  const said = bar().querySelector(".result-title, .progress-said");
  const place = bar().querySelector(".result, .progress-said");
  if (wasInBar && !bar().contains(document.activeElement)) {
    (place ?? (focused && bar().querySelector(focused)))?.focus?.({ preventScroll: true });
  }
  wasInBar = false;
  if (said) announce(said.innerText);
}

/** @param {HTMLAnchorElement} link */
async function load(link) {
  near.unobserve(link);
  link.parentElement.setAttribute("aria-busy", "true");
  const answer = await fetch(link.href, { headers: { "X-Part": "alone" } }).catch(() => null);
  if (!answer?.ok) return link.parentElement.removeAttribute("aria-busy"); // the link still works
  const part = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-part]");
  if (!part) return location.reload(); // signed out: the server says so on a page of its own
  const owed = part.querySelector(".owed");
  link.parentElement.replaceWith(...part.querySelector(".code").childNodes);
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
  for (const form of document.querySelectorAll("form.extend[hidden]")) {
    if (serverNow() < Date.parse(form.dataset.opens)) continue;
    form.hidden = false;
    disarm(); // the bar has grown
  }
}

document.addEventListener("live:changed", (event) => event.detail.id === request()?.dataset.id && refresh());
for (const name of ["live:gate", "live:joined", "live:caught-up", "countdown:over"]) document.addEventListener(name, () => refresh());
// A press whose answer was lost may have been recorded, and the news of it come while it was awaited.
for (const name of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => event.detail.requestConfig?.verb === "post" && refresh());
}
for (const name of ["inview:changed", "pressing:line"]) document.addEventListener(name, showWhetherSeen);
document.addEventListener("change", (event) => event.target.matches(".step-choice input[type=radio]") && showWhetherSeen());
document.addEventListener("htmx:beforeOnLoad", drop);
document.addEventListener("htmx:beforeSwap", consider);
document.addEventListener("htmx:afterSettle", settled);
open();

offer();
setInterval(offer, 1000);
document.addEventListener("htmx:afterSettle", offer);

document.addEventListener("htmx:afterSettle", watchParts);
watchParts();
