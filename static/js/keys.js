// Keys for who answers all day. None of them decides: they lead to where a press does.
// Single characters get in the way of speech input, so they can be turned off; see WCAG 2.1.4.

import { announce } from "./announcing.js";

const STORED = "approvals:keys"; // "off", or nothing
const dialog = document.getElementById("keys");
const opener = document.getElementById("keys-open");
const isOn = () => localStorage.getItem(STORED) !== "off";
const inBar = (selector) => document.querySelector(`#request-bar ${selector}`);
const isInSight = (element) => element.checkVisibility();

/** @param {1 | -1} step */
function move(step) {
  const links = [...document.querySelectorAll(".item-link")].filter(isInSight);
  const open = links.findIndex((link) => link.getAttribute("aria-current"));
  const here = links.indexOf(document.activeElement);
  const from = here < 0 ? open : here;
  const next = from < 0 ? links.at(step > 0 ? 0 : -1) : links[from + step];
  next?.focus();
}

/** Only the focus goes there: the press that approves is another one. */
function toApprove() {
  const approve = inBar(".decide > [value=approve]");
  if (!approve) return;
  if (!approve.disabled) return approve.focus();
  const why = [...document.querySelectorAll("#why-not, .bar-unread")].find(isInSight);
  announce(`Approve is not offered. ${why?.textContent ?? ""}`);
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

/** A claim decides nothing, so nobody else's is taken by a key alone. */
function toClaim() {
  const claim = document.getElementById("claim");
  if (!claim) return;
  if (claim.form.elements.over.value) claim.focus();
  else claim.click();
}

function toLater() {
  const menu = document.getElementById("later");
  if (!menu) return;
  menu.open = true;
  menu.querySelector("button").focus();
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

const CHARACTERS = { j: () => move(1), k: () => move(-1), a: toApprove, r: toReason, e: toEdit, c: toClaim, l: toLater, "/": toSearch, "?": explain };
const ARROWS = { ArrowDown: () => move(1), ArrowUp: () => move(-1) };

/** @param {KeyboardEvent} event */
function meaning(event) {
  const { key, target } = event;
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  if (dialog.open || target.closest("input, textarea, select, [contenteditable]")) return null;
  if (Object.hasOwn(ARROWS, key)) return target.matches(".item-link") ? ARROWS[key] : null;
  if (!Object.hasOwn(CHARACTERS, key) || !isOn()) return null;
  return event.repeat && !"jk".includes(key) ? null : CHARACTERS[key];
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
  opener?.addEventListener("click", explain);
  opener?.removeAttribute("hidden");
}
