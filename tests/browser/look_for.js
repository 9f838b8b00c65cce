// What is wrong with a page that drew hostile texts: a list of sentences, empty if nothing is.
([mark, hidden]) => {
  const FRAMES = "[translate=no], .untrusted, .said";
  const NEVER = "iframe, object, embed, base, video, marquee, math, template:not(body > template), meta[http-equiv], [style], [srcdoc], [formaction], link[rel=prefetch], [data-hx-get], [data-hx-post], [hx-vals], #request-bar [data-owed] script";
  const concealed = new RegExp(`[${hidden.map((code) => `\\u{${code.toString(16)}}`).join("")}]`, "u");
  const wrong = [];
  const cut = (text) => JSON.stringify(text.slice(0, 80));

  if (window.zqxran) wrong.push("a script ran");
  if (document.title.includes(mark)) wrong.push("the title is theirs");
  for (const element of document.querySelectorAll(NEVER)) wrong.push(`there is ${cut(element.outerHTML)}`);
  if (document.scripts.length !== 2) wrong.push(`there are ${document.scripts.length} scripts`);

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    const frame = node.parentElement.closest(FRAMES);
    if (frame && concealed.test(node.data)) wrong.push(`hidden: ${cut(node.data)}`);
    if (!node.data.includes(mark)) continue;
    if (!frame) wrong.push(`outside: ${cut(node.data)} in ${cut(node.parentElement.outerHTML)}`);
    else if (node.parentElement.closest("button, label, h2, summary > h3")) wrong.push(`in a control: ${cut(node.data)}`);
    else if (node.parentElement.checkVisibility() && leaves(node, frame)) wrong.push(`leaves its frame: ${cut(node.data)}`);
  }
  for (const element of document.querySelectorAll("*")) {
    for (const { name, value } of element.attributes) {
      if (!value.includes(mark)) continue;
      const isLink = name === "href" && element.matches("a") && /^(https?:|\/runs\/|\/history)/.test(value);
      if (!isLink) wrong.push(`attribute ${name} of ${cut(element.outerHTML)}`);
    }
  }
  return wrong.slice(0, 5);

  function leaves(node, frame) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const inner = range.getBoundingClientRect();
    const outer = frame.getBoundingClientRect();
    if (getComputedStyle(frame).overflow !== "visible") return false; // it cuts off what is too wide
    // A blank at the end of a wrapped row hangs over by its own width, and cannot be seen.
    return inner.width > 0 && (inner.left < outer.left - 2 || inner.right > outer.right + 9 || inner.top < outer.top - 2 || inner.bottom > outer.bottom + 2);
  }
}
