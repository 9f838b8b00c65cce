// Keeps the list and the address at what the filters say, whatever is opened beside the list.
// Without this file the filters are a form that is sent.

import { showBadge } from "./badge.js";
import { look } from "./queue.js";

const TYPING_MS = 250;
const form = document.getElementById("filters");
const list = () => document.getElementById("list");
const query = () => new URL(list().dataset.url, location.href).search;
let timer = 0;

/** Have the address say what the list is narrowed to: a link to the page then gives the same. */
function keepAddress() {
  if (location.search === query()) return;
  history.replaceState(history.state, "", location.pathname + query() + location.hash);
}

function narrow() {
  clearTimeout(timer);
  const fields = [...new FormData(form)].filter(([, value]) => value.trim());
  const asked = new URLSearchParams(fields).toString();
  list().dataset.url = form.dataset.list + (asked && `?${asked}`);
  look(true);
}

/** Mark the request that is open beside the list, whoever swapped what, and count in the title. */
function mark() {
  for (const link of document.querySelectorAll(".item-link")) {
    if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const waiting = Number(list().dataset.waiting);
  if (document.getElementById("choose")) {
    document.title = `${waiting ? `${waiting} waiting` : "Queue"} · Approvals`;
  }
  showBadge(Number(list().dataset.mine));
}

/** Let "Next request" mean the next in this list, where that is not simply what is most urgent. */
function goOn(event) {
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!query() || !isPlain || !event.target.closest?.(".result .button--primary")) return;
  const links = [...document.querySelectorAll(".item:not(.item--gone) .item-link")];
  const next = links.find((link) => link.pathname !== location.pathname);
  if (!next) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  next.click();
}

function settled(event) {
  mark();
  if (event.detail.target?.id === "list" || event.type === "htmx:pushedIntoHistory") keepAddress();
}

if (form) {
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(narrow, TYPING_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    narrow();
  });
  document.addEventListener("click", goOn, true);
  document.addEventListener("htmx:afterSettle", settled);
  document.addEventListener("htmx:pushedIntoHistory", settled);
  mark();
}
