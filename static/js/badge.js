// Says in the title how many requests need the reader, and nothing of what they are, where they
// asked for that on their account page.

const STORED = "approvals:badge"; // "on", or nothing
const BADGE = /^\(\d+\) /;

/** @param {number} mine - how many need the reader */
export function showBadge(mine) {
  const plain = document.title.replace(BADGE, "");
  const title = mine && localStorage.getItem(STORED) === "on" ? `(${mine}) ${plain}` : plain;
  if (document.title !== title) document.title = title;
}
