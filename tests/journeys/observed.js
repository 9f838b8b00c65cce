// Tells a walk of each answer that leaves this page, and for how long its request had stood there.
// It watches from outside: nothing of the product's own scripts is asked.
(() => {
  const since = new Map();
  let shown = null;
  const look = () => {
    const id = document.getElementById("request")?.dataset.id ?? null;
    if (id !== shown) since.set(id, performance.now());
    shown = id;
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
  const tell = (address) => {
    const [, id, what] = address.match(/approvals\/([0-9a-f-]+)\/(decide|edits\/[0-9]+)/) ?? [];
    look();
    if (id) window.tellWalk(JSON.stringify({ id, what, open_ms: performance.now() - since.get(id) }));
  };
  const { open, send } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method, address, ...rest) {
    this.walked = method.toUpperCase() === "POST" ? String(address) : "";
    return open.call(this, method, address, ...rest);
  };
  XMLHttpRequest.prototype.send = function (...rest) {
    tell(this.walked);
    return send.apply(this, rest);
  };
  document.addEventListener("submit", (event) => {
    const { target } = event;
    setTimeout(() => event.defaultPrevented || tell(target.action));
  });
})();
