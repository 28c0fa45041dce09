import type { JsonValue } from '@connector-frame/engine/connector-api';

/** Also matches strings, so that digits inside them are not changed. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Parses JSON without losing precision: a number that a double can't represent exactly becomes a
 * string with its original digits.
 *
 * @throws SyntaxError
 */
export function parseExact(text: string): JsonValue {
  // Up to fifteen digits always fit in a double, so most texts need no second pass.
  const value: JsonValue = JSON.parse(text);
  if (!/\d[\d.]{15}|\d[eE][+-]?\d/.test(text)) return value;
  const exact: JsonValue = JSON.parse(text.replace(TOKEN, quoteLong));
  return exact;
}

function quoteLong(token: string): string {
  return token.startsWith('"') || isExact(token) ? token : `"${token}"`;
}

function isExact(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  if (/^-?\d+$/.test(token)) return Number.isSafeInteger(value);
  return digits(token) === digits(String(value));
}

/**
 * Normalizes a number to its significant digits and exponent: `12.50` and `1.25e1` give the same
 * result.
 */
function digits(token: string): string {
  const [mantissa = '', exponent = '0'] = token.replace('-', '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = all.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + all.length - significant.length}`;
}
