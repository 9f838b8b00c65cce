// How soon a page asks the server again by itself: the longer the last answer took, the later. So
// open pages share what the server can spare, and never stand in the way of who decides.

const PATIENCE = 5; // times what the last answer took
const LONGEST_MS = 30_000; // a computer that slept would wait for as long again, and more
let arrivesBy = 0; // when somebody who is on the way to another page, or to a file, should be there

/** Read the page again; but a reload would call off the way to another page, so that has its time first. */
export function reload() {
  setTimeout(() => location.reload(), arrivesBy - performance.now());
}

window.addEventListener("beforeunload", () => (arrivesBy = performance.now() + LONGEST_MS));
window.addEventListener("pageshow", () => (arrivesBy = 0));

/**
 * @param {number} took_ms - what the last answer took
 * @returns {number} how long to leave the server alone after it
 */
export const pauseAfter = (took_ms) => Math.min(PATIENCE * took_ms, LONGEST_MS);

/**
 * Twice as long each time, with jitter: a hundred open pages do not all come back in the same second.
 *
 * @param {number} attempt - 0 for the first retry
 * @returns {number} milliseconds to wait before it, at most 30 000
 */
export function retryDelay(attempt) {
  const ceiling = Math.min(LONGEST_MS, 500 * 2 ** attempt);
  return (ceiling * (1 + Math.random())) / 2;
}

/**
 * Ask at once where nothing was asked lately, and else once after the pause, whatever was rung
 * meanwhile. A ring while the answer is under way is never lost: it may have come too late for it.
 *
 * @param {() => Promise<unknown>} ask - settles with the answer, or without one
 * @param {number} least_ms - from one question to the next, however quick the answers are
 * @returns {(urgent?: boolean) => void} rings; urgently is without a pause, for what somebody pressed
 */
export function paced(ask, least_ms) {
  let timer = 0;
  let asking = false;
  let rung = false;
  let pressed = false;
  let notBefore = 0;

  async function go() {
    asking = true;
    rung = pressed = false;
    const began = performance.now();
    await ask().catch(() => {}); // live.js says that the server is away
    asking = false;
    const ended = performance.now();
    notBefore = Math.max(began + least_ms, ended + pauseAfter(ended - began));
    if (rung) ring();
  }

  function ring(urgent = false) {
    rung = true;
    pressed ||= urgent;
    clearTimeout(timer);
    if (!asking) timer = setTimeout(go, pressed ? 0 : notBefore - performance.now());
  }

  return ring;
}

/**
 * Have htmx fetch and swap something in.
 *
 * @param {HTMLElement} source - stays in the page; no other request may begin at it meanwhile
 * @param {string} url
 * @param {HtmxOptions} options
 * @returns {Promise<void>} settles when the request has ended, in whatever way
 */
export function fetched(source, url, options) {
  return new Promise((resolve) => {
    /** @type {XMLHttpRequest[]} */
    const sent = [];
    /** @param {HtmxAnswerEvent} event */
    const note = (event) => event.target === source && sent.push(event.detail.xhr);
    source.addEventListener("htmx:beforeRequest", note);
    htmx.ajax("GET", url, { source, ...options }).catch(() => {});
    source.removeEventListener("htmx:beforeRequest", note);
    const request = sent.at(-1);
    if (request) request.addEventListener("loadend", () => resolve());
    else resolve();
  });
}
