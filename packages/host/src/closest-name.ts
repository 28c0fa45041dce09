/**
 * Returns the known name that is most similar to a misspelled one, or `undefined` if none is: at
 * most a third of the letters differ.
 */
export function closestName(name: string, known: Iterable<string>): string | undefined {
  let closest: string | undefined;
  let fewest = Math.floor(name.length / 3) + 1;
  for (const candidate of known) {
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) [closest, fewest] = [candidate, edits];
  }
  return closest;
}

/** Returns the Levenshtein distance: letters to insert, remove or replace. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(one).entries()) {
    const next = [index + 1];
    for (const [column, otherLetter] of Array.from(other).entries()) {
      const replaced = (row[column] ?? 0) + (letter === otherLetter ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
