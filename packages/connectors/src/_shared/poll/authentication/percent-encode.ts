/** Percent-encodes all but the unreserved characters of RFC 3986. */
export const percentEncode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** Encodes parameters and sorts them by name and value, as signatures require. */
export function sortedParameters(pairs: Iterable<readonly [name: string, value: string]>): string {
  return Array.from(pairs, ([name, value]) => [percentEncode(name), percentEncode(value)] as const)
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Compares by code unit, in every locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
