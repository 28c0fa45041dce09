/** Letters and tint of the tile of a connector type without an icon. */

const wordsOf = (name: string): string[] => name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');

/** Returns two letters: of the first two words, or the first two of a single word. */
export function lettersOf(name: string): string {
  const [first = '', second] = wordsOf(name);
  const letters =
    second === undefined ? Array.from(first).slice(0, 2) : [first, second].map((word) => Array.from(word)[0]);
  return letters.join('').toUpperCase();
}

/** Number of distinguishable hues. */
const HUES = 16;

/** Returns a hue in degrees. Names with the same first word, usually the vendor, share it. */
export function hueOf(name: string): number {
  let hash = 7;
  for (const character of wordsOf(name)[0]?.toLowerCase() ?? '')
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return (hash % HUES) * (360 / HUES);
}
