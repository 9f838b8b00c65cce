// Keeps what somebody wrote and did not send, in this tab alone: the reason of a rejection, a note, answers
// to steps, an edit, a rule. It comes back after a reload, another request, or signing in again. A draft
// belongs to a person, a form and what the form is about: where that is another by now it is offered and
// not filled in, and where the form is gone its text is shown. It is dropped once it was sent, discarded,
// on sign-out and when somebody else signs in. A page that shows a revealed secret keeps none; there,
// and where a tab keeps nothing, leaving is asked about. Without this file nothing is kept.

import { closest, findAll, need } from "./dom.js";

/**
 * @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field
 * @typedef {[string, number, string | boolean]} Written - name, which of that name, value
 * @typedef {{basis?: string, fields: Written[], sent?: boolean}} Draft
 */

const PREFIX = "approvals:draft:";
const PERSON = "approvals:drafts-of"; // whose drafts these are
const MOST_BYTES = 65_536; // of all drafts of a tab
const NOT_WRITTEN = "[type=hidden], [type=submit], [type=file], [type=password], [name=end_seen], .remember *, button";
const person = document.body.dataset.person ?? "";
const restored = new WeakSet(); // the forms that were looked at
const unkept = new WeakSet(); // the forms whose text is kept nowhere
const forms = () => findAll(document, "form[data-draft]", HTMLFormElement);
/** @param {string} text */
const sizeOf = (text) => new Blob([text]).size;
let leaving = false; // a form is on its way

/**
 * @param {string} key
 * @returns {Draft | null}
 */
function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + key) ?? "null");
  } catch {
    return null;
  }
}

/**
 * @param {string} key
 * @param {Draft} draft
 * @returns {boolean} whether it is kept
 */
function write(key, draft) {
  const text = JSON.stringify(draft);
  try {
    const others = keys().filter((one) => one !== key).map((one) => sessionStorage.getItem(PREFIX + one));
    if (sizeOf(others.join("") + text) > MOST_BYTES) return false;
    sessionStorage.setItem(PREFIX + key, text);
    sessionStorage.setItem(PERSON, person);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} key */
const drop = (key) => sessionStorage.removeItem(PREFIX + key);

function keys() {
  const names = Array.from({ length: sessionStorage.length }, (_, index) => sessionStorage.key(index));
  return names.flatMap((name) => (name?.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : []));
}

/**
 * @param {EventTarget | null} target
 * @returns {target is Field}
 */
function isField(target) {
  return [HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement].some((kind) => target instanceof kind);
}

/** @param {HTMLFormElement} form - fields that a person writes in, with a number where a name is there twice */
function written(form) {
  const counts = new Map();
  const named = [];
  for (const field of form.elements) {
    if (!isField(field) || !field.name || field.matches(NOT_WRITTEN)) continue;
    const nth = counts.get(field.name) ?? 0;
    counts.set(field.name, nth + 1);
    named.push({ field, name: field.name, nth });
  }
  return named;
}

/**
 * @param {Field} field
 * @returns {field is HTMLInputElement}
 */
const isTick = (field) => field.matches("[type=radio], [type=checkbox]");

/** @param {Field} field */
function asDrawn(field) {
  if (!(field instanceof HTMLSelectElement)) return field.defaultValue;
  return ([...field.options].find((one) => one.defaultSelected) ?? field.options[0])?.value;
}

/** @param {Field} field */
const isChanged = (field) => (isTick(field) ? field.checked !== field.defaultChecked : field.value !== asDrawn(field));
/** @param {Field} field */
const valueOf = (field) => (isTick(field) ? field.checked : field.value);

/**
 * Keep what is in a form now.
 *
 * @param {HTMLFormElement} form
 */
function keep(form) {
  /** @type {Written[]} */
  const fields = written(form).filter(({ field }) => isChanged(field)).map(({ field, name, nth }) => [name, nth, valueOf(field)]);
  const { draft: key = "", basis } = form.dataset;
  unkept.delete(form);
  if (!fields.length) return drop(key);
  const isSecret = form.closest("[data-in-clear]") !== null;
  if (!isSecret && write(key, { basis, fields })) return;
  drop(key); // half of it would be worse than none
  unkept.add(form);
}

/**
 * @param {HTMLFormElement} form
 * @param {Draft} draft
 * @returns {boolean} whether anything in the form is another by that
 */
function fill(form, { fields }) {
  const values = new Map(fields.map(([name, nth, value]) => [`${nth} ${name}`, value]));
  let isFilled = false;
  for (const { field, name, nth } of written(form)) {
    const value = values.get(`${nth} ${name}`);
    if (value === undefined || value === valueOf(field)) continue;
    if (isTick(field)) field.checked = value === true;
    else field.value = String(value);
    const fold = field.closest("details");
    if (fold) fold.open = true;
    field.dispatchEvent(new Event("change", { bubbles: true }));
    isFilled = true;
  }
  return isFilled;
}

/**
 * @param {string} id
 * @returns {HTMLElement} a copy of what base.html has to say about drafts
 */
function copyOf(id) {
  const { content } = need(document, `#${id}`, HTMLTemplateElement);
  return need(document.importNode(content, true), "*", HTMLElement);
}

/** Put a draft back into its form, offer it, or show what is left of it. */
function restore() {
  if (!person) return keepSent();
  dropSent();
  for (const form of forms()) restoreIn(form);
  showLost();
}

/** @param {HTMLFormElement} form */
function restoreIn(form) {
  const { draft: key = "", basis } = form.dataset;
  if (restored.has(form)) return;
  restored.add(form);
  const draft = read(key);
  if (!draft) return;
  if (draft.sent) write(key, { ...draft, sent: false }); // it was refused, or never came
  const isSame = draft.basis === basis;
  if (isSame && !fill(form, draft)) return;
  const line = copyOf(isSame ? "draft-back" : "draft-offer");
  line.querySelector("[data-use]")?.addEventListener("click", () => {
    fill(form, draft);
    keep(form);
    line.remove();
  });
  need(line, "[data-discard]", HTMLButtonElement).addEventListener("click", () => {
    if (isSame) form.reset();
    form.dispatchEvent(new Event("change", { bubbles: true }));
    drop(key);
    line.remove();
  });
  form.prepend(line);
}

/** A request that is closed takes no answer any more: what was written for it can be copied. */
function showLost() {
  const request = document.getElementById("request");
  if (!request || request.querySelector("form[data-draft], .draft-lost")) return;
  const mine = keys().filter((key) => key.split("/")[1] === request.dataset.id);
  const texts = mine.flatMap((key) => read(key)?.fields ?? []).map(([, , value]) => value).filter((value) => typeof value === "string" && value.trim());
  if (!texts.length) return;
  const shown = copyOf("draft-lost");
  Object.assign(need(shown, "textarea", HTMLTextAreaElement), { dir: "auto", value: texts.join("\n\n") });
  need(shown, "[data-discard]", HTMLButtonElement).addEventListener("click", () => {
    mine.forEach(drop);
    shown.remove();
  });
  need(document, "#request-bar", HTMLElement).prepend(shown);
}

/** What a page says was taken, of what this tab sent. */
function dropSent() {
  for (const place of findAll(document, "[data-draft-done]", HTMLElement)) {
    const done = place.dataset.draftDone;
    for (const key of keys()) if (`${key}/`.startsWith(`${done}/`) && read(key)?.sent) drop(key);
  }
}

/** Where nobody is signed in, nothing was taken of what this tab sent. It stays with its person. */
function keepSent() {
  for (const key of keys()) {
    const draft = read(key);
    if (draft?.sent) sessionStorage.setItem(PREFIX + key, JSON.stringify({ ...draft, sent: false }));
  }
}

/** @param {SubmitEvent} event */
function sending(event) {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  if (form.matches("[data-ends-session]")) return keys().forEach(drop);
  if (!form.matches("[data-draft]")) return;
  leaving = true;
  const { draft: key = "" } = form.dataset;
  const draft = read(key);
  if (draft) write(key, { ...draft, sent: true });
}

/**
 * A link that gives up what is in its form.
 *
 * @param {MouseEvent} event
 */
function discard(event) {
  const link = closest(event.target, "a[data-discards]", HTMLAnchorElement);
  const form = closest(link, "form[data-draft]", HTMLFormElement);
  if (!form) return;
  drop(form.dataset.draft ?? "");
  unkept.delete(form);
}

const isUnkept = () => forms().some((form) => unkept.has(form) && written(form).some(({ field }) => isChanged(field)));

/** @returns {boolean} whether the request that is open may be left for another */
export const mayLeave = () => !isUnkept() || confirm("What you wrote here is not kept. Leave it?");

if (sessionStorage.getItem(PERSON) !== person && person) keys().forEach(drop);
for (const name of ["input", "change"]) {
  document.addEventListener(name, (event) => {
    const form = isField(event.target) ? event.target.form : event.target;
    if (form instanceof HTMLFormElement && form.matches("[data-draft]")) keep(form);
  });
}
document.addEventListener("submit", sending);
document.addEventListener("click", discard);
document.addEventListener("htmx:afterRequest", () => (leaving = false));
document.addEventListener("htmx:afterSwap", dropSent); // before the next request takes its place
document.addEventListener("htmx:afterSettle", restore);
window.addEventListener("beforeunload", (event) => !leaving && isUnkept() && event.preventDefault());
restore();
