// Has the button of a remembered yes say literally what it will allow, as that is chosen.
// Without this file every scope has a button of its own, and what is chosen above it holds.

const field = (panel, name) => panel.querySelector(`[name=${name}]`);
const chosen = (panel, name) => panel.querySelector(`[name=${name}]:checked`)?.value;

/**
 * @param {Element} panel
 * @returns {string} how often, or nothing if that is not said
 */
function often(panel) {
  if (field(panel, "any_number").checked) return "any number of times";
  const count = Number(field(panel, "most_uses").value);
  if (!Number.isInteger(count) || count < 1) return "";
  return count === 1 ? "once more" : `at most ${count} times`;
}

/** @param {Element} panel */
function terms(panel) {
  const where = chosen(panel, "where") === "run" ? "in this run" : "in any of its runs";
  const length = field(panel, "for_s").selectedOptions[0].textContent;
  return `by agent ${panel.dataset.agent} ${where} for ${length}, ${often(panel) || "but say how often"}`;
}

/**
 * Show those values in the button that have to be the same.
 *
 * @param {Element} panel
 * @returns {boolean} whether there is any
 */
function showPins(panel) {
  const ticked = [...panel.querySelectorAll("[name=pinned]:checked")].map((box) => box.value);
  for (const pin of panel.querySelectorAll("[data-pin]")) {
    pin.hidden = !ticked.includes(pin.dataset.pin);
    pin.querySelector("[data-and]").hidden = pin.dataset.pin === ticked[0];
  }
  panel.querySelector("[data-chosen]").textContent = ticked.length ? "" : "no value chosen yet";
  return ticked.length > 0;
}

/** @param {Element} panel */
function show(panel) {
  const scopes = panel.querySelector(".remember-scopes");
  const pins = panel.querySelector(".remember-pins");
  const scope = chosen(panel, "scope") ?? "content";
  const any = field(panel, "any_number").checked;
  field(panel, "most_uses").disabled = any;
  if (scopes) scopes.hidden = false;
  if (pins) pins.hidden = scope !== "arguments";
  const isClear = !pins || showPins(panel) || scope !== "arguments";
  for (const button of panel.querySelectorAll("[data-scope]")) {
    button.hidden = button.dataset.scope !== scope;
    button.disabled = !isClear || !often(panel);
    button.querySelector("[data-terms]").textContent = terms(panel);
  }
}

function showAll() {
  document.querySelectorAll(".remember").forEach(show);
}

for (const name of ["change", "input"]) {
  document.addEventListener(name, (event) => {
    const panel = event.target.closest?.(".remember");
    if (panel) show(panel);
  });
}
document.addEventListener("htmx:afterSettle", showAll);
showAll();
