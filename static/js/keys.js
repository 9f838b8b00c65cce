// Keys for who answers all day. None of them decides: they lead to where a press does.
// Single characters get in the way of speech input, so they can be turned off; see WCAG 2.1.4.

import { goBack } from "./advancing.js";
import { announceInSight } from "./announcing.js";
import { closest, find, findAll, need } from "./dom.js";
import { whyNotYet } from "./inview.js";
import { comingId, openId } from "./opening.js";
import { isArming, sayTooEarly } from "./pressing.js";
import { walk } from "./walking.js";

const STORED = "approvals:keys"; // "off", or nothing
const dialog = () => need(document, "#keys", HTMLDialogElement);
const isOn = () => localStorage.getItem(STORED) !== "off";

/**
 * @template {Element} E
 * @param {string} selector
 * @param {import("./dom.js").Kind<E>} kind
 */
const inBar = (selector, kind) => find(document, `#request-bar ${selector}`, kind);
/** @param {Element} element */
const isInSight = (element) => element.checkVisibility();

/**
 * Find the row before or after the one that has the focus, or is open, or is being opened.
 *
 * @param {1 | -1} step
 */
function beside(step) {
  const links = findAll(document, ".item-link", HTMLElement).filter(isInSight);
  const ids = links.map((link) => closest(link, ".item", HTMLElement)?.dataset.id ?? "");
  const focused = links.findIndex((link) => link === document.activeElement);
  const [coming, open] = [comingId(), openId()].map((id) => (id ? ids.indexOf(id) : -1));
  const from = [focused, coming, open].find((at) => at >= 0) ?? -1;
  return from < 0 ? links.at(step > 0 ? 0 : -1) : links[from + step];
}

/**
 * Open the next one at once. What is alike opens a page of its own, so there the focus stops.
 *
 * @param {1 | -1} step
 */
function move(step) {
  const link = beside(step);
  if (!link) return;
  link.closest(".item")?.scrollIntoView({ block: "nearest" });
  if (link.closest(".item--fold")) return link.focus({ preventScroll: true });
  closest(document.activeElement, ".item-link", HTMLElement)?.blur();
  link.click();
}

/**
 * Only the focus goes there: the press that approves is another one. While somebody says why not, it stays with that:
 * a reason that is typed beside its field has an "a" in it, and a blank, which presses the button that has the focus.
 */
function toApprove() {
  if (inBar(".reject[open]", HTMLDetailsElement)) {
    toReason();
    return announceInSight("Close Reject first, if you want to approve.");
  }
  const approve = inBar(":is(.signing .button--primary, .decide > [value=approve])", HTMLButtonElement);
  if (!approve) return whyNone();
  if (!approve.disabled) return approve.focus();
  const next = document.getElementById("next-unseen");
  const said = inBar("#steps-said:not([hidden])", HTMLElement) ?? inBar("#why-not", HTMLElement);
  const why = said?.textContent ?? whyNotYet();
  if (isInSight(next ?? approve)) next?.focus(); // Enter there scrolls on
  announceInSight(`Approve is not offered yet. ${why}`);
}

/** There is no Approve: it was pressed, or another page is on its way. */
function whyNone() {
  const said = inBar(".result-title, .progress-said, .bar-said", HTMLElement);
  if (isArming()) sayTooEarly();
  else if (said) announceInSight(said.innerText);
}

function toReason() {
  const panel = inBar(".reject", HTMLDetailsElement);
  if (!panel) return;
  panel.open = true;
  panel.querySelector("textarea")?.focus();
}

/**
 * Whoever opens a panel by a click goes on by typing into it. Not by touch, where that would bring a keyboard up.
 *
 * @param {MouseEvent} event
 */
function intoPanel(event) {
  const panel = closest(event.target, "#request-bar .panel > summary", HTMLElement)?.parentElement;
  if (!(panel instanceof HTMLDetailsElement) || (event instanceof PointerEvent && event.pointerType === "touch")) return;
  const field = panel.querySelector("textarea");
  if (!field || event.defaultPrevented) return;
  event.preventDefault(); // the browser would open it after the first keys, which would go elsewhere
  panel.open = !panel.open;
  if (panel.open) field.focus();
}

function toEdit() {
  inBar(".edit-open", HTMLElement)?.click();
}

/** An assignment decides nothing, so nobody else's is taken by a key alone. */
function toAssign() {
  const assign = find(document, "#assign", HTMLButtonElement);
  const panel = closest(assign, "details", HTMLDetailsElement);
  if (!assign?.form || !panel) return;
  if (!need(assign.form, "[name=over]", HTMLInputElement).value) return assign.click();
  panel.open = true;
  assign.focus();
}

function toSnooze() {
  const panel = find(document, "#snooze", HTMLDetailsElement);
  if (!panel) return;
  panel.open = true;
  panel.querySelector("button")?.focus();
}

function toSearch() {
  const search = need(document, "#filter-q", HTMLInputElement);
  if (!isInSight(search)) return;
  search.focus();
  search.select();
}

function explain() {
  need(dialog(), "#keys-on", HTMLInputElement).checked = isOn();
  sayWhetherOn();
  dialog().showModal();
}

function sayWhetherOn() {
  need(dialog(), "#keys-said", HTMLElement).textContent = isOn()
    ? "They are on in this browser."
    : "They are off in this browser. Enter, Esc and the arrow keys in the list still work.";
}

/** @type {Record<string, () => void>} */
const CHARACTERS = { j: () => move(1), k: () => move(-1), a: toApprove, r: toReason, e: toEdit, c: toAssign, l: toSnooze, u: goBack, n: () => walk(1), N: () => walk(-1), "/": toSearch, "?": explain };
/** @type {Record<string, () => void>} */
const ARROWS = { ArrowDown: () => beside(1)?.focus(), ArrowUp: () => beside(-1)?.focus() };

/**
 * @param {KeyboardEvent} event
 * @returns {boolean} whether the key goes to the browser, or into what somebody writes
 */
function isTaken(event) {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return true;
  return dialog().open || closest(event.target, "input, textarea, select, [contenteditable]", HTMLElement) !== null;
}

/** @param {KeyboardEvent} event */
function meaning(event) {
  const { key, target } = event;
  if (isTaken(event)) return null;
  if (Object.hasOwn(ARROWS, key)) return closest(target, ".item-link", HTMLElement) ? ARROWS[key] : null;
  if (!Object.hasOwn(CHARACTERS, key) || !isOn()) return null;
  return event.repeat && !"jknN".includes(key) ? null : CHARACTERS[key];
}

document.addEventListener("click", intoPanel);

if (document.getElementById("keys")) {
  document.addEventListener("keydown", (event) => {
    const act = meaning(event);
    if (!act) return;
    event.preventDefault(); // or the character lands in the field that gets the focus
    act();
  });
  const on = need(dialog(), "#keys-on", HTMLInputElement);
  on.addEventListener("change", () => {
    if (on.checked) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, "off");
    sayWhetherOn();
  });
  document.addEventListener("click", (event) => closest(event.target, "#keys-open", HTMLElement) && explain());
}
