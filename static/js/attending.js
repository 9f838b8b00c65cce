// Where the keys for attention lead. Everything they reach is a form or a menu of the page.

/** A claim decides nothing, so nobody else's is taken by a key alone. */
export function toClaim() {
  const claim = document.getElementById("claim");
  if (!claim) return;
  if (claim.form.elements.over.value) claim.focus();
  else claim.click();
}

export function toLater() {
  const menu = document.getElementById("later");
  if (!menu) return;
  menu.open = true;
  menu.querySelector("button").focus();
}
