// Copies what stands in a .secret when its button is pressed. Without script the text is selected
// whole by one click (user-select: all), so the button stays hidden until this runs.

import { announce } from "./announcing.js";
import { findAll, need } from "./dom.js";

for (const secret of findAll(document, ".secret", HTMLElement)) {
  if (!navigator.clipboard) break;
  const button = need(secret, "button", HTMLButtonElement);
  button.hidden = false;
  const words = button.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(need(secret, "code", HTMLElement).textContent.trim());
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => (button.textContent = words), 2000);
  });
}
