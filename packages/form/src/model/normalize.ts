import type { Field } from './field.js';

/** Accepted notation of a number. No exponents or separators, so that the text is unambiguous. */
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;

/** Parses a plain number; returns undefined for any other text. */
export const readNumber = (text: string): number | undefined => (NUMBER.test(text.trim()) ? Number(text) : undefined);

/** A URL without its scheme, such as `acme.okta.com/path`: a host with a dot, or localhost. */
const BARE_ADDRESS = /^(localhost|[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+)(:\d+)?([/?#]|$)/u;

/**
 * Users paste URLs into host fields. Strips the scheme and trailing slashes; the validator reports
 * a remaining path.
 */
const hostOnly = (text: string): string => text.replace(/^https?:\/\//i, '').replace(/\/+$/, '');

const MEANT: Readonly<Record<string, (text: string) => string>> = {
  uri: (text) => (BARE_ADDRESS.test(text) ? `https://${text}` : text),
  hostname: hostOnly,
  'host-port': hostOnly,
  cron: (text) => text.replaceAll(/\s+/g, ' '),
  // A key copied from a JSON document includes its quotes, and its line breaks as `\n`.
  pem: (text) =>
    text
      .replaceAll(/^"|"$/g, '')
      .replaceAll(/\\n|\r\n/g, '\n')
      .trim(),
};

/**
 * Normalizes user input: trims pasted whitespace and converts the value to the field's format.
 * Leaves ambiguous input unchanged. Idempotent.
 */
export function normalize(field: Field, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // Keep tabs: some fields accept a tab as a separator.
  const text = value.replaceAll(/^[ \r\n\u00a0]+|[ \r\n\u00a0]+$/g, '');
  if (field.kind === 'number') return readNumber(text) ?? text;
  const format = field.kind === 'secret' ? field.shape : 'format' in field ? field.format : field.kind;
  return (format && MEANT[format]?.(text)) ?? text;
}
