// Counts time limits down and keeps "2 min ago" true, by the server's clock.
// Says the same words as dashboard/web/times.py, which the page came with.

import { findAll } from "./dom.js";

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
/** @type {[number, string][]} */
const UNITS = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"]];
const offset_ms = Number(document.body.dataset.nowMs) - Date.now();

/** @returns {number} the server's time in milliseconds */
export function serverNow() {
  return Date.now() + offset_ms;
}

/**
 * @param {number} seconds - whole seconds that are left
 * @returns {string}
 */
export function left(seconds) {
  if (seconds >= DAY) return `${Math.floor(seconds / DAY)} d ${Math.floor((seconds % DAY) / HOUR)} h left`;
  if (seconds >= HOUR) return `${Math.floor(seconds / HOUR)} h ${Math.floor((seconds % HOUR) / MINUTE)} min left`;
  const rest = String(seconds % MINUTE).padStart(2, "0");
  return seconds > 0 ? `${Math.floor(seconds / MINUTE)}:${rest} left` : "time is over";
}

/**
 * @param {string} words - what is left
 * @returns {string} the same for a narrow column
 */
function short(words) {
  return words.replace(/ left$/, "").replace(" min", "").replace("time is over", "over");
}

/**
 * @param {number} seconds - whole seconds that have passed
 * @returns {string}
 */
function ago(seconds) {
  if (seconds < 5) return "just now";
  for (const [size, unit] of UNITS) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  return `${seconds} s ago`;
}

/**
 * @param {number} seconds - left
 * @param {number} limit - the whole time limit, in seconds
 * @returns {"calm" | "soon" | "last"}
 */
function tone(seconds, limit) {
  if (seconds < MINUTE) return "last";
  return seconds < limit / 4 ? "soon" : "calm";
}

/**
 * @param {Element | null | undefined} bar - where there is room for one
 * @param {number} percent
 * @param {string} how - its tone
 */
function showRest(bar, percent, how) {
  bar?.setAttribute("width", String(Math.min(100, Math.round(percent))));
  bar?.setAttribute("class", `left-rest left-rest--${how}`);
}

/** @param {HTMLTimeElement} element */
function countDown(element) {
  const ends = Date.parse(element.dateTime);
  const seconds = Math.max(0, Math.floor((ends - serverNow()) / 1000));
  const wasOver = element.dataset.over;
  const words = "short" in element.dataset ? short(left(seconds)) : left(seconds);
  if (element.textContent !== words) element.textContent = words;
  const limit = (ends - Date.parse(element.dataset.begins ?? "")) / 1000;
  element.dataset.tone = tone(seconds, limit);
  showRest(element.parentElement?.querySelector(".left-rest"), limit > 0 ? (100 * seconds) / limit : 0, element.dataset.tone);
  element.dataset.over = seconds === 0 ? "yes" : "";
  if (wasOver === "" && seconds === 0) element.dispatchEvent(new CustomEvent("countdown:over", { bubbles: true }));
}

function tick() {
  findAll(document, "time.left", HTMLTimeElement).forEach(countDown);
  for (const element of findAll(document, "time[data-ago]", HTMLTimeElement)) {
    const words = ago(Math.floor((serverNow() - Date.parse(element.dateTime)) / 1000));
    if (element.textContent !== words) element.textContent = words;
  }
}

tick();
setInterval(tick, 1000);
document.addEventListener("htmx:afterSettle", tick);
