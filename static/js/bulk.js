// On the page of many: counts what is ticked, ticks all or a range, and offers Approve when the end
// was in sight. Without this file the buttons say "the chosen", and a box says that all was read.

const form = document.getElementById("bulk-form");
const all = document.getElementById("bulk-all");
const ticks = () => [...document.querySelectorAll("[name=item][form=bulk-form]")];
let read = false;
let last = null; // the tick that was pressed before

function show() {
  const count = ticks().filter((tick) => tick.checked).length;
  for (const word of form.querySelectorAll("[data-chosen]")) word.textContent = count === ticks().length ? `all ${count}` : `these ${count}`;
  form.querySelector("[value=approve]").disabled = !read || !count;
  form.querySelector("[value=reject]").disabled = !count;
  form.querySelector(".bulk-unread").hidden = read;
  form.querySelector("[name=end_seen]").checked = read;
  if (!all) return;
  all.checked = count === ticks().length;
  all.indeterminate = count > 0 && !all.checked;
}

/** Tick all from the one pressed before to this one, as this one was, with Shift. */
function choose(event) {
  const tick = event.target;
  const [from, to] = [ticks().indexOf(last), ticks().indexOf(tick)].sort((one, other) => one - other);
  if (event.shiftKey && from >= 0) for (const between of ticks().slice(from, to)) between.checked = tick.checked;
  last = tick;
  changed();
}

/** Count anew, and have drafts.js keep what is ticked: what a script ticks raises no event. */
function changed() {
  show();
  form.dispatchEvent(new Event("change", { bubbles: true }));
}

if (form) {
  const end = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    read = true;
    show();
  }, { rootMargin: "0px 0px -70px 0px" }); // under the bar is not in sight
  end.observe(document.getElementById("bulk-end"));
  document.addEventListener("click", (event) => event.target.matches("[name=item][form=bulk-form]") && choose(event));
  all?.addEventListener("change", () => {
    for (const tick of ticks()) tick.checked = all.checked;
    changed();
  });
  document.addEventListener("change", (event) => event.target.matches("[name=item][form=bulk-form]") && show()); // by drafts.js
  show();
}
