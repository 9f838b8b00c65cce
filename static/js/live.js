// Hears from the server which requests changed, and says in the header whether it still hears.
// Tells the rest of the page by events on the document:
//   live:changed {id, version}   a request changed; with in_queue false, nothing that a list shows
//   live:gate                    the hold or the policy changed
//   live:caught-up               something may have been missed: read everything again
//   live:joined                  the page hears from now on; something may have come since it was drawn
// The page is complete without this file; reloading does the same.

import { need } from "./dom.js";
import { reload, retryDelay } from "./pacing.js";

const CLOSED_SIGNED_OUT = 4401;
const CLOSED_NOT_PERMITTED = 4403;
const LOOK_AGAIN_MS = 30_000; // bells can be lost; the database is the truth

const sign = () => need(document, "#live", HTMLElement);
/** @type {WebSocket | null} */
let socket = null;
let attempt = 0;
let timer = 0;
let wasConnected = false;

/**
 * @param {"live" | "late" | "trying" | "off"} state
 * @param {string} words
 */
function say(state, words) {
  if (sign().dataset.state === state && sign().textContent === words) return;
  sign().dataset.state = state;
  sign().textContent = words;
}

/**
 * @param {string} name
 * @param {object} [detail]
 */
function tell(name, detail) {
  document.dispatchEvent(new CustomEvent(`live:${name}`, { detail }));
}

function catchUp() {
  tell("gate");
  tell("caught-up");
}

/** @param {boolean} isLate - whether the server itself hears of changes only every few seconds */
function lookAgain(isLate) {
  if (isLate) say("late", "Live, 3 s late");
  else say("live", "Live");
  catchUp();
}

/** @param {MessageEvent<string>} event */
function hear(event) {
  const { also = [], ...first } = JSON.parse(event.data);
  for (const news of [first, ...also]) {
    if (news.id === "all") lookAgain(news.late);
    else if (news.id === "gate") tell("gate");
    else tell("changed", news);
  }
}

function opened() {
  say("live", "Live");
  if (wasConnected || attempt > 0) catchUp();
  else tell("joined");
  wasConnected = true;
  attempt = 0;
}

/** @param {CloseEvent} event */
function closed(event) {
  socket = null;
  if (event.code === CLOSED_SIGNED_OUT) return reload(); // the server shows the way in
  if (event.code === CLOSED_NOT_PERMITTED) return say("off", "Not permitted");
  if (!navigator.onLine) return say("off", "Offline");
  say("trying", "Reconnecting…");
  timer = setTimeout(connect, retryDelay(attempt++));
}

function connect() {
  clearTimeout(timer);
  if (socket) return;
  const address = new URL(sign().dataset.socket ?? "", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(address);
  socket.addEventListener("open", opened);
  socket.addEventListener("message", hear);
  socket.addEventListener("close", closed);
}

/** A socket through a sleep or another network looks open for minutes: make a new one. */
function reconnect() {
  socket?.close();
  attempt = 0;
  if (!socket) connect();
}

if (document.getElementById("live")) {
  say("trying", "Connecting…");
  connect();
  window.addEventListener("offline", () => say("off", "Offline"));
  window.addEventListener("online", reconnect);
  window.addEventListener("pageshow", (event) => event.persisted && catchUp());
  document.addEventListener("visibilitychange", () => document.hidden || catchUp());
  setInterval(() => document.hidden || catchUp(), LOOK_AGAIN_MS);
}
