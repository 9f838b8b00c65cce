// What is drawn badly on a page: texts that lie on one another, are cut off, or reach out of their row.
// A list of sentences, empty if nothing is. What is meant to scroll, and what a bar covers, is no fault.
() => {
  const SLACK_PX = 3; // glyphs and rounding
  const ROWS = ".item, .button, .chip, .badge, tr, .plan-step, .answered-step, .notice, .card";
  const HIDDEN = ".visually-hidden, [hidden], template, noscript, .minimap, .skip";
  const wrong = [];
  const cut = (text) => JSON.stringify(text.trim().slice(0, 50));
  const placed = texts();

  for (const { element, text, rects, cutter } of placed) {
    if (cutter) wrong.push(`${cut(text)} is cut off in ${nameOf(cutter)}`);
    const row = element.closest(ROWS);
    if (row && rects.some((rect) => leaves(rect, row))) wrong.push(`${cut(text)} reaches out of its ${nameOf(row)}`);
  }
  for (const button of document.querySelectorAll("button, .button")) {
    // With what style sheets add to its words.
    const { overflow } = getComputedStyle(button);
    if (isShown(button) && overflow === "hidden" && button.scrollWidth > button.clientWidth + SLACK_PX) wrong.push(`${cut(button.textContent)} is cut off in ${nameOf(button)}`);
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
      const whole = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
      const cuts = whole.map((rect) => seenOf(rect, element));
      const rects = cuts.map(({ rect }) => rect).filter(({ width, height }) => width > 1 && height > 1);
      const cutter = cuts.find(({ by }) => by)?.by ?? null;
      if (rects.length || cutter) found.push({ element, text: node.data, rects, cutter });
    }
    return found;
  }

  /**
   * What is left of a rectangle where elements around it cut it off or scroll, and which of them cut it off
   * without a mark.
   */
  function seenOf(rect, element) {
    let { left, right, top, bottom } = rect;
    let by = null;
    for (let one = element; one && one !== document.body; one = one.parentElement) {
      const { overflow, display } = getComputedStyle(one);
      if (overflow === "visible" || display === "inline") continue;
      const box = one.getBoundingClientRect();
      const loses = right - box.right > SLACK_PX || box.left - left > SLACK_PX || bottom - box.bottom > SLACK_PX || box.top - top > SLACK_PX;
      if (loses && !/auto|scroll/.test(overflow) && !isMarked(one, box)) by ??= one;
      if (/auto|scroll/.test(overflow) && by === null && loses) return { rect: { width: 0, height: 0 }, by };
      [left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    const isGone = right <= left || bottom <= top; // nothing of it is drawn, so nothing looks cut off
    return { rect: { left, right, top, bottom, width: right - left, height: bottom - top }, by: isGone ? null : by };
  }

  /** Whether what is cut off has a mark that says so, and more than that mark is left; or it is only heard. */
  function isMarked(element, { width, height }) {
    const { textOverflow, webkitLineClamp, clipPath, fontSize } = getComputedStyle(element);
    if (width < 3 || height < 3 || clipPath !== "none") return true;
    return webkitLineClamp !== "none" || (textOverflow === "ellipsis" && width >= 4 * parseFloat(fontSize));
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

  function* onOneAnother(all) {
    const lines = all.flatMap(({ element, text, rects }) => rects.map((rect) => ({ element, text, rect })));
    lines.sort((one, other) => one.rect.top - other.rect.top);
    for (const [index, one] of lines.entries()) {
      for (const other of lines.slice(index + 1)) {
        if (other.rect.top > one.rect.bottom) break;
        const middle = one.text !== other.text && overlapOf(one.rect, other.rect);
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
