// Closes what is open over the page: by Escape, and menus also by a press elsewhere.

import { findAll } from "./dom.js";

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const open of findAll(document, "details:is(.menu, .panel)[open]", HTMLDetailsElement)) {
    const wasInside = open.contains(document.activeElement);
    open.open = false;
    if (wasInside) open.querySelector("summary")?.focus();
  }
});

document.addEventListener("click", (event) => {
  for (const open of findAll(document, "details.menu[open]", HTMLDetailsElement)) {
    if (!(event.target instanceof Node && open.contains(event.target))) open.open = false;
  }
});
