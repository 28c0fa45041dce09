import { gzipSync } from 'node:zlib';

/** Returns the size in bytes after gzip at level 9. */
export const gzipped = (content) => gzipSync(content, { level: 9 }).length;

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs two measurements alternately (A B A B ...), so that drift in machine speed affects both
 * equally. Returns both medians and the median of the pairwise ratios A/B.
 */
export async function sideBySide(rounds, a, b) {
  const pairs = [];
  for (let round = 0; round < rounds; round += 1) pairs.push([await a(), await b()]);
  return {
    a: median(pairs.map(([first]) => first)),
    b: median(pairs.map(([, second]) => second)),
    ratio: median(pairs.map(([first, second]) => first / second)),
  };
}

const rows = [];

/** Records and prints one figure with its bound. Omit `within` for figures that have no bound. */
export function report(name, measured, bound, within) {
  rows.push({ name, measured, bound, within });
  const mark = within === undefined ? ' ' : within ? '\u2713' : '\u2717';
  console.log(`${mark} ${name}: ${measured}${bound ? ` (${bound})` : ''}`);
}

/** Returns the number of figures outside their bounds. */
export const missed = () => rows.filter((row) => row.within === false).length;
