// Where the pieces of drawn lines stand out of their order: a list of sentences, empty if none do.
// Each of `expected` is the pieces of one line; joined, they are its text.
([selector, expected]) => {
  const lines = [...document.querySelectorAll(selector)];
  const wrong = [];
  for (const pieces of expected) {
    const source = pieces.join("");
    const line = lines.find((one) => textOf(one) === source);
    if (!line) {
      wrong.push(`not drawn: ${source}`);
      continue;
    }
    const letters = rects(line);
    let start = 0;
    let before = null;
    for (const piece of pieces) {
      const inside = letters.slice(start, start + piece.length).filter((rect) => rect.width > 0);
      start += piece.length;
      const place = { left: Math.min(...inside.map((r) => r.left)), right: Math.max(...inside.map((r) => r.right)) };
      if (before && place.left < before.right - 1) wrong.push(`${JSON.stringify(piece)} stands before what it follows in ${source}`);
      before = place;
      if (!/^[\p{Script=Hebrew}\p{Script=Arabic}\p{M} ,،]+$/u.test(piece) || !/\p{L}/u.test(piece)) continue;
      for (let index = 1; index < inside.length; index += 1) {
        if (inside[index].left > inside[index - 1].left + 0.5) wrong.push(`the letters of ${piece} run from left to right in ${source}`);
      }
    }
  }
  return wrong;

  // The text but for what is hidden, which is drawn as boxes.
  function textOf(line) {
    const copy = line.cloneNode(true);
    for (const box of copy.querySelectorAll(".glyph")) box.remove();
    return copy.textContent;
  }

  // One rectangle for each UTF-16 unit of that text.
  function rects(line) {
    const found = [];
    const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      if (texts.currentNode.parentElement.matches(".glyph")) continue;
      for (let index = 0; index < texts.currentNode.length; index += 1) {
        const range = document.createRange();
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + 1);
        found.push(range.getBoundingClientRect());
      }
    }
    return found;
  }
}
