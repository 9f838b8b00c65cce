// Opens requests in the pane beside the list, and has the address follow. Links come and go with the list
// and the bar, so an element that stays asks the server for them: the address always names the request that
// the page shows. The last link wins. Without this file they load the whole page.

import { closest } from "./dom.js";
import { mayLeave } from "./drafts.js";

const OPENS = ".items [data-id] .item-link, a[data-opens]";
const opener = document.getElementById("opener");

/** @type {{id: string} | null} */
let coming = null; // the request that was asked for last, until it is there or cannot be had

/** @returns {string | undefined} the id of the request that is open */
export const openId = () => document.getElementById("request")?.dataset.id;

/** @returns {string | undefined} the id of the request that is on its way */
export const comingId = () => coming?.id;

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
  const asked = { id: pathname.slice(pathname.lastIndexOf("/") + 1) };
  coming = asked;
  const answered = htmx.ajax("GET", pathname + search, options).catch(() => {}); // swapping.js says what went wrong
  answered.finally(() => coming === asked && (coming = null));
}

if (opener) document.addEventListener("click", follow);
