// Finds elements that are of a kind, as the type check has to know what they can do. One of another
// kind is a mistake in a template or in a selector.

/**
 * @template {Element} E
 * @typedef {new () => E} Kind - a class of elements
 */

/**
 * @template {Element} E
 * @param {Element | null} element
 * @param {Kind<E>} kind
 * @returns {E | null}
 */
function ofKind(element, kind) {
  if (!element || element instanceof kind) return element;
  throw new TypeError(`<${element.localName}> is not of the kind ${kind.name}.`);
}

/**
 * @template {Element} E
 * @param {ParentNode} root
 * @param {string} selector
 * @param {Kind<E>} kind
 * @returns {E | null} the first one in ``root``
 */
export const find = (root, selector, kind) => ofKind(root.querySelector(selector), kind);

/**
 * @template {Element} E
 * @param {ParentNode} root
 * @param {string} selector
 * @param {Kind<E>} kind
 * @returns {E[]} all in ``root``
 */
export function findAll(root, selector, kind) {
  return [...root.querySelectorAll(selector)].flatMap((element) => ofKind(element, kind) ?? []);
}

/**
 * @template {Element} E
 * @param {ParentNode} root
 * @param {string} selector
 * @param {Kind<E>} kind
 * @returns {E} the first one in ``root``, which always has one
 */
export function need(root, selector, kind) {
  const element = find(root, selector, kind);
  if (element) return element;
  throw new TypeError(`Nothing here is ${selector}.`);
}

/**
 * @template {Element} E
 * @param {EventTarget | null} target - of an event; the document and the window are in nothing
 * @param {string} selector
 * @param {Kind<E>} kind
 * @returns {E | null} what the target is in, or is
 */
export function closest(target, selector, kind) {
  return target instanceof Element ? ofKind(target.closest(selector), kind) : null;
}
