import type { DataRecord, JsonValue } from '../connector-api/record.js';

/**
 * Creates a pseudorandom generator of numbers from 0 (inclusive) to 1 (exclusive). The same seed
 * gives the same sequence, so that failures can be reproduced.
 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Creates a record with random structure and keys, some of them malicious. */
export function randomRecord(random: () => number): DataRecord {
  const keys = ['a', 'b', 'c d', 'x.y', '0', '__proto__', 'constructor', 'é'];
  const grow = (depth: number): JsonValue => {
    const kind = random();
    if (depth < 3 && kind < 0.25) return Array.from({ length: Math.floor(random() * 3) }, () => grow(depth + 1));
    if (depth < 3 && kind < 0.55) return object(depth + 1);
    return [null, true, 'text', '12', 3.5][Math.floor(random() * 5)] ?? null;
  };
  const object = (depth: number): DataRecord =>
    Object.fromEntries(
      Array.from({ length: Math.floor(random() * 4) }, () => [
        keys[Math.floor(random() * keys.length)] ?? 'a',
        grow(depth),
      ]),
    );
  return object(0);
}
