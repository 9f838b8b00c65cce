// Closes what is open over the page: by Escape, and menus also by a press elsewhere.

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const open of document.querySelectorAll("details:is(.menu, .panel)[open]")) {
    const wasInside = open.contains(document.activeElement);
    open.open = false;
    if (wasInside) open.querySelector("summary").focus();
  }
});

document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("details.menu[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});
