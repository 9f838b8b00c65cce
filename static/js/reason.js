// The reason of an answer. A line of the content is quoted into that of a rejection, by a press on its
// number or by Enter where the arrow keys chose it. What was written for one answer follows to the other.

import { announce } from "./announcing.js";
import { closest, find, findAll, need } from "./dom.js";

/** @type {Record<string, number | undefined>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1 };
const LONGEST = 120; // characters of a line; the agent knows the rest
const FIELDS = "#request-bar textarea[name$=reason]";
const CODE = "#request .content .code:not(.code--bare)";
/** @type {HTMLElement | null} */
let chosen = null;

/** @param {HTMLElement} line */
function numberOf(line) {
  const { n, of: begun = n } = line.dataset; // a line that goes on in another part has a sign there
  if (begun) return Number(begun);
  return [...(line.closest(".code")?.querySelectorAll(".line") ?? [])].indexOf(line) + 1;
}

/** @param {HTMLElement} line - its text is the content alone */
function quote(line) {
  const detail = { line: numberOf(line), text: line.textContent };
  line.dispatchEvent(new CustomEvent("quote-line", { bubbles: true, detail }));
}

/**
 * @param {MouseEvent} event
 * @param {HTMLElement} line
 * @returns {boolean} whether the press was on the number, and not on the text beside it
 */
function isOnNumber(event, line) {
  return event.clientX < line.getBoundingClientRect().left + parseFloat(getComputedStyle(line, "::before").width) + 8;
}

/** @param {MouseEvent} event */
function pressed(event) {
  const line = closest(event.target, `${CODE} .line`, HTMLElement);
  if (line && !String(getSelection()) && isOnNumber(event, line)) quote(line);
}

/** @param {HTMLElement} line */
function choose(line) {
  chosen?.classList.remove("is-chosen");
  chosen = line;
  line.classList.add("is-chosen");
  line.scrollIntoView({ block: "nearest" });
  announce(`Line ${numberOf(line)}: ${line.textContent}`);
}

/** @param {KeyboardEvent} event */
function typed(event) {
  const { key, target } = event;
  if (!(target instanceof Element && target.matches(CODE)) || event.ctrlKey || event.altKey || event.metaKey) return;
  const lines = findAll(target, ".line", HTMLElement);
  const at = lines.findIndex((line) => line === chosen);
  const step = STEPS[key];
  if (step) {
    event.preventDefault();
    choose(lines[Math.min(Math.max(at < 0 ? 0 : at + step, 0), lines.length - 1)]);
  } else if (key === "Enter" && at >= 0) {
    event.preventDefault();
    quote(lines[at]);
  }
}

/** Only who may reject quotes. */
function offer() {
  if (!document.querySelector("#request-bar .reject")) return;
  for (const code of findAll(document, `${CODE}:not([tabindex])`, HTMLElement)) {
    code.classList.add("code--quotes");
    code.tabIndex = 0;
    code.setAttribute("role", "group");
    code.setAttribute("aria-label", "Lines. Arrow keys choose one, Enter quotes it into the reason of a rejection.");
  }
}

document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!(target instanceof HTMLDetailsElement) || !target.open) return;
    const field = find(target, FIELDS, HTMLTextAreaElement);
    if (!field || field.value) return;
    field.value = findAll(document, FIELDS, HTMLTextAreaElement).find(({ value }) => value)?.value ?? "";
    field.dispatchEvent(new Event("input", { bubbles: true })); // as if typed
  },
  true,
);

document.addEventListener("quote-line", (event) => {
  const panel = find(document, "#request-bar .reject", HTMLDetailsElement);
  if (!panel) return;
  const { line, text } = event.detail;
  const words = text.trim();
  const quoted = `> line ${line}: ${words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words}\n`;
  const field = need(panel, "textarea", HTMLTextAreaElement);
  const reason = field.value.replace(/[^\n]$/, "$&\n") + quoted;
  if (reason.length > field.maxLength) return;
  panel.open = true;
  field.value = reason;
  field.dispatchEvent(new Event("input", { bubbles: true })); // as if typed
  field.focus({ preventScroll: true });
  field.setSelectionRange(reason.length, reason.length);
});
document.addEventListener("click", pressed);
document.addEventListener("keydown", typed);
document.addEventListener("htmx:afterSettle", offer);
offer();
