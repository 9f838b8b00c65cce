// Says that a request is in sight, after a second and then every 20 s while the page is visible,
// and shows who else reads it. Nothing depends on it: the page comes with who reads at the time.

import { find } from "./dom.js";

const FIRST_MS = 1000;
const AGAIN_MS = 20_000;
const form = () => find(document, "#seen", HTMLFormElement);
const place = () => document.getElementById("request-viewing");
let timer = 0;
/** @type {HTMLFormElement | null} */
let watched = null;

async function tell() {
  const open = form();
  if (document.hidden || !open) return;
  timer = setTimeout(tell, AGAIN_MS);
  try {
    const answer = await fetch(open.action, { method: "POST", body: new FormData(open) });
    if (answer.ok && open === form()) show(await answer.text());
  } catch {
    // Offline: live.js says so, and the next time tells it.
  }
}

/** @param {string} html - the fragment; its words are ours, and it is the only thing that changes */
function show(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("request-viewing");
  const shown = place();
  if (fresh && shown && fresh.textContent !== shown.textContent) shown.replaceWith(fresh);
}

function watch() {
  clearTimeout(timer);
  if (!form() || document.hidden) return;
  timer = setTimeout(tell, FIRST_MS);
}

/** Another request was opened in this page. */
function opened() {
  if (watched === form()) return;
  watched = form();
  watch();
}

document.addEventListener("visibilitychange", watch);
document.addEventListener("htmx:afterSettle", opened);
opened();
