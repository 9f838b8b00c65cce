// All that somebody notices of a page, but for what changes by itself as time goes by. Where the
// focus is counts as seen by who moves it with keys; a click leaves it on whatever was clicked.
(byKeys) => {
  if (!document.body) return "another page is on its way";
  const words = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, data } = walker.currentNode;
    if (data.trim() && !parentElement.closest("time") && parentElement.checkVisibility()) words.push(data.trim());
  }
  const fields = [...document.querySelectorAll("input, select, textarea")];
  const filled = fields.map((field) => `${field.value} ${field.checked}`);
  const off = [...document.querySelectorAll("button")].map((button) => button.disabled);
  const focus = byKeys && [...document.querySelectorAll("*")].indexOf(document.activeElement);
  const seen = document.getElementById("announcer")?.className;
  const refused = document.querySelectorAll(":user-invalid").length; // the browser's own words point there
  return JSON.stringify([location.href, Math.round(scrollY), focus, seen, refused, filled, off, words]);
}
