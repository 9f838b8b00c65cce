// On the page of many: counts what is ticked, ticks all or a range, and offers Approve when the end
// was in sight. Without this file the buttons say "the chosen", and a box says that all was read.

import { closest, find, findAll, need } from "./dom.js";

const ITEM = "[name=item][form=bulk-form]";
const form = () => need(document, "#bulk-form", HTMLFormElement);
const all = find(document, "#bulk-all", HTMLInputElement);
const ticks = () => findAll(document, ITEM, HTMLInputElement);
let read = false;
/** @type {HTMLInputElement | null} */
let last = null; // the tick that was pressed before

function show() {
  const count = ticks().filter((tick) => tick.checked).length;
  for (const word of form().querySelectorAll("[data-chosen]")) word.textContent = count === ticks().length ? `all ${count}` : `these ${count}`;
  need(form(), "[value=approve]", HTMLButtonElement).disabled = !read || !count;
  need(form(), "[value=reject]", HTMLButtonElement).disabled = !count;
  need(form(), ".bulk-unread", HTMLElement).hidden = read;
  need(form(), "[name=end_seen]", HTMLInputElement).checked = read;
  if (!all) return;
  all.checked = count === ticks().length;
  all.indeterminate = count > 0 && !all.checked;
}

/**
 * Tick all from the one pressed before to this one, as this one was, with Shift.
 *
 * @param {HTMLInputElement} tick
 * @param {boolean} isRange
 */
function choose(tick, isRange) {
  const ends = [last, tick].map((end) => ticks().findIndex((one) => one === end));
  const [from, to] = ends.sort((one, other) => one - other);
  if (isRange && from >= 0) for (const between of ticks().slice(from, to)) between.checked = tick.checked;
  last = tick;
  changed();
}

/** Count anew, and have drafts.js keep what is ticked: what a script ticks raises no event. */
function changed() {
  show();
  form().dispatchEvent(new Event("change", { bubbles: true }));
}

if (document.getElementById("bulk-form")) {
  const end = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    read = true;
    show();
  }, { rootMargin: "0px 0px -70px 0px" }); // under the bar is not in sight
  end.observe(need(document, "#bulk-end", HTMLElement));
  document.addEventListener("click", (event) => {
    const tick = closest(event.target, ITEM, HTMLInputElement);
    if (tick) choose(tick, event.shiftKey);
  });
  all?.addEventListener("change", () => {
    for (const tick of ticks()) tick.checked = all.checked;
    changed();
  });
  document.addEventListener("change", (event) => closest(event.target, ITEM, HTMLInputElement) && show()); // by drafts.js
  show();
}
