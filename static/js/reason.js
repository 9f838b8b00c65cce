// Quotes a line of the content into the reason for a rejection: the content says which by quote-line
// {line, text}, when somebody clicks on a line's number.

import { find, need } from "./dom.js";

const LONGEST = 120; // characters of a line; the agent knows the rest

document.addEventListener("quote-line", (event) => {
  const panel = find(document, "#request-bar .reject", HTMLDetailsElement);
  if (!panel) return;
  const { line, text } = event.detail;
  const words = text.trim();
  const quoted = `> line ${line}: ${words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words}\n`;
  const field = need(panel, "textarea", HTMLTextAreaElement);
  const before = field.value && !field.value.endsWith("\n") ? `${field.value}\n` : field.value;
  if ((before + quoted).length > field.maxLength) return;
  panel.open = true;
  field.value = before + quoted;
  field.focus({ preventScroll: true });
  field.setSelectionRange(field.value.length, field.value.length);
});
