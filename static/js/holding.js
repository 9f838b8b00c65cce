// A finger approves by a deliberate hold: a tap that went astray approves nothing. Mice, keyboards
// and screen readers press as ever, and so does everybody without this file.

import { announce } from "./announcing.js";
import { sayTooEarly } from "./arming.js";

const HOLD_MS = 600;
const STRAYS_PX = 12;
const root = document.documentElement;
let held = null; // the button under the finger, with where that came down
let isTouch = false; // whether what was pressed last was an Approve, by a finger

/** @param {EventTarget} target */
const approveAt = (target) => target.closest?.(".decide > [value=approve]");

/**
 * A screen reader's press has no extent.
 *
 * @param {PointerEvent} event
 */
const isFinger = (event) => event.pointerType === "touch" && event.width + event.height > 0;

/** @param {boolean} isHint - that a tap was too short */
function hint(isHint) {
  const words = document.querySelector("#request-bar .hold-said");
  if (!words) return;
  words.hidden = !isHint;
  if (isHint) announce(words.textContent);
}

/** @param {PointerEvent} event */
function begin(event) {
  end();
  const button = approveAt(event.target);
  isTouch = Boolean(button) && isFinger(event);
  if (!isTouch || button.disabled) return;
  if ("arming" in root.dataset) return sayTooEarly();
  const timer = setTimeout(approve, HOLD_MS);
  held = { button, x: event.clientX, y: event.clientY, timer };
  button.classList.add("is-held");
}

function end() {
  if (!held) return;
  clearTimeout(held.timer);
  held.button.classList.remove("is-held");
  held = null;
}

/** Press, as a key would. If something changed under the finger, arming.js refuses it. */
function approve() {
  const { button } = held;
  end();
  hint(false);
  if (button.isConnected) button.click();
}

/** @param {PointerEvent} event */
function move(event) {
  if (held && Math.hypot(event.clientX - held.x, event.clientY - held.y) > STRAYS_PX) end();
}

function lift() {
  if (!held) return;
  end();
  hint(true);
}

/**
 * Stop the click of a finger that went down on Approve, whatever came under it since. Keys and
 * screen readers click without a count, and so does a hold.
 *
 * @param {MouseEvent} event
 */
function swallow(event) {
  if (!isTouch || event.detail === 0) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

document.addEventListener("pointerdown", begin, true);
document.addEventListener("pointermove", move, true);
document.addEventListener("pointerup", lift, true);
document.addEventListener("pointercancel", end, true);
window.addEventListener("click", swallow, true); // before arming.js, which would say it was early
document.addEventListener("htmx:beforeSwap", (event) => held && event.detail.target?.contains(held.button) && end());
document.addEventListener("contextmenu", (event) => isTouch && approveAt(event.target) && event.preventDefault());
if (matchMedia("(pointer: coarse)").matches) root.dataset.holds = ""; // so the button says how
