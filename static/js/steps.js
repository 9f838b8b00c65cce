// Has the button of a plan say what it approves: as soon as a step is held or refused, that is the
// number of steps that are left, and what answers the plan as a whole is not offered. The number goes
// with the answer, and the server refuses another one. Without this file a page asks for it.

import { find, need } from "./dom.js";

const HELD = "[value=held]:checked, [value=refused]:checked";

/**
 * What the answers to the steps of a plan mean for its form.
 *
 * @param {HTMLFormElement} form
 * @returns {{isPart: boolean, isShut: boolean}} whether only a part would be approved, and whether
 *   these answers can only go with a rejection
 */
export function showSteps(form) {
  const count = form.elements.namedItem("approves");
  if (!(count instanceof HTMLInputElement && count.dataset.steps)) return { isPart: false, isShut: false };
  const total = Number(count.dataset.steps);
  const radios = [...form.elements].filter((field) => field instanceof HTMLInputElement);
  const answers = radios.filter((field) => /^step-\d+$/.test(field.name) && field.checked);
  const left = total - answers.filter((field) => field.matches(HELD)).length;
  const isPart = left < total;
  const isShut = isPart && (left === 0 || !("parts" in count.dataset));
  count.value = String(left);
  form.toggleAttribute("data-part", isPart);
  const verb = form.querySelector("#why-not") ? "Suggest" : "Approve"; // whose approval does not count
  sayButton(form, isPart && !isShut ? `${verb} ${left} of ${total} steps…` : null);
  sayWhy(need(form, "#steps-said", HTMLElement), isPart, isShut, left);
  const told = need(form, "[data-answers]", HTMLElement);
  told.hidden = answers.length === 0;
  told.textContent = `Your answers to ${answers.length} of ${total} steps go with the rejection.`;
  return { isPart, isShut };
}

/**
 * @param {HTMLFormElement} form
 * @param {string | null} words - null for those that the server wrote
 */
function sayButton(form, words) {
  const button = find(form, ":scope > [value=approve]", HTMLButtonElement);
  const label = button && find(button, ".approve-word", HTMLElement);
  if (!label) return;
  button.formNoValidate = words !== null; // the reason is asked for with the approval
  label.dataset.whole ??= label.textContent;
  label.textContent = words ?? label.dataset.whole;
}

/**
 * @param {HTMLElement} place
 * @param {boolean} isPart
 * @param {boolean} isShut
 * @param {number} left - steps
 */
function sayWhy(place, isPart, isShut, left) {
  const { wholeOnly = "", noneLeft = "", part = "" } = place.dataset;
  place.hidden = !isPart;
  place.textContent = !isShut ? part : left === 0 ? noneLeft : wholeOnly;
}
