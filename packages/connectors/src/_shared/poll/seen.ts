import type { JsonValue } from '@connector-frame/engine/connector-api';

/**
 * Length of a key: 60 bits of a SHA-256 as base64url. Among 100,000 remembered keys, one new record
 * in 10^13 is mistaken for a known one.
 */
export const KEY_LENGTH = 10;
/** Maximum number of groups that the covered time is split into. */
const GROUPS = 600;
const MIN_RESOLUTION_MS = 1_000;

/** The newest time of a record, in milliseconds since the epoch, and how often it occurred. */
export interface Occurrences {
  time: number;
  count: number;
}

/**
 * Delivered records with about the same time: that time, their keys in one string, and how often
 * those keys occurred that occurred more than once. Takes 10 to 11 bytes per record.
 */
export type SeenGroup =
  | readonly [time: number, keys: string]
  | readonly [time: number, keys: string, counts: Record<string, number>];

/** Groups keys by time. Times are rounded up, so that a key is kept longer rather than shorter. */
export function encodeSeen(entries: Iterable<readonly [string, Occurrences]>, spanMs: number): SeenGroup[] {
  const resolution = Math.max(MIN_RESOLUTION_MS, Math.ceil(spanMs / GROUPS / 1_000) * 1_000);
  const groups = new Map<number, { keys: string[]; counts: [string, number][] }>();
  for (const [key, { time, count }] of entries) {
    const rounded = Math.ceil(time / resolution) * resolution;
    let group = groups.get(rounded);
    if (!group) groups.set(rounded, (group = { keys: [], counts: [] }));
    group.keys.push(key);
    if (count > 1) group.counts.push([key, count]);
  }
  return [...groups].map(([time, { keys, counts }]) =>
    counts.length === 0 ? [time, keys.join('')] : [time, keys.join(''), Object.fromEntries(counts)],
  );
}

export function decodeSeen(groups: readonly SeenGroup[]): Map<string, Occurrences> {
  const known = new Map<string, Occurrences>();
  for (const [time, keys, counts] of groups)
    for (let at = 0; at < keys.length; at += KEY_LENGTH) {
      const key = keys.slice(at, at + KEY_LENGTH);
      known.set(key, { time, count: counts?.[key] ?? 1 });
    }
  return known;
}

/**
 * Parses the groups of a stored cursor; drops invalid ones. Cursors of earlier versions have one
 * entry of a longer key, a time and a count per record.
 */
export function parseSeen(value: JsonValue | undefined): SeenGroup[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): SeenGroup[] => {
    if (!Array.isArray(entry)) return [];
    const [first, second, third]: unknown[] = entry;
    if (typeof first === 'string' && typeof second === 'number' && typeof third === 'number') {
      const key = first.slice(0, KEY_LENGTH);
      return key.length === KEY_LENGTH ? [[second, key, { [key]: third }]] : [];
    }
    if (typeof first !== 'number' || typeof second !== 'string' || second.length % KEY_LENGTH !== 0) return [];
    return [[first, second, countsIn(third)]];
  });
}

function countsIn(value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}
