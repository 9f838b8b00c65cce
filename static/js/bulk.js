// On the page of many: counts what is ticked, and offers Approve when the end was in sight.
// Without this file the buttons say "the chosen", and a box says that all of it was read.

const form = document.getElementById("bulk-form");
const ticks = () => [...document.querySelectorAll("[name=item][form=bulk-form]")];
let read = false;

function show() {
  const count = ticks().filter((tick) => tick.checked).length;
  for (const word of form.querySelectorAll("[data-chosen]")) word.textContent = count === 1 ? "this 1" : `these ${count}`;
  form.querySelector("[value=approve]").disabled = !read || !count;
  form.querySelector("[value=reject]").disabled = !count;
  form.querySelector(".bulk-unread").hidden = read;
  form.querySelector("[name=end_seen]").checked = read;
}

if (form) {
  const end = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    read = true;
    show();
  }, { rootMargin: "0px 0px -70px 0px" }); // under the bar is not in sight
  end.observe(document.getElementById("bulk-end"));
  document.addEventListener("change", (event) => event.target.matches("[form=bulk-form]") && show());
  show();
}
