/**
 * How long to wait before trying again: twice as long each time, with jitter, so that a hundred
 * open pages do not all come back in the same second.
 *
 * @param {number} attempt - 0 for the first retry
 * @param {() => number} [random] - 0 to 1; given in tests
 * @returns {number} milliseconds, at most 30 000
 */
export function retryDelay(attempt, random = Math.random) {
  const ceiling = Math.min(30_000, 500 * 2 ** attempt);
  return ceiling / 2 + (random() * ceiling) / 2;
}
