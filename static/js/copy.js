// Copies what stands in a .secret when its button is pressed. Without script the text is selected
// whole by one click (user-select: all), so the button stays hidden until this runs.

import { announce } from "./announcing.js";

for (const button of document.querySelectorAll(".secret button")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  const words = button.textContent;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.closest(".secret").querySelector("code").textContent.trim());
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => (button.textContent = words), 2000);
  });
}
