// Which parts of the content were in view between the header and the bar, and for how long. A line is
// in view once all of it was; that says nothing about who read it. "Next unseen part" scrolls to the
// next one. Tells the page by inview:changed on the document. Without this file nothing is counted,
// and the reader says themselves that all of it was in view.

import { closest, find, findAll, need } from "./dom.js";

/**
 * @typedef {{element: Element, covered_px: number, seen: boolean, for_ms: number, now: boolean}} Unit
 * @typedef {Pick<Unit, "seen" | "for_ms">} Seen
 * @typedef {{key: string, root: Element, units: Unit[], byElement: Map<Element, Unit>, ticked: number}} Watched
 * @typedef {{from: number, to: number, for_ms: number, about: number}} Span
 */

const SLACK_PX = 4; // of a line, for rounding and what hangs below it
const CONTEXT_PX = 40; // what was seen last stays in sight after a scroll
const TICK_MS = 1000;
const MOST_SPANS = 60;
const BLOCKS = "li, tr, p, dd, dt, figcaption, summary, div, h2, h3, h4";
const NOT_CONTENT = ".visually-hidden, form, fieldset, button, svg, .content-head, .section-head, .line-note, .window-next, .raw > summary, .memory-legend, .memory-note, .memory-standing, #content-end";
const HEADS = ":is(.content-head, .block-head, .memory-facts) *"; // in view at the beginning, and no line to people
const COUNTED = { step: ".plan-step", argument: ".call > .members > .member" };

/** @type {Map<string, string>} */
const finished = new Map(); // what was said of contents that were all in view, by request or change
/** @type {Watched | null} */
let watched = null;
/** @type {Set<Unit>} */
const near = new Set(); // units that are at least partly within the window
const nearing = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    const unit = watched?.byElement.get(target);
    if (!unit) continue;
    if (isIntersecting) near.add(unit);
    else leave(unit);
  }
  measure();
});

/** @returns {Unit[]} what is counted, if anything is */
const unitsNow = () => watched?.units ?? [];

/**
 * @param {Element} request
 * @returns {Element | null | undefined} the content of the request that is open
 */
const rootOf = (request) => request.querySelector("#content-end")?.parentElement;
const ceiling = () => Math.max(0, document.querySelector(".header")?.getBoundingClientRect().bottom ?? 0);
const floor = () => document.getElementById("request-bar")?.getBoundingClientRect().top ?? innerHeight;

/** @param {Element} element - whether it is in a fold that is closed, and not its summary */
function isFolded(element) {
  const fold = element.closest("details:not([open])");
  return Boolean(fold) && element.closest("summary")?.parentElement !== fold;
}

/**
 * @param {Element} root
 * @returns {Element[]} the lines, rows and paragraphs that hold its text, in order
 */
function partsOf(root) {
  // Empty lines too, but not what follows the break at the end: that is no line to people.
  const lines = [...root.querySelectorAll(".line")].filter((line) => !line.matches(":empty:last-child:not(:first-child)") && !isFolded(line));
  /** @type {Set<Element>} */
  const found = new Set(lines);
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    if (!element || !text.nodeValue?.trim() || element.closest(NOT_CONTENT) || isFolded(element)) continue;
    found.add(element.closest(".line") ?? element.closest(BLOCKS) ?? element);
  }
  found.delete(root);
  return [...root.querySelectorAll("*")].filter((part) => found.has(part) && part.getClientRects().length);
}

/** Look again at what there is: a part came, or a fold was opened. What was seen stays seen. */
export function rescan() {
  if (!watched) return;
  const known = watched.byElement;
  watched.units = partsOf(watched.root).map((element) => known.get(element) ?? { element, covered_px: 0, seen: false, for_ms: 0, now: false });
  watched.byElement = new Map(watched.units.map((unit) => [unit.element, unit]));
  for (const unit of watched.units) {
    near.add(unit); // until the browser says otherwise
    nearing.observe(unit.element);
  }
  measure();
}

/**
 * Begin with the content of a request that was opened.
 *
 * @param {HTMLElement} request
 */
export function watch(request) {
  watched = null;
  near.clear();
  nearing.disconnect();
  const root = rootOf(request);
  if (!root) return;
  watched = { key: request.dataset.read ?? request.dataset.id ?? "", root, units: [], byElement: new Map(), ticked: performance.now() };
  rescan();
}

/** @param {Unit} unit - that is out of the window */
function leave(unit) {
  near.delete(unit);
  unit.now = false;
}

/**
 * Note how much of a unit is between ``top`` and ``bottom``.
 *
 * @param {Unit} unit
 * @param {number} top
 * @param {number} bottom
 */
function cover(unit, top, bottom) {
  const box = unit.element.getBoundingClientRect();
  const from = Math.max(0, top - box.top);
  const to = Math.min(box.height, bottom - box.top);
  unit.now = to - from >= Math.min(box.height, bottom - top) - SLACK_PX && to > from;
  if (to > from && from <= unit.covered_px + SLACK_PX) unit.covered_px = Math.max(unit.covered_px, to);
  unit.seen ||= unit.covered_px >= box.height - SLACK_PX;
}

/** Note what is in view now: each part counts from its top on, so that long ones are seen to their end. */
function measure() {
  if (!watched?.root.isConnected) return;
  const time = performance.now();
  const passed_ms = Math.min(time - watched.ticked, 2 * TICK_MS); // a computer may have slept
  watched.ticked = time;
  if (document.hidden) return;
  const [top, bottom] = [ceiling(), floor()];
  for (const unit of near) {
    if (unit.now) unit.for_ms += passed_ms;
    cover(unit, top, bottom);
  }
  if (isComplete()) finished.set(watched.key, inWords());
  show();
}

/** @returns {HTMLAnchorElement[]} links to parts that are not on the page yet */
function toCome() {
  const links = watched ? findAll(watched.root, "[data-next]", HTMLAnchorElement) : [];
  return links.filter((link) => !isFolded(link));
}

const isOwed = () => Number(find(document, "#request-bar .owed", HTMLElement)?.dataset.owed) > 0;

function isComplete() {
  return unitsNow().every((unit) => unit.seen) && (!isOwed() || toCome().length === 0);
}

/** @returns {boolean} whether all that is on the page was in view, now or when it was open before */
export const wasAllInView = () => watched !== null && finished.has(watched.key);

/**
 * Put the units of each step or argument together. What stands in none has to be seen as well, so while it
 * is not, nothing is counted this way.
 *
 * @param {string} selector
 * @returns {Seen[]}
 */
function together(selector) {
  /** @type {Map<Element, Unit[]>} */
  const groups = new Map();
  for (const unit of unitsNow()) {
    const group = unit.element.closest(selector);
    if (group) groups.set(group, [...(groups.get(group) ?? []), unit]);
    else if (!unit.seen) return [];
  }
  return [...groups.values()].map((units) => ({ seen: units.every((unit) => unit.seen), for_ms: Math.min(...units.map((unit) => unit.for_ms)) }));
}

/**
 * What people count: steps, arguments, or lines where most of it is lines; else rows and paragraphs.
 *
 * @returns {{word: string, units: Seen[]}}
 */
function counted() {
  for (const [word, selector] of Object.entries(COUNTED)) {
    const units = together(selector);
    if (units.length) return { word, units };
  }
  const all = unitsNow();
  const lines = all.filter((unit) => unit.element.matches(".line"));
  if (lines.length <= all.length / 2) return { word: "part", units: all };
  const body = lines.filter((unit) => !unit.element.matches(HEADS));
  const areHeadsSeen = lines.every((unit) => unit.seen || body.includes(unit));
  return { word: "line", units: body.length && areHeadsSeen ? body : lines };
}

function inWords() {
  const { word, units } = counted();
  const seen = units.filter((unit) => unit.seen).length;
  const [first, more] = toCome().length && isOwed() ? ["the first ", ", more below"] : ["", ""];
  return `${seen.toLocaleString("en")} of ${first}${units.length.toLocaleString("en")} ${word}${units.length === 1 ? "" : "s"} seen${more}`;
}

/** @returns {string} why Approve is not offered, where that is why */
export const whyNotYet = () => (watched ? `${inWords().replace("seen", "were in view")}.` : "");

function show() {
  const place = document.getElementById("in-view");
  if (place && watched) {
    const isAll = wasAllInView();
    const words = finished.get(watched.key) ?? inWords();
    const said = need(place, "[data-in-view]", HTMLElement);
    if (said.textContent !== words) said.textContent = words;
    place.hidden = false;
    place.toggleAttribute("data-all", isAll);
    need(document, "#next-unseen", HTMLElement).hidden = isAll;
  }
  document.dispatchEvent(new CustomEvent("inview:changed"));
}

/** Scroll, and no more. */
function toNextUnseen() {
  measure();
  const unit = unitsNow().find((one) => !one.seen);
  const next = unit?.element ?? toCome()[0] ?? document.querySelector("#request-bar .owed a");
  if (!next) return;
  const to_px = next.getBoundingClientRect().top + (unit?.covered_px ?? 0);
  window.scrollBy({ top: to_px - ceiling() - CONTEXT_PX, behavior: "instant" });
  measure();
}

/**
 * Say what was in view, for the record: spans of parts of about the same time, with the least whole
 * seconds that each of theirs was in view.
 *
 * @returns {string} JSON, as web/desk/answer.py reads it; empty if nothing was counted
 */
function record() {
  if (!watched) return "";
  measure();
  const { word, units } = counted();
  /** @type {Span[]} */
  const spans = [];
  units.forEach((unit, index) => {
    if (!unit.seen) return;
    const about = Math.round(Math.log2(1 + unit.for_ms / 1000));
    const last = spans.at(-1);
    if (last?.to === index && (last.about === about || spans.length >= MOST_SPANS)) Object.assign(last, { to: index + 1, for_ms: Math.min(last.for_ms, unit.for_ms) });
    else if (spans.length < MOST_SPANS) spans.push({ from: index + 1, to: index + 1, for_ms: unit.for_ms, about });
  });
  return JSON.stringify({
    unit: word,
    of: units.length,
    seen: units.filter((unit) => unit.seen).length,
    spans: spans.map(({ from, to, for_ms }) => [from, to, Math.floor(for_ms / 1000)]),
  });
}

let isDue = false;

function soon() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    measure();
  });
}

for (const name of ["scroll", "resize"]) window.addEventListener(name, soon, { passive: true });
for (const name of ["visibilitychange", "htmx:afterSettle"]) document.addEventListener(name, measure);
document.addEventListener("toggle", (event) => event.target instanceof Node && watched?.root.contains(event.target) && rescan(), true);
document.addEventListener("click", (event) => closest(event.target, "#next-unseen", HTMLElement) && toNextUnseen());
document.addEventListener(
  "submit",
  (event) => {
    const field = event.target instanceof Element && find(event.target, ":scope > [name=in_view]", HTMLInputElement);
    if (field) field.value = record();
  },
  true,
);
setInterval(measure, TICK_MS);
