// Says the values of a chart: of the mark that the pointer or the focus is on. The arrow keys go
// from mark to mark; a chart is one stop of the Tab key. Without this each mark has its title, and
// each chart its table.

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/** @param {SVGElement} chart */
function prepare(chart) {
  const marks = [...chart.querySelectorAll(".mark")];
  const across = Number(chart.dataset.chart) || 1;
  const says = chart.closest("figure").querySelector(".chart-says");
  let current = 0;

  /** @param {number} number */
  function choose(number) {
    if (!marks[number]) return;
    marks[current].setAttribute("tabindex", "-1");
    current = number;
    marks[current].setAttribute("tabindex", "0");
    marks[current].focus();
  }

  /** @param {Event} event */
  function say(event) {
    const mark = event.target.closest(".mark");
    if (mark) says.textContent = mark.querySelector("title").textContent;
  }

  /** @param {KeyboardEvent} event */
  function go(event) {
    const step = STEPS[event.key] ?? { ArrowUp: -across, ArrowDown: across }[event.key];
    const end = { Home: 0, End: marks.length - 1 }[event.key];
    if ((step === undefined && end === undefined) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    choose(end ?? current + step);
  }

  for (const mark of marks) mark.setAttribute("tabindex", "-1");
  marks[0]?.setAttribute("tabindex", "0");
  chart.addEventListener("focusin", (event) => {
    const number = marks.indexOf(event.target.closest(".mark"));
    if (number >= 0 && number !== current) choose(number);
    say(event);
  });
  chart.addEventListener("pointerover", say);
  chart.addEventListener("keydown", go);
}

/** @param {HTMLAnchorElement} link - leads to the page in the zone of whoever reads it */
function offerZone(link) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (!timeZone || timeZone === link.dataset.zone) return;
  const address = new URL(location.href);
  address.searchParams.set("zone", timeZone);
  address.hash = "hours";
  link.href = address.href;
  link.hidden = false;
}

document.querySelectorAll("[data-chart]").forEach(prepare);
document.querySelectorAll("a[data-zone]").forEach(offerZone);
