// Walks what we found, one line after the other: "n" and "N", and the buttons above the content.
// Without this file "Next" leads to the first one, and the list above leads to each.

import { announce } from "./announcing.js";
import { closest, findAll } from "./dom.js";

const notes = () => findAll(document, "#request .content .line-note", HTMLElement).filter((note) => note.checkVisibility());

/**
 * @param {1 | -1} step
 * @param {HTMLElement[]} all
 * @returns {number} which note comes next in this direction: after the last one, or after what is in view
 */
function following(step, all) {
  const here = all.findIndex((note) => note.classList.contains("is-here"));
  if (here >= 0) return (here + step + all.length) % all.length;
  return step > 0 ? 0 : all.length - 1;
}

/** @param {1 | -1} step */
export function walk(step) {
  for (const fold of findAll(document, "#request .content details:not([open]):has(.line-note)", HTMLDetailsElement)) fold.open = true;
  const all = notes();
  if (!all.length) return;
  const place = following(step, all);
  const note = all[place];
  document.querySelector(".line-note.is-here")?.classList.remove("is-here");
  note.classList.add("is-here");
  note.scrollIntoView({ block: "center" });
  note.focus({ preventScroll: true });
  announce(`${place + 1} of ${all.length}: ${note.innerText}`);
}

/** @param {MouseEvent} event */
function pressed(event) {
  const press = closest(event.target, "[data-walk]", HTMLElement);
  if (!press || !notes().length) return; // a link to a part that is not here yet
  event.preventDefault();
  walk(Number(press.dataset.walk) > 0 ? 1 : -1);
}

function show() {
  for (const back of findAll(document, ".walk-back[hidden]", HTMLElement)) back.hidden = false;
}

document.addEventListener("click", pressed);
document.addEventListener("htmx:afterSettle", show);
show();
