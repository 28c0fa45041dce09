/** Sort key of a comparable value. Numbers and times are not comparable with each other. */
export interface Order {
  kind: 'number' | 'time';
  order: number;
}

const NUMBER = /^[-+]?\d+(\.\d+)?([eE][-+]?\d+)?$/;
const TIME = /^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[-+]\d\d:?\d\d)?)?$/;

/**
 * Returns the sort key of a number, a numeric string, or an RFC 3339 date or time (in
 * milliseconds); otherwise `undefined`.
 */
export function orderOf(value: unknown): Order | undefined {
  if (typeof value === 'number') return { kind: 'number', order: value };
  if (typeof value !== 'string' || value.length > 100) return undefined;
  if (NUMBER.test(value)) return { kind: 'number', order: Number(value) };
  const order = TIME.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(order) ? undefined : { kind: 'time', order };
}
