// The switches on the account page that this browser remembers: notifications, the count in the
// title, keys. Without this file they stay hidden.

import { find, findAll } from "./dom.js";
import { STORED, isOn, show } from "./notify.js";

const card = document.getElementById("reach");
const button = find(document, "#notify-switch", HTMLButtonElement);
const said = document.getElementById("notify-said");

/** @returns {"unsupported" | "denied" | "on" | "off"} */
function state() {
  if (!("Notification" in window)) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return isOn() ? "on" : "off";
}

/** @param {ReturnType<typeof state>} [now] */
function draw(now = state()) {
  if (!card || !button || !said) return; // who may not decide has no switch
  card.dataset.state = now;
  button.hidden = now === "unsupported" || now === "denied";
  button.textContent = now === "on" ? "Turn off notifications" : "Turn on notifications";
  button.setAttribute("aria-pressed", String(now === "on"));
  said.textContent = said.dataset[now] ?? "";
}

/** The browser asks for permission only now, because of a press that wants it. */
async function turn() {
  if (isOn()) {
    localStorage.removeItem(STORED);
    return draw();
  }
  if ((await Notification.requestPermission()) !== "granted") return draw();
  try {
    show("Notifications are on", "They never show what is asked.");
  } catch {
    return draw("unsupported"); // phones leave it to apps
  }
  localStorage.setItem(STORED, "on");
  draw();
}

/** @param {HTMLInputElement} box - its data says what is stored, and whether that means on or off */
function remember(box) {
  const { stored = "", when = "" } = box.dataset;
  const isStored = () => localStorage.getItem(stored) === when;
  box.checked = isStored() === (when === "on");
  box.addEventListener("change", () => {
    if (box.checked === (when === "on")) localStorage.setItem(stored, when);
    else localStorage.removeItem(stored);
  });
}

if (card) {
  findAll(card, "input[data-stored]", HTMLInputElement).forEach(remember);
  if (button) {
    button.addEventListener("click", turn);
    draw();
  }
  card.hidden = false;
}
