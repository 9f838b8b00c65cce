// Adds what is picked from a list as a line of the field above it. Without this file the lists stay
// hidden, and names are typed.

for (const list of document.querySelectorAll("select[data-pick]")) {
  const field = document.getElementById(list.dataset.pick);
  list.hidden = false;
  list.addEventListener("change", () => {
    const lines = field.value.split("\n").filter(Boolean);
    if (list.value && !lines.includes(list.value)) field.value = [...lines, list.value].join("\n");
    list.value = "";
  });
}
