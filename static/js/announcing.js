// Says something to who hears the page. What has no place on the page is shown for a while as well; what
// comes meanwhile and is only heard waits, so that nothing takes away why a press did not count.

import { need } from "./dom.js";

const SHOWN_FOR_MS = 4000;
const place = () => need(document, "#announcer", HTMLElement);
let timer = 0;
let waiting = ""; // said once what is shown is gone

/** @param {string} words */
export function announce(words) {
  if (place().classList.contains("is-seen")) waiting = words;
  else place().textContent = words;
}

/** @param {string} words */
export function announceInSight(words) {
  clearTimeout(timer);
  waiting = "";
  place().textContent = words;
  place().classList.add("is-seen");
  timer = setTimeout(hide, SHOWN_FOR_MS);
}

/** Take away what is shown; it was heard. */
export function hide() {
  clearTimeout(timer);
  place().classList.remove("is-seen");
  if (waiting) place().textContent = waiting;
  waiting = "";
}
