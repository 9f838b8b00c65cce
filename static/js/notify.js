// Tells somebody who looks elsewhere that something needs them, if they asked for that in this
// browser. It says how many, never what; to press it leads to the queue and decides nothing.
// Nothing is told while a page of ours is in sight, and at most once in ten seconds.

import { serverNow } from "./countdown.js";
import { findAll } from "./dom.js";
import { pauseAfter } from "./pacing.js";

export const STORED = "approvals:notify"; // "on", or nothing
const TOLD = "approvals:told"; // when a tab of this browser told something, in ms
const IN_SIGHT = "approvals:in-sight"; // when a tab of ours that is in sight heard something
const GAP_MS = 10_000;
const BURST_MS = 1000; // also the time in which a tab in sight says that it is
const LAST_MS = 60_000;

/** @typedef {{mine: number, newest: number, soonest: string | null}} Needs - as web:mine answers */

const { mine, queue = "", icon } = document.getElementById("live")?.dataset ?? {};
/** @type {Needs | null} */
let known = null; // what needed the reader when they looked away, or were told
let notBefore = 0; // by performance.now()
let timer = 0;
let lastTimer = 0;
/** @type {string | null} */
let warnedOf = null;

/** @param {string} name */
const since = (name) => Date.now() - Number(localStorage.getItem(name) ?? 0);
/** @param {string} name */
const stamp = (name) => localStorage.setItem(name, String(Date.now()));

/** @returns {boolean} whether the reader asked to be told here, and the browser lets us */
export function isOn() {
  return "Notification" in window && Notification.permission === "granted" && localStorage.getItem(STORED) === "on";
}

/**
 * @param {string} words - ours alone
 * @param {string} more
 * @throws {TypeError} where the browser leaves this to apps
 */
export function show(words, more) {
  const note = new Notification(words, { body: more, tag: "approvals", icon });
  note.addEventListener("click", () => {
    note.close();
    window.focus();
    const isTyping = findAll(document, "textarea", HTMLTextAreaElement).some((field) => field.value !== field.defaultValue);
    if (!isTyping && location.pathname !== queue) location.assign(queue);
  });
  stamp(TOLD);
}

/** @returns {Promise<Needs | null>} */
async function ask() {
  const began = performance.now();
  const answer = await fetch(mine ?? "").catch(() => null);
  const ended = performance.now();
  notBefore = ended + pauseAfter(ended - began);
  return answer?.ok && !answer.redirected ? answer.json() : null;
}

const isNeeded = () => isOn() && document.hidden && since(IN_SIGHT) > 2 * BURST_MS;

async function check() {
  timer = 0; // what is heard from here on may be too late for this answer
  const now = await ask();
  if (!now || !document.hidden) return;
  const isNews = known ? now.mine > known.mine || now.newest > known.newest : now.mine > 0;
  known = now;
  watchTheLast(now.soonest);
  if (isNews && isNeeded()) show("An approval request waits", now.mine === 1 ? "1 needs you." : `${now.mine} need you.`);
}

/** Look a moment after something changed: a burst is one look, and one word about it. */
function look() {
  if (!document.hidden) return stamp(IN_SIGHT);
  if (!isOn() || timer) return;
  timer = setTimeout(check, Math.max(BURST_MS, GAP_MS - since(TOLD), notBefore - performance.now()));
}

/** @param {string | null} soonest - when the first one ends that needs the reader */
function watchTheLast(soonest) {
  clearTimeout(lastTimer);
  const wait_ms = soonest ? Date.parse(soonest) - LAST_MS - serverNow() : -1;
  if (wait_ms >= 0 && soonest !== warnedOf) lastTimer = setTimeout(warn, Math.min(wait_ms, 2 ** 31 - 1), soonest);
}

/** @param {string} soonest */
async function warn(soonest) {
  const now = await ask();
  if (now?.soonest !== soonest || !isNeeded() || since(TOLD) < GAP_MS) return;
  warnedOf = soonest;
  show("A request ends within a minute", "It needs you. Without an answer it expires.");
}

async function turned() {
  clearTimeout(timer);
  timer = 0;
  clearTimeout(lastTimer);
  if (!document.hidden) return stamp(IN_SIGHT);
  known = isOn() ? await ask() : null;
  if (known) watchTheLast(known.soonest);
}

if (mine) {
  document.addEventListener("live:caught-up", look);
  document.addEventListener("live:changed", (event) => event.detail.in_queue === false || look());
  document.addEventListener("visibilitychange", turned);
}
