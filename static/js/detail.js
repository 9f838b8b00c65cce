// Keeps an open request honest: its status and its bar follow events, its content never moves.
// Also records whether the end of it was in sight; looking.js says that it is.

import { announce } from "./announcing.js";
import { fetched, paced } from "./pacing.js";

const request = () => document.getElementById("request");
const bar = () => document.getElementById("request-bar");
const isSending = () => document.querySelector(":is(#request-bar, #request-status) [aria-busy]") !== null;
const ended = new Set(); // what was read to its end: requests by id, and changes of them
let watched = null;
let wasInBar = false;

const UNDER_THE_BAR = { rootMargin: "0px 0px -70px 0px" }; // is not in sight
const end = new IntersectionObserver((entries) => {
  // Of the request that is open now: word of the last one may come when it is gone.
  if (!entries.some((entry) => entry.isIntersecting && request()?.contains(entry.target))) return;
  ended.add(request().dataset.read ?? request().dataset.id);
  showWhetherRead();
}, UNDER_THE_BAR);

/** Approve is quiet until the end of the content was in sight, and off where the policy says so. */
export function showWhetherRead() {
  const form = bar()?.querySelector("form.decide");
  if (!form) return;
  const seen = ended.has(request().dataset.read ?? request().dataset.id);
  const read = seen && !Number(form.querySelector(".owed")?.dataset.owed);
  bar().toggleAttribute("data-unread", !read);
  form.querySelector("[name=end_seen]").checked = read;
  if ("whole" in form.dataset && !form.querySelector("#why-not")) {
    for (const yes of form.querySelectorAll("[value=approve], [data-unseen]")) yes.disabled = !read;
    for (const panel of form.querySelectorAll(".remember")) panel.hidden = !read;
  }
  const hint = form.querySelector(".bar-unread");
  if (hint) hint.hidden = seen;
}

/** A request was opened, by loading the page or from the list. */
function open() {
  if (!request() || watched === request()) return;
  watched = request();
  end.disconnect();
  end.observe(document.getElementById("content-end"));
  showWhetherRead();
}

const refresh = paced(fetchBar, 0);

async function fetchBar() {
  if (!bar()) return;
  const options = { target: "#request-bar", select: "#request-bar", selectOOB: "#request-status,#request-why", swap: "outerHTML" };
  await fetched(document.getElementById("main"), bar().dataset.url, options); // main stays
}

/** Leave the bar alone, and what is being typed in it, if nothing in it changed or an answer comes. */
function consider(event) {
  const { target, requestConfig, serverResponse } = event.detail;
  if (target !== bar()) return;
  const isSame = serverResponse.includes(`data-stamp="${bar().dataset.stamp}"`);
  const isNoNews = requestConfig.verb === "get" && (isSame || isSending());
  if (isNoNews) event.detail.shouldSwap = false;
  else wasInBar ||= target.contains(document.activeElement); // kept until it is settled
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
  showWhetherRead();
  const said = bar().querySelector(".result-title, .progress-said");
  const place = bar().querySelector(".result, .progress-said");
  if (place && wasInBar && !bar().contains(document.activeElement)) place.focus({ preventScroll: true });
  wasInBar = false;
  if (said) announce(said.innerText);
}

document.addEventListener("live:changed", (event) => event.detail.id === request()?.dataset.id && refresh());
for (const name of ["live:gate", "live:caught-up", "countdown:over"]) document.addEventListener(name, () => refresh());
document.addEventListener("htmx:beforeOnLoad", drop);
document.addEventListener("htmx:beforeSwap", consider);
document.addEventListener("htmx:afterSettle", settled);
open();
