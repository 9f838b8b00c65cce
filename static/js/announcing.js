// Says something to who hears the page. What has no place on the page is shown for a while as well.

const SHOWN_FOR_MS = 4000;
const place = () => document.getElementById("announcer");
let timer = 0;

/** @param {string} words */
export function announce(words) {
  hide();
  place().textContent = words;
}

/** @param {string} words */
export function announceInSight(words) {
  announce(words);
  place().classList.add("is-seen");
  timer = setTimeout(hide, SHOWN_FOR_MS);
}

/** Take away what is shown; it was heard. */
export function hide() {
  clearTimeout(timer);
  place().classList.remove("is-seen");
}
