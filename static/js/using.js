// Tells the server now and then that somebody uses this page, by a key or a press that sends nothing by
// itself: who writes a long reason is not signed out meanwhile. What the page does alone tells nothing.
// Without this file only what is sent and opened counts.

import { need } from "./dom.js";

const EVERY_MS = 5 * 60_000; // as often as the server writes it down
let told_ms = Date.now(); // the page that was opened told it
const { used: address = "" } = document.body.dataset;

/** @param {Event} event */
function use(event) {
  if (!event.isTrusted || Date.now() - told_ms < EVERY_MS) return;
  told_ms = Date.now();
  const token = need(document, "[name=csrfmiddlewaretoken]", HTMLInputElement);
  const body = new URLSearchParams({ csrfmiddlewaretoken: token.value });
  fetch(address, { method: "POST", body }).catch(() => {}); // the next key tells it
}

if (address) for (const name of ["keydown", "pointerdown"]) document.addEventListener(name, use, true);
