// Which presses count. None does within half a second after something changed under the hands, none
// while the browser is offline, and no form is sent twice; whoever pressed is told. What changes in the
// list moves nothing beside it, so presses beside it go on counting. A finger approves by a deliberate
// hold: a tap that went astray approves nothing. Mice, keyboards and screen readers press as ever, and
// so does everybody without this file; there the server refuses the second answer.

import { announce, announceInSight, hide } from "./announcing.js";
import { closest, find, findAll } from "./dom.js";

const ARMS_AFTER_MS = 500;
const root = document.documentElement; // data-arming says that no press counts
const HOLD_MS = 600;
const TOO_EARLY = "The page just changed: press again. Nothing was sent.";
const STRAYS_PX = 12;
let armedAt = 0;
let timer = 0;
/**
 * The button under the finger, with where that came down.
 *
 * @type {{button: HTMLButtonElement, x: number, y: number, timer: number} | null}
 */
let held = null;
let isDown = false; // whether a finger or a button of a mouse is down
/** @type {(() => void)[]} */
let lifted = []; // what waits for it to come up
let isTouch = false; // whether what was pressed last was an Approve, by a finger

/** Start the half second again: something moved or was replaced. */
export function disarm() {
  armedAt = performance.now() + ARMS_AFTER_MS;
  root.dataset.arming = "";
  clearTimeout(timer);
  timer = setTimeout(() => delete root.dataset.arming, ARMS_AFTER_MS + 10);
}

/** @param {Event} event */
function stop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/**
 * @param {Event} event
 * @param {string} why
 */
function refuse(event, why) {
  stop(event);
  announceInSight(why);
}

/** @returns {boolean} whether something changed beside the list within the last half second */
export const isArming = () => "arming" in root.dataset;

/** Why nothing comes of a press that was too early. */
export const sayTooEarly = () => announceInSight(TOO_EARLY);

/** @returns {boolean} whether nothing can be sent */
export const isOffline = () => "offline" in root.dataset;

/** @param {boolean} isOff */
function line(isOff) {
  if (isOff === isOffline()) return;
  root.toggleAttribute("data-offline", isOff);
  announce(isOff ? "You are offline. Nothing you press is recorded." : "You are online again.");
  document.dispatchEvent(new CustomEvent("pressing:line"));
}

/**
 * Do something when no finger is down, so that nothing comes under one.
 *
 * @param {() => void} act
 */
export function onceLifted(act) {
  if (isDown) lifted.push(act);
  else act();
}

/** The click that ends a press comes first. */
function up() {
  isDown = false;
  const waiting = lifted;
  lifted = [];
  setTimeout(() => waiting.forEach((act) => act()));
}

/**
 * The browser asks for a field that is empty; blanks alone are no reason either.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 * @returns {HTMLTextAreaElement | undefined} the reason that is missing
 */
function blankOf(form, submitter) {
  if (submitter instanceof HTMLButtonElement && submitter.formNoValidate) return undefined;
  return findAll(form, "textarea:required", HTMLTextAreaElement).find((field) => !field.value.trim());
}

/** @param {SubmitEvent} event */
function guard(event) {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== "post") return;
  if (isOffline()) return refuse(event, "You are offline. Nothing was sent.");
  if (form.matches(".decide") && performance.now() < armedAt) return refuse(event, TOO_EARLY);
  if (form.getAttribute("aria-busy") === "true") return refuse(event, "Sent already. The answer has not come yet.");
  const blank = blankOf(form, event.submitter);
  blank?.focus();
  if (blank) return refuse(event, "Say why first. Nothing was sent.");
  hide();
  if ("download" in form.dataset) return; // the page stays, and may be asked for another file
  form.setAttribute("aria-busy", "true"); // not disabled: a disabled button is not sent
}

/** Back from the history, a page is as it was left. */
function release() {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.removeAttribute("aria-busy");
}

/**
 * To open a request decides nothing, so a row may be pressed at any time. What stands where a button
 * was may not. Keys and screen readers click without a count: they name what they open.
 *
 * @param {MouseEvent} event
 */
function follow(event) {
  const button = closest(event.target, ".result .button", HTMLElement);
  if (!(button ?? closest(event.target, ".item-link", HTMLElement)) || event.detail === 0) return;
  if (button && performance.now() < armedAt) refuse(event, TOO_EARLY);
  else hide();
}

/** @param {EventTarget | null} target */
const approveAt = (target) => closest(target, ".decide > [value=approve]", HTMLButtonElement);

/**
 * A screen reader's press has no extent.
 *
 * @param {PointerEvent} event
 */
const isFinger = (event) => event.pointerType === "touch" && event.width + event.height > 0;

/** @param {boolean} isHint - that a tap was too short */
function hint(isHint) {
  const words = find(document, "#request-bar .hold-said", HTMLElement);
  if (!words) return;
  words.hidden = !isHint;
  if (isHint) announce(words.textContent);
}

/** @param {PointerEvent} event */
function begin(event) {
  end();
  const button = approveAt(event.target);
  isTouch = Boolean(button) && isFinger(event);
  if (!button || !isTouch || button.disabled) return;
  if (isArming()) return sayTooEarly();
  held = { button, x: event.clientX, y: event.clientY, timer: setTimeout(approve, HOLD_MS) };
  button.classList.add("is-held");
}

function end() {
  if (!held) return;
  clearTimeout(held.timer);
  held.button.classList.remove("is-held");
  held = null;
}

/**
 * Enter on what is no control does nothing. Within the half second it was meant for what stood there.
 *
 * @param {KeyboardEvent} event
 */
function enter(event) {
  const isNowhere = !closest(event.target, "a, button, input, select, textarea, summary, dialog", Element);
  if (event.key === "Enter" && isNowhere && isArming() && document.getElementById("request-bar")) sayTooEarly();
}

/**
 * A button that is off hears no click, so why it is off is said when it is pressed.
 *
 * @param {PointerEvent} event
 */
function pressedOff(event) {
  const button = approveAt(event.target);
  if (!button?.disabled) return;
  const why = [...document.querySelectorAll("#steps-said, #why-not, [data-offline] .bar-offline, #in-view [data-in-view]")];
  const said = why.find((one) => one.checkVisibility());
  if (isArming()) sayTooEarly();
  else if (said) announceInSight(`Approve is not offered yet. ${said.textContent.trim()}`);
}

/** Press, as a key would. If something changed under the finger, the guard refuses it. */
function approve() {
  const button = held?.button;
  end();
  hint(false);
  if (button?.isConnected) button.click();
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
  if (isTouch && event.detail !== 0) stop(event);
}

// On the way down, so before htmx or anybody else hears of it.
document.addEventListener("submit", guard, true);
document.addEventListener("click", follow, true);
window.addEventListener("pageshow", release);
document.addEventListener("keydown", enter, true);
document.addEventListener("pointerdown", () => (isDown = true), true);
document.addEventListener("pointerdown", pressedOff, true);
document.addEventListener("pointerdown", begin, true);
document.addEventListener("pointermove", move, true);
document.addEventListener("pointerup", lift, true);
document.addEventListener("pointercancel", end, true);
for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, up, true);
window.addEventListener("offline", () => line(true));
window.addEventListener("online", () => line(false));
window.addEventListener("click", swallow, true); // before the listener above, which would say it was early
document.addEventListener("htmx:afterSwap", () => {
  if (!held || held.button.isConnected) return;
  end();
  sayTooEarly();
});
document.addEventListener("contextmenu", (event) => isTouch && approveAt(event.target) && event.preventDefault());
if (matchMedia("(pointer: coarse)").matches) root.dataset.holds = ""; // so the button says how
disarm();
if (!navigator.onLine) line(true);
