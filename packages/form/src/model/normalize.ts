import type { Field } from './field.js';

/** A number a person may write. No exponents, no separators: what is shown is what is meant. */
const NUMBER = /^-?\d{1,15}(\.\d{1,15})?$/;

/** The number a text plainly is, else undefined. */
export const readNumber = (text: string): number | undefined => (NUMBER.test(text.trim()) ? Number(text) : undefined);

/** `acme.okta.com/path`, not yet an address: a host with a dot, or localhost. */
const BARE_ADDRESS = /^(localhost|[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+)(:\d+)?([/?#]|$)/u;

/** People paste addresses where a host is asked for; what is left of a path is for the validator to explain. */
const hostOnly = (text: string): string => text.replace(/^https?:\/\//i, '').replace(/\/+$/, '');

const MEANT: Readonly<Record<string, (text: string) => string>> = {
  uri: (text) => (BARE_ADDRESS.test(text) ? `https://${text}` : text),
  hostname: hostOnly,
  'host-port': hostOnly,
  cron: (text) => text.replaceAll(/\s+/g, ' '),
  // A key copied out of a JSON document comes with its quotes, and with its line breaks written out.
  pem: (text) =>
    text
      .replaceAll(/^"|"$/g, '')
      .replaceAll(/\\n|\r\n/g, '\n')
      .trim(),
};

/**
 * What a person meant: without the spaces that a paste brings along, in the form the field takes. Anything that is not plainly
 * the same thing stays as typed. Normalizing twice changes nothing.
 */
export function normalize(field: Field, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // A tab is kept: it is a separator that some fields take.
  const text = value.replaceAll(/^[ \r\n\u00a0]+|[ \r\n\u00a0]+$/g, '');
  if (field.kind === 'number') return readNumber(text) ?? text;
  const format = field.kind === 'secret' ? field.shape : 'format' in field ? field.format : field.kind;
  return (format && MEANT[format]?.(text)) ?? text;
}
