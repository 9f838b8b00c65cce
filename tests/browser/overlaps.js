// What is drawn badly on a page: texts that lie on one another, are cut off, or reach out of their row.
// A list of sentences, empty if nothing is. What is meant to scroll, and what a bar covers, is no fault.
() => {
  const SLACK_PX = 3; // glyphs and rounding
  const ROWS = ".item, .button, .chip, .badge, tr, .plan-step, .answered-step, .notice, .card";
  const HIDDEN = ".visually-hidden, [hidden], template, noscript, .minimap, .skip";
  const wrong = [];
  const cut = (text) => JSON.stringify(text.trim().slice(0, 50));
  const placed = texts();

  for (const { element, text, rects } of placed) {
    const row = element.closest(ROWS);
    if (row && rects.some((rect) => leaves(rect, row))) wrong.push(`${cut(text)} reaches out of its ${nameOf(row)}`);
  }
  for (const element of document.querySelectorAll("#main *, .header *")) {
    if (isShown(element) && isCut(element)) wrong.push(`${cut(element.textContent)} is cut off in ${nameOf(element)}`);
  }
  for (const [one, other] of onOneAnother(placed)) wrong.push(`${cut(one)} lies on ${cut(other)}`);
  return [...new Set(wrong)].slice(0, 8);

  function nameOf(element) {
    const names = [...element.classList].map((name) => `.${name}`).join("");
    return element.tagName.toLowerCase() + (element.id ? `#${element.id}` : names);
  }

  function isShown(element) {
    return element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest(HIDDEN);
  }

  /** Every text in sight of a person who scrolls, with where its lines are. */
  function texts() {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const element = node.parentElement;
      if (!node.data.trim() || element.closest("script, style, option, textarea") || !isShown(element)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const rects = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
      if (rects.length) found.push({ element, text: node.data, rects });
    }
    return found;
  }

  function leaves(rect, row) {
    const { left, right, top, bottom } = row.getBoundingClientRect();
    if (scrolls(row)) return false;
    return rect.left < left - SLACK_PX || rect.right > right + SLACK_PX || rect.top < top - SLACK_PX || rect.bottom > bottom + SLACK_PX;
  }

  /** Whether something between an element and the page scrolls or is cut with a mark. */
  function scrolls(element) {
    for (let one = element; one; one = one.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(one).overflow) && one !== document.documentElement && one !== document.body) return true;
    }
    return false;
  }

  function isCut(element) {
    const { overflow, textOverflow, webkitLineClamp, display } = getComputedStyle(element);
    if (!/hidden|clip/.test(overflow) || !element.textContent.trim() || /inline$/.test(display)) return false;
    const isWider = element.scrollWidth > element.clientWidth + SLACK_PX;
    const isTaller = element.scrollHeight > element.clientHeight + SLACK_PX;
    if (!isWider && !isTaller) return false;
    if (webkitLineClamp !== "none") return false;
    const LEAST = 4 * parseFloat(getComputedStyle(element).fontSize); // with less, only the mark is left
    return !(textOverflow === "ellipsis" && !isTaller && element.clientWidth >= LEAST);
  }

  function* onOneAnother(all) {
    const lines = all.flatMap(({ element, text, rects }) => rects.map((rect) => ({ element, text, rect })));
    lines.sort((one, other) => one.rect.top - other.rect.top);
    for (const [index, one] of lines.entries()) {
      for (const other of lines.slice(index + 1)) {
        if (other.rect.top > one.rect.bottom) break;
        const middle = overlapOf(one.rect, other.rect);
        if (middle && areBothSeen(one.element, other.element, middle)) yield [one.text, other.text];
      }
    }
  }

  /** @returns {{x: number, y: number} | null} the middle of what both cover */
  function overlapOf(one, other) {
    const [left, right] = [Math.max(one.left, other.left), Math.min(one.right, other.right)];
    const [top, bottom] = [Math.max(one.top, other.top), Math.min(one.bottom, other.bottom)];
    const isThin = Math.min(one.height, other.height) / 3;
    return right - left > SLACK_PX && bottom - top > isThin ? { x: (left + right) / 2, y: (top + bottom) / 2 } : null;
  }

  /** Whether nothing opaque lies between them: a bar or a menu covers what it should. */
  function areBothSeen(one, other, { x, y }) {
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    const pile = document.elementsFromPoint(x, y);
    const places = [pile.indexOf(one), pile.indexOf(other)];
    if (places.includes(-1)) return false; // cut off, or something lets presses through
    const above = pile.slice(0, Math.max(...places));
    const lower = pile[Math.max(...places)];
    return !above.some((element) => isOpaque(element) && !element.contains(lower));
  }

  function isOpaque(element) {
    const { backgroundColor, opacity } = getComputedStyle(element);
    return opacity === "1" && !/^rgba\(.*, 0(\.\d+)?\)$|transparent/.test(backgroundColor);
  }
}
