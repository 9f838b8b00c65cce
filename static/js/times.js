// Writes times in the reader's own zone; its name and UTC stand on hover. Without this file they
// are in UTC, as the page came. dashboard/web/drawing/moments.py draws what is rewritten here.

import { findAll } from "./dom.js";

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
// As ISO 8601 writes it, whatever the reader's language is: 2026-03-04 15:05:03.
const written = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
const named = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" });

/** @param {Date} at */
function zoneAt(at) {
  const short = named.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value;
  return `${short}, ${zone}`;
}

/** @param {HTMLTimeElement} element */
function localize(element) {
  const at = new Date(element.dateTime);
  const how = element.dataset.local;
  const local = written.format(at);
  const utc = `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
  element.title = `${how === "until" ? "until " : ""}${local} (${zoneAt(at)}) · ${utc}`;
  if (how === "exact") element.textContent = local;
  if (how === "clock") element.textContent = local.replace(`${written.format().slice(0, 10)} `, "");
  delete element.dataset.local; // done
}

function localizeAll() {
  if (zone === "UTC") return; // as the page came
  findAll(document, "time[data-local]", HTMLTimeElement).forEach(localize);
}

localizeAll();
for (const name of ["htmx:afterSettle", "htmx:oobAfterSwap"]) document.addEventListener(name, localizeAll);
