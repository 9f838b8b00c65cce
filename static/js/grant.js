// Has the button of a remembered yes say literally what it will allow, as that is chosen.
// Without this file every scope has a button of its own, and what is chosen above it holds.

import { closest, find, findAll, need } from "./dom.js";

/**
 * @param {Element} panel
 * @param {string} name
 */
const field = (panel, name) => need(panel, `[name=${name}]`, HTMLInputElement);

/**
 * @param {Element} panel
 * @param {string} name
 */
const chosen = (panel, name) => find(panel, `[name=${name}]:checked`, HTMLInputElement)?.value;

/**
 * @param {Element} panel
 * @returns {string} how often, or nothing if that is not said
 */
function often(panel) {
  if (field(panel, "any_number").checked) return "any number of times";
  const count = Number(field(panel, "most_uses").value);
  if (!Number.isInteger(count) || count < 1) return "";
  return count === 1 ? "once more" : `at most ${count} times`;
}

/** @param {HTMLElement} panel */
function terms(panel) {
  const where = chosen(panel, "where") === "run" ? "in this run" : "in any of its runs";
  const length = need(panel, "[name=for_s]", HTMLSelectElement).selectedOptions[0].textContent;
  return `by agent ${panel.dataset.agent} ${where} for ${length}, ${often(panel) || "but say how often"}`;
}

/**
 * Show those values in the button that have to be the same.
 *
 * @param {Element} panel
 * @returns {boolean} whether there is any
 */
function showPins(panel) {
  const ticked = findAll(panel, "[name=pinned]:checked", HTMLInputElement).map((box) => box.value);
  for (const pin of findAll(panel, "[data-pin]", HTMLElement)) {
    pin.hidden = !ticked.includes(pin.dataset.pin ?? "");
    need(pin, "[data-and]", HTMLElement).hidden = pin.dataset.pin === ticked[0];
  }
  need(panel, "[data-chosen]", HTMLElement).textContent = ticked.length ? "" : "no value chosen yet";
  return ticked.length > 0;
}

/** @param {HTMLElement} panel */
function show(panel) {
  const scopes = find(panel, ".remember-scopes", HTMLElement);
  const pins = find(panel, ".remember-pins", HTMLElement);
  const scope = chosen(panel, "scope") ?? "content";
  const any = field(panel, "any_number").checked;
  field(panel, "most_uses").disabled = any;
  if (scopes) scopes.hidden = false;
  if (pins) pins.hidden = scope !== "arguments";
  const isClear = !pins || showPins(panel) || scope !== "arguments";
  for (const button of findAll(panel, "[data-scope]", HTMLButtonElement)) {
    button.hidden = button.dataset.scope !== scope;
    button.disabled = !isClear || !often(panel);
    need(button, "[data-terms]", HTMLElement).textContent = terms(panel);
  }
}

function showAll() {
  findAll(document, ".remember", HTMLElement).forEach(show);
}

for (const name of ["change", "input"]) {
  document.addEventListener(name, (event) => {
    const panel = closest(event.target, ".remember", HTMLElement);
    if (panel) show(panel);
  });
}
document.addEventListener("htmx:afterSettle", showAll);
showAll();
