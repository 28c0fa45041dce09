/**
 * Numbers the writes of a file with two slots, modulo 2³²: at 500 acknowledgments a second, the
 * numbers start again after 99 days. Even and odd ones alternate there, too.
 */
export const nextGeneration = (generation: number): number => (generation + 1) >>> 0;

/** Compares two numbers that are close to each other, for sorting the later one first. */
export const laterFirst = (a: { generation: number }, b: { generation: number }): number =>
  (b.generation - a.generation) | 0;
