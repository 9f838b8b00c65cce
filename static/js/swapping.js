// Keeps htmx honest: an answer that is not the part that was asked for is never swapped in.

import { closest, need } from "./dom.js";
import { reload } from "./pacing.js";
import { disarm } from "./pressing.js";

/**
 * @param {Element} target
 * @param {string} html
 * @returns {boolean} whether ``html`` holds what would replace ``target``
 */
function fits(target, html) {
  return !target.id || html.includes(`id="${target.id}"`);
}

/** @param {HtmxRequest | undefined} config - whether it asks for a request to open */
const isOpening = (config) => config?.elt?.id === "opener";

document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, serverResponse, xhr } = event.detail;
  if (!event.detail.shouldSwap || fits(target, serverResponse)) return;
  event.detail.shouldSwap = false;
  // Signed out, or too old a form: the server says so on a page of its own.
  const url = xhr.responseURL && new URL(xhr.responseURL);
  const wasPressed = url && url.searchParams.has("pressed"); // the sign-in page: nothing was recorded
  if (url && (wasPressed || isOpening(event.detail.requestConfig))) location.assign(url);
  else reload();
});

document.addEventListener("htmx:afterSwap", (event) => {
  const { requestConfig, target } = event.detail;
  requestConfig?.elt?.removeAttribute("aria-busy"); // of a form that hx-preserve kept
  if (target?.id === "pane") document.querySelector(".messages")?.remove(); // said of another page
  if (closest(target ?? null, "#last-decision, #list", Element)) return; // moves no button: the bar grows
  disarm();
});

for (const name of /** @type {const} */ (["htmx:sendError", "htmx:responseError", "htmx:timeout"])) {
  document.addEventListener(name, (event) => {
    const config = event.detail.requestConfig;
    config.elt?.removeAttribute("aria-busy");
    if (isOpening(config) && name === "htmx:responseError") return location.assign(config.path); // it says why
    const form = closest(event.detail.elt, "form:is(.decide, .signing)", HTMLFormElement);
    if (form && config.verb === "post") need(form, ".bar-trouble", HTMLElement).hidden = false;
  });
}
