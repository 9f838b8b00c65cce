// Has the person's device make a passkey or sign with one (Web Authentication) when a form is sent whose
// data-passkey says so. Without this file nothing is signed.

import { closest, find, findAll, need } from "./dom.js";

const MESSAGES = {
  unsupported: "This browser cannot use passkeys. Nothing was sent. Use another one, or a code.",
  NotAllowedError: "Your device did not sign: it was cancelled, or took too long. Nothing was sent. Try again.",
  InvalidStateError: "This device has a passkey for you already. Nothing was sent.",
  other: "Your device could not sign. Nothing was sent. Try again, or use another device.",
};

/** @param {string} text - base64url */
function bytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

/** @param {ArrayBuffer} buffer */
function base64url(buffer) {
  const plain = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {{id: string}[]} keys */
const withBytes = (keys) => keys.map((key) => ({ ...key, id: bytes(key.id) }));

/**
 * @param {any} options - as the server writes them
 * @returns {Promise<Credential | null>}
 */
function make(options) {
  const user = { ...options.user, id: bytes(options.user.id) };
  const excludeCredentials = withBytes(options.excludeCredentials);
  return navigator.credentials.create({ publicKey: { ...options, user, excludeCredentials, challenge: bytes(options.challenge) } });
}

/**
 * @param {any} options - as the server writes them
 * @returns {Promise<Credential | null>}
 */
function sign(options) {
  const allowCredentials = withBytes(options.allowCredentials);
  return navigator.credentials.get({ publicKey: { ...options, allowCredentials, challenge: bytes(options.challenge) } });
}

/**
 * @param {PublicKeyCredential} credential
 * @returns {string} what the server reads, as JSON
 */
function written({ id, response }) {
  const clientDataJSON = base64url(response.clientDataJSON);
  if (response instanceof AuthenticatorAttestationResponse) {
    const transports = response.getTransports?.() ?? [];
    return JSON.stringify({ id, response: { clientDataJSON, attestationObject: base64url(response.attestationObject), transports } });
  }
  if (!(response instanceof AuthenticatorAssertionResponse)) throw new TypeError("This is no answer of a passkey.");
  const [authenticatorData, signature] = [response.authenticatorData, response.signature].map(base64url);
  return JSON.stringify({ id, response: { clientDataJSON, authenticatorData, signature } });
}

/** @param {HTMLFormElement} form */
const fieldOf = (form) => need(form, "[name=made], [name=signed]", HTMLInputElement);

/**
 * @param {HTMLFormElement} form
 * @param {string} words - what went wrong; nothing hides it
 */
function say(form, words) {
  const place = find(form, "[data-passkey-said]", HTMLElement);
  if (!place) return;
  place.textContent = words;
  place.hidden = !words;
}

/** @param {unknown} error */
function wordsOf(error) {
  const name = error instanceof Error ? error.name : "other";
  return name in MESSAGES ? MESSAGES[/** @type {keyof typeof MESSAGES} */ (name)] : MESSAGES.other;
}

/**
 * Ask the device, and send the form if it signed.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} [submitter]
 */
async function ask(form, submitter) {
  if (form.dataset.asking) return;
  if (!("PublicKeyCredential" in window)) return say(form, MESSAGES.unsupported);
  form.dataset.asking = "yes";
  say(form, "");
  try {
    const options = JSON.parse(form.dataset.options ?? "");
    const credential = await (form.dataset.passkey === "create" ? make(options) : sign(options));
    if (!(credential instanceof PublicKeyCredential)) throw new TypeError("The browser gave no passkey.");
    fieldOf(form).value = written(credential);
    if (form.isConnected) form.requestSubmit(submitter);
  } catch (error) {
    say(form, wordsOf(error));
  } finally {
    delete form.dataset.asking;
  }
}

/** @param {SubmitEvent} event */
function submitted(event) {
  const form = closest(event.target, "form[data-passkey]", HTMLFormElement);
  if (!form || fieldOf(form).value) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  ask(form, event.submitter);
}

/** What a press on Approve led to is asked for at once. A browser that wants a press of its own has the button. */
function askAtOnce() {
  const form = find(document, "form[data-passkey-now]", HTMLFormElement);
  if (!form) return;
  delete form.dataset.passkeyNow;
  ask(form, find(form, "button", HTMLButtonElement));
}

function hideHints() {
  for (const hint of findAll(document, "[data-needs-script]", HTMLElement)) hint.hidden = true;
}

// On the way down, so before anybody counts it as sent.
window.addEventListener("submit", submitted, true);
window.addEventListener("pageshow", (event) => {
  for (const form of event.persisted ? document.querySelectorAll("form[data-passkey]") : []) {
    if (form instanceof HTMLFormElement) fieldOf(form).value = ""; // what was signed is used up
  }
});
/** A page or a part of one is there. */
function arrived() {
  hideHints();
  askAtOnce();
}
document.addEventListener("htmx:afterSettle", arrived);
arrived();
