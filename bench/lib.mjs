import { gzipSync } from 'node:zlib';

/** Bytes after gzip at its best level: what a visitor downloads. */
export const gzipped = (content) => gzipSync(content, { level: 9 }).length;

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs two measurements in turn, A B A B ..., so that a machine whose speed drifts treats both alike.
 * Answers the medians and the median of the ratios A/B taken pair by pair.
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

/** Notes one figure with its bound. `within` is left out for figures that are told, not bounded. */
export function report(name, measured, bound, within) {
  rows.push({ name, measured, bound, within });
  const mark = within === undefined ? ' ' : within ? '\u2713' : '\u2717';
  console.log(`${mark} ${name}: ${measured}${bound ? ` (${bound})` : ''}`);
}

/** Answers how many figures were out of their bounds. */
export const missed = () => rows.filter((row) => row.within === false).length;
