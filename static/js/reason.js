// Writes a line of the content into the reason of a rejection.

import { find, need } from "./dom.js";

const LONGEST = 120; // characters of a line; the agent knows the rest

document.addEventListener("quote-line", (event) => {
  const panel = find(document, "#request-bar .reject", HTMLDetailsElement);
  if (!panel) return;
  const { line, text } = event.detail;
  const words = text.trim();
  const quoted = `> line ${line}: ${words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words}\n`;
  const field = need(panel, "textarea", HTMLTextAreaElement);
  const reason = field.value.replace(/[^\n]$/, "$&\n") + quoted;
  if (reason.length > field.maxLength) return;
  panel.open = true;
  field.value = reason;
  field.dispatchEvent(new Event("input", { bubbles: true })); // as if typed
  field.focus({ preventScroll: true });
  field.setSelectionRange(reason.length, reason.length);
});
