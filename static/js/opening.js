// Opens requests in the pane beside the list, and has the address follow. The links that ask for it come
// and go with the list and the bar, so an element that stays asks the server for them: whatever became
// of the link meanwhile, the address names the request that the page shows. The link that was followed
// last wins. Without this file the links load the whole page.

import { closest } from "./dom.js";
import { mayLeave } from "./drafts.js";

const OPENS = ".items [data-id] .item-link, a[data-opens]";
const opener = document.getElementById("opener");

/** @returns {string | undefined} the id of the request that is open */
export const openId = () => document.getElementById("request")?.dataset.id;

/** @param {MouseEvent} event */
function follow(event) {
  const link = closest(event.target, OPENS, HTMLAnchorElement);
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented) return;
  event.preventDefault();
  if (mayLeave()) openRequest(link.href);
}

/** @param {string} address - of a request, on this server */
export function openRequest(address) {
  const { pathname, search } = new URL(address, location.href);
  const options = { source: opener, target: "#pane", select: "#pane", swap: "outerHTML show:window:top" };
  htmx.ajax("GET", pathname + search, options).catch(() => {}); // swapping.js says what went wrong
}

if (opener) document.addEventListener("click", follow);
