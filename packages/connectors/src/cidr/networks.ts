import ipaddr from 'ipaddr.js';
import { readIp } from '../_shared/lookup/read-ip.js';

/** A range of addresses, both ends included, as numbers of 128 bits. */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Returns an address as a number of 128 bits; IPv4 addresses are those below ::ffff:0:0/96. */
export function numberOf(address: ipaddr.IPv4 | ipaddr.IPv6): bigint {
  const bytes = (address instanceof ipaddr.IPv4 ? address.toIPv4MappedAddress() : address).toByteArray();
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

/** Parses a network (`10.0.0.0/8`), an address, or a range (`10.0.0.1-10.0.0.9`). */
export function readRange(text: string): AddressRange | undefined {
  const [start = '', end, ...rest] = text.split('-');
  if (rest.length > 0) return undefined;
  if (end !== undefined) return between(readIp(start), readIp(end));
  const [network = '', prefix, ...more] = text.trim().split('/');
  const address = readIp(network);
  if (!address || more.length > 0) return undefined;
  if (prefix === undefined) return between(address, address);
  const bits = network.includes(':') ? 128 : 32;
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) return undefined;
  const size = 1n << BigInt(bits - Number(prefix));
  const number = bits === 128 ? numberOf(ipaddr.IPv6.parse(network)) : numberOf(address);
  const first = number - (number % size);
  return { first, last: first + size - 1n };
}

function between(
  start: ipaddr.IPv4 | ipaddr.IPv6 | undefined,
  end: ipaddr.IPv4 | ipaddr.IPv6 | undefined,
): AddressRange | undefined {
  if (!start || !end || start.kind() !== end.kind()) return undefined;
  const [first, last] = [numberOf(start), numberOf(end)];
  return first <= last ? { first, last } : undefined;
}

/** Finds the smallest range that contains an address. Of ranges of equal size, the last counts. */
export class Networks<T> {
  readonly #starts: readonly bigint[];
  /** For each start, the index of the range from there to the next start; -1 for none. */
  readonly #owners: Int32Array;
  readonly #values: readonly T[];

  constructor(ranges: readonly (readonly [range: AddressRange, value: T])[]) {
    const starts = [...new Set(ranges.flatMap(([{ first, last }]) => [first, last + 1n]))].sort(compare);
    const indexOf = new Map(starts.map((start, index) => [start, index]));
    const owners = new Int32Array(starts.length).fill(-1);
    // From each segment, leads to the next one without an owner.
    const next = Int32Array.from({ length: starts.length + 1 }, (_, index) => index);
    const free = (index: number): number => {
      let end = index;
      while (next[end] !== end) end = next[end] ?? end;
      for (let at = index; at !== end;) {
        const after: number = next[at] ?? end;
        next[at] = end;
        at = after;
      }
      return end;
    };
    const order = [...ranges.keys()].sort((a, b) => compare(sizeOf(ranges[a]?.[0]), sizeOf(ranges[b]?.[0])) || b - a);
    for (const index of order) {
      const range = ranges[index]?.[0];
      if (!range) continue;
      const end = indexOf.get(range.last + 1n) ?? 0;
      for (let at = free(indexOf.get(range.first) ?? 0); at < end; at = free(at)) {
        owners[at] = index;
        next[at] = at + 1;
      }
    }
    this.#starts = starts;
    this.#owners = owners;
    this.#values = ranges.map(([, value]) => value);
  }

  find(address: bigint): T | undefined {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0n) <= address) low = middle + 1;
      else high = middle;
    }
    return this.#values[this.#owners[low - 1] ?? -1];
  }
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
const sizeOf = (range: AddressRange | undefined): bigint => (range ? range.last - range.first : 0n);
