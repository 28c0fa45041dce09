/** Pseudorandom values for one record. The same record number and label give the same value. */
export interface Draw {
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Returns an integer from 0 (inclusive) to `sides` (exclusive). */
  below(sides: number, label: string): number;
}

export function createDraw(number: number, at: number): Draw {
  const [low, high] = [number >>> 0, Math.floor(number / 2 ** 32)];
  return {
    number,
    at,
    below(sides, label) {
      let hash = 0x81_1c_9d_c5 ^ high;
      for (let index = 0; index < label.length; index += 1)
        hash = Math.imul(hash ^ label.charCodeAt(index), 0x01_00_01_93);
      return Math.floor((mixed(mixed(low) ^ hash) / 2 ** 32) * sides);
    },
  };
}

/**
 * Mixes bits so that every output bit depends on every input bit (the finalizer of MurmurHash3).
 */
function mixed(bits: number): number {
  let hash = bits;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
