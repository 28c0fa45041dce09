/**
 * Returns the number of letters to replace, delete, insert or swap with their neighbor to turn one
 * word into the other: the Damerau-Levenshtein distance, restricted to one edit per letter (optimal
 * string alignment).
 *
 * @param limit stops above this distance and returns `limit + 1`
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const next = [row];
    let least = row;
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, at(before, column - 2) + 1);
      next.push(cost);
      least = Math.min(least, cost);
    }
    if (least > limit) return limit + 1;
    [before, last] = [last, next];
  }
  return Math.min(at(last, b.length), limit + 1);
}

const at = (costs: readonly number[], index: number): number => costs[index] ?? Number.POSITIVE_INFINITY;
