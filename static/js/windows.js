// Puts the next part of a long text in the place of the link to it, when that comes into sight.
// Without this file the link is followed, and every part is a page of its own.

import { showWhetherRead } from "./detail.js";

const AHEAD = { rootMargin: "0px 0px 200px 0px" };

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) load(target);
}, AHEAD);

/** @param {HTMLAnchorElement} link */
async function load(link) {
  near.unobserve(link);
  link.parentElement.setAttribute("aria-busy", "true");
  const answer = await fetch(link.href, { headers: { "X-Part": "alone" } }).catch(() => null);
  if (!answer?.ok) return link.parentElement.removeAttribute("aria-busy"); // the link still works
  const part = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-part]");
  if (!part) return location.reload(); // signed out: the server says so on a page of its own
  const owed = part.querySelector(".owed");
  link.parentElement.replaceWith(...part.querySelector(".code").childNodes);
  document.getElementById(owed.id)?.replaceWith(owed);
  showWhetherRead();
  watch();
}

function watch() {
  for (const link of document.querySelectorAll("[data-next]")) near.observe(link);
}

document.addEventListener("htmx:afterSettle", watch);
watch();
