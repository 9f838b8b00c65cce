// Says the values of a chart: of the mark that the pointer or the focus is on. The arrow keys go
// from mark to mark; a chart is one stop of the Tab key. Without this each mark has its title, and
// each chart its table.

import { closest, findAll, need } from "./dom.js";

/** @type {Record<string, number | undefined>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/** @param {SVGElement} chart */
function prepare(chart) {
  const marks = findAll(chart, ".mark", SVGElement);
  const across = Number(chart.dataset.chart) || 1;
  const says = need(chart.closest("figure") ?? document, ".chart-says", HTMLElement);
  /** @type {Record<string, number | undefined>} */
  const rows = { ArrowUp: -across, ArrowDown: across };
  /** @type {Record<string, number | undefined>} */
  const ends = { Home: 0, End: marks.length - 1 };
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
    const mark = closest(event.target, ".mark", SVGElement);
    if (mark) says.textContent = need(mark, "title", SVGTitleElement).textContent;
  }

  /** @param {KeyboardEvent} event */
  function go(event) {
    const step = STEPS[event.key] ?? rows[event.key];
    const end = ends[event.key];
    if ((step === undefined && end === undefined) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    choose(end ?? current + (step ?? 0));
  }

  for (const mark of marks) mark.setAttribute("tabindex", "-1");
  marks[0]?.setAttribute("tabindex", "0");
  chart.addEventListener("focusin", (event) => {
    const mark = closest(event.target, ".mark", SVGElement);
    const number = mark ? marks.indexOf(mark) : -1;
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

findAll(document, "[data-chart]", SVGElement).forEach(prepare);
findAll(document, "a[data-zone]", HTMLAnchorElement).forEach(offerZone);
