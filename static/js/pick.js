// Adds what is picked from a list as a line of the field above it. Without this file names are typed.

import { findAll, need } from "./dom.js";

for (const list of findAll(document, "select[data-pick]", HTMLSelectElement)) {
  const field = need(document, `#${CSS.escape(list.dataset.pick ?? "")}`, HTMLTextAreaElement);
  list.hidden = false;
  list.addEventListener("change", () => {
    const lines = field.value.split("\n").filter(Boolean);
    if (list.value && !lines.includes(list.value)) field.value = [...lines, list.value].join("\n");
    list.value = "";
  });
}
