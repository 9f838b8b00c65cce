// The server knows which host came through to it; only the browser knows which address it asked for.
// If that is not the dashboard's, this leads there. If it is, a proxy hides it: the page says what to do.

const wanted = new URL(document.body.dataset.publicUrl);
const isLoopback = (name) => ["localhost", "127.0.0.1", "[::1]"].includes(name);

// From another machine, 127.0.0.1 would be that machine.
const canBeReached = !isLoopback(wanted.hostname) || isLoopback(location.hostname);
if (location.host !== wanted.host && canBeReached) {
  location.replace(wanted.origin + location.pathname + location.search);
}
