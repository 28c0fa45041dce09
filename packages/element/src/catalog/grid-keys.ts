/**
 * Returns the index of the grid item that a key moves to: `-1` above the first row, `undefined` for
 * other keys.
 *
 * @param columns items per row
 */
export function nextIndex(key: string, index: number, columns: number, count: number): number | undefined {
  const last = count - 1;
  const isLastRow = Math.floor(index / columns) === Math.floor(last / columns);
  if (key === 'ArrowRight') return Math.min(index + 1, last);
  if (key === 'ArrowLeft') return Math.max(index - 1, 0);
  if (key === 'ArrowDown') return isLastRow ? index : Math.min(index + columns, last);
  if (key === 'ArrowUp') return index < columns ? -1 : index - columns;
  if (key === 'Home') return 0;
  return key === 'End' ? last : undefined;
}
