// Keeps what somebody wrote and did not send, in this tab alone: the reason of a rejection, a note, answers
// to steps, an edit, a rule. It comes back after a reload, another request, or signing in again. A draft
// belongs to a person, a form and what the form is about: where that is another by now it is offered and
// not filled in, and where the form is gone its text is shown. It is dropped once it was sent, discarded,
// on sign-out and when somebody else signs in. A page that shows a revealed secret keeps none; there,
// and where a tab keeps nothing, leaving is asked about. Without this file nothing is kept.

import { announceInSight } from "./announcing.js";

const PREFIX = "approvals:draft:";
const PERSON = "approvals:drafts-of"; // whose drafts these are
const MOST_BYTES = 65_536; // of all drafts of a tab
const NOT_WRITTEN = "[type=hidden], [type=submit], [type=file], [type=password], [name=end_seen], .remember *, button";
const person = document.body.dataset.person ?? "";
const forms = () => [...document.querySelectorAll("form[data-draft]")];
const sizeOf = (text) => new Blob([text]).size;
let leaving = false; // a form is on its way

/** @param {string} key */
function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + key));
  } catch {
    return null;
  }
}

/** @returns {boolean} whether it is kept */
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

const drop = (key) => sessionStorage.removeItem(PREFIX + key);

function keys() {
  const names = Array.from({ length: sessionStorage.length }, (_, index) => sessionStorage.key(index));
  return names.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
}

/** @param {HTMLFormElement} form - fields that a person writes in, with a number where a name is there twice */
function written(form) {
  const counts = new Map();
  const named = [];
  for (const field of form.elements) {
    if (!field.name || field.matches(NOT_WRITTEN)) continue;
    const nth = counts.get(field.name) ?? 0;
    counts.set(field.name, nth + 1);
    named.push({ field, name: field.name, nth });
  }
  return named;
}

const isTick = (field) => field.matches("[type=radio], [type=checkbox]");
const asDrawn = (field) => (field.matches("select") ? ([...field.options].find((one) => one.defaultSelected) ?? field.options[0])?.value : field.defaultValue);
const isChanged = (field) => (isTick(field) ? field.checked !== field.defaultChecked : field.value !== asDrawn(field));
const valueOf = (field) => (isTick(field) ? field.checked : field.value);

/** Keep what is in a form now. */
function keep(form) {
  const fields = written(form).filter(({ field }) => isChanged(field)).map(({ field, name, nth }) => [name, nth, valueOf(field)]);
  const { draft: key, basis } = form.dataset;
  form.unkept = false;
  if (!fields.length) return drop(key);
  const isSecret = form.closest("[data-in-clear]") !== null;
  if (!isSecret && write(key, { basis, fields })) return;
  drop(key); // half of it would be worse than none
  form.unkept = true;
}

/** @returns {boolean} whether anything in the form is another by that */
function fill(form, { fields }) {
  const values = new Map(fields.map(([name, nth, value]) => [`${nth} ${name}`, value]));
  let isFilled = false;
  for (const { field, name, nth } of written(form)) {
    const value = values.get(`${nth} ${name}`);
    if (value === undefined || value === valueOf(field)) continue;
    if (isTick(field)) field.checked = value;
    else field.value = value;
    const fold = field.closest("details");
    if (fold) fold.open = true;
    field.dispatchEvent(new Event("change", { bubbles: true }));
    isFilled = true;
  }
  return isFilled;
}

/** @returns {HTMLElement} a copy of what base.html has to say about drafts */
function copyOf(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

/** Put a draft back into its form, offer it, or show what is left of it. */
function restore() {
  if (!person) return keepSent();
  dropSent();
  for (const form of forms()) restoreIn(form);
  showLost();
}

function restoreIn(form) {
  const { draft: key, basis } = form.dataset;
  if (form.restored) return;
  form.restored = true;
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
  line.querySelector("[data-discard]").addEventListener("click", () => {
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
  Object.assign(shown.querySelector("textarea"), { dir: "auto", value: texts.join("\n\n") });
  shown.querySelector("[data-discard]").addEventListener("click", () => {
    mine.forEach(drop);
    shown.remove();
  });
  document.getElementById("request-bar").prepend(shown);
}

/** What a page says was taken, of what this tab sent. */
function dropSent() {
  for (const place of document.querySelectorAll("[data-draft-done]")) {
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
  if (form.matches("[data-ends-session]")) return keys().forEach(drop);
  if (!form.matches("[data-draft]")) return;
  leaving = true;
  const draft = read(form.dataset.draft);
  if (draft) write(form.dataset.draft, { ...draft, sent: true });
}

/** A link that gives up what is in its form. */
function discard(event) {
  const form = event.target.closest?.("a[data-discards]")?.closest("form[data-draft]");
  if (!form) return;
  drop(form.dataset.draft);
  form.unkept = false;
}

const isUnkept = () => forms().some((form) => form.unkept && written(form).some(({ field }) => isChanged(field)));

/** @returns {boolean} whether the request that is open may be left for another */
export const mayLeave = () => !isUnkept() || confirm("What you wrote here is not kept. Leave it?");

if (sessionStorage.getItem(PERSON) !== person && person) keys().forEach(drop);
for (const name of ["input", "change"]) {
  document.addEventListener(name, (event) => {
    const form = event.target.form ?? event.target;
    if (event.target.matches("form[data-draft], :is(input, textarea, select)") && form?.matches?.("[data-draft]")) keep(form);
  });
}
document.addEventListener("submit", sending);
document.addEventListener("click", discard);
document.addEventListener("htmx:afterRequest", () => (leaving = false));
document.addEventListener("htmx:afterSwap", dropSent); // before the next request takes its place
document.addEventListener("htmx:afterSettle", restore);
window.addEventListener("beforeunload", (event) => !leaving && isUnkept() && event.preventDefault());
restore();
