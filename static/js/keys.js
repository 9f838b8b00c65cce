// Keys for who answers all day. None of them decides: they lead to where a press does.
// Single characters get in the way of speech input, so they can be turned off; see WCAG 2.1.4.

import { goBack } from "./advancing.js";
import { announceInSight } from "./announcing.js";
import { whyNotYet } from "./inview.js";
import { isArming, sayTooEarly } from "./pressing.js";
import { walk } from "./walking.js";

const STORED = "approvals:keys"; // "off", or nothing
const dialog = document.getElementById("keys");
const isOn = () => localStorage.getItem(STORED) !== "off";
const inBar = (selector) => document.querySelector(`#request-bar ${selector}`);
let opening = null; // the link that was followed last, until its request is there
const isInSight = (element) => element.checkVisibility();

/**
 * Find the row before or after the one that has the focus, or is open, or is being opened.
 *
 * @param {1 | -1} step
 */
function beside(step) {
  const links = [...document.querySelectorAll(".item-link")].filter(isInSight);
  const open = links.findIndex((link) => link.getAttribute("aria-current"));
  const [focused, opened] = [document.activeElement, opening].map((link) => links.indexOf(link));
  const from = [focused, opened, open].find((at) => at >= 0) ?? -1;
  return from < 0 ? links.at(step > 0 ? 0 : -1) : links[from + step];
}

/** Open the next one at once. What is alike opens a page of its own, so there the focus stops. */
function move(step) {
  const link = beside(step);
  if (!link) return;
  link.closest(".item").scrollIntoView({ block: "nearest" });
  if (link.closest(".item--fold")) return link.focus({ preventScroll: true });
  if (document.activeElement.matches(".item-link")) document.activeElement.blur();
  opening = link;
  link.click();
}

/** Only the focus goes there: the press that approves is another one. */
function toApprove() {
  const approve = inBar(".decide > [value=approve]");
  if (!approve) return whyNone();
  if (!approve.disabled) return approve.focus();
  const next = document.getElementById("next-unseen");
  const why = inBar("#steps-said:not([hidden])")?.textContent ?? inBar("#why-not")?.textContent ?? whyNotYet();
  if (isInSight(next ?? approve)) next?.focus(); // Enter there scrolls on
  announceInSight(`Approve is not offered yet. ${why}`);
}

/** There is no Approve: it was pressed, or another page is on its way. */
function whyNone() {
  const said = inBar(".result-title, .progress-said, .bar-said");
  if (isArming()) sayTooEarly();
  else if (said) announceInSight(said.innerText);
}

function toReason() {
  const panel = inBar(".reject");
  if (!panel) return;
  panel.open = true;
  panel.querySelector("textarea").focus();
}

function toEdit() {
  inBar(".edit-open")?.click();
}

/** An assignment decides nothing, so nobody else's is taken by a key alone. */
function toAssign() {
  const assign = document.getElementById("assign");
  if (!assign) return;
  if (!assign.form.elements.over.value) return assign.click();
  assign.closest("details").open = true;
  assign.focus();
}

function toSnooze() {
  const panel = document.getElementById("snooze");
  if (!panel) return;
  panel.open = true;
  panel.querySelector("button").focus();
}

function toSearch() {
  const search = document.getElementById("filter-q");
  if (!isInSight(search)) return;
  search.focus();
  search.select();
}

function explain() {
  document.getElementById("keys-on").checked = isOn();
  sayWhetherOn();
  dialog.showModal();
}

function sayWhetherOn() {
  document.getElementById("keys-said").textContent = isOn()
    ? "They are on in this browser."
    : "They are off in this browser. Enter, Esc and the arrow keys in the list still work.";
}

const CHARACTERS = { j: () => move(1), k: () => move(-1), a: toApprove, r: toReason, e: toEdit, c: toAssign, l: toSnooze, u: goBack, n: () => walk(1), N: () => walk(-1), "/": toSearch, "?": explain };
const ARROWS = { ArrowDown: () => beside(1)?.focus(), ArrowUp: () => beside(-1)?.focus() };

/** @param {KeyboardEvent} event */
function meaning(event) {
  const { key, target } = event;
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  if (dialog.open || target.closest("input, textarea, select, [contenteditable]")) return null;
  if (Object.hasOwn(ARROWS, key)) return target.matches(".item-link") ? ARROWS[key] : null;
  if (!Object.hasOwn(CHARACTERS, key) || !isOn()) return null;
  return event.repeat && !"jknN".includes(key) ? null : CHARACTERS[key];
}

if (dialog) {
  document.addEventListener("keydown", (event) => {
    const act = meaning(event);
    if (!act) return;
    event.preventDefault(); // or the character lands in the field that gets the focus
    act();
  });
  document.getElementById("keys-on").addEventListener("change", (event) => {
    if (event.target.checked) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, "off");
    sayWhetherOn();
  });
  document.addEventListener("click", (event) => event.target.closest("#keys-open") && explain());
  document.addEventListener("htmx:afterSettle", (event) => event.detail.target?.id === "pane" && (opening = null));
}
