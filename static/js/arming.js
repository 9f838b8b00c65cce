// No press counts within half a second after something changed under the hands, and no form is
// sent twice. Without script the server refuses the second answer instead.

const ARMS_AFTER_MS = 500;
const root = document.documentElement; // says so too: data-arming, for the pointer's shape
let armedAt = 0;
let timer = 0;

/** Start the half second again: something moved or was replaced. */
export function disarm() {
  armedAt = performance.now() + ARMS_AFTER_MS;
  root.dataset.arming = "";
  clearTimeout(timer);
  timer = setTimeout(() => delete root.dataset.arming, ARMS_AFTER_MS + 10);
}

/** @param {Event} event */
function refuse(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @param {SubmitEvent} event */
function guard(event) {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.matches(".decide, [data-arms]") && performance.now() < armedAt) return refuse(event);
  if (form.getAttribute("aria-busy") === "true") return refuse(event);
  form.setAttribute("aria-busy", "true"); // not disabled: a disabled button is not sent
}

/** Let forms be sent again, after an answer that left them where they are. */
export function release() {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.removeAttribute("aria-busy");
}

// On the way down, so before htmx or anybody else hears of it.
document.addEventListener("submit", guard, true);
document.addEventListener(
  "click",
  (event) => {
    const moved = event.target.closest?.(".item-link, .result .button");
    if (moved && event.detail > 0 && performance.now() < armedAt) refuse(event);
  },
  true,
);
window.addEventListener("pageshow", release); // back from the history, as it was left
disarm();
