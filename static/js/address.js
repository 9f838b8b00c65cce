// The server knows which host came through to it; only the browser knows which address it asked for.
// If that is not the dashboard's, this leads there. If it is, a proxy hides it: the page says what to do.

const wanted = new URL(document.querySelector("[data-public-url]")?.getAttribute("data-public-url") ?? "");

/** @param {string} name */
const isLoopback = (name) => ["localhost", "127.0.0.1", "[::1]"].includes(name);

// From another machine, 127.0.0.1 would be that machine.
// A redirect may lead back here under the same wrong name: once is enough.
const ledOnAt = Number(sessionStorage.getItem("approvals:led-on"));
const isBack = Date.now() - ledOnAt < 10_000;
const canBeReached = !isLoopback(wanted.hostname) || isLoopback(location.hostname);
if (location.host !== wanted.host && canBeReached && !isBack) {
  sessionStorage.setItem("approvals:led-on", String(Date.now()));
  location.replace(wanted.origin + location.pathname + location.search);
}
