import type { Field } from './field.js';
import { readNumber } from './read-number.js';
import { isMapRow } from './rows.js';

/** `acme.okta.com/path`, not yet an address: a host with a dot, or localhost. */
const BARE_ADDRESS = /^(?:localhost|[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+)(?::\d+)?(?:[/?#]|$)/u;

const FORMATS: Readonly<Record<string, (text: string) => string>> = {
  uri: (text) => (BARE_ADDRESS.test(text) ? `https://${text}` : text),
  hostname: hostOnly,
  'host-port': hostOnly,
  email: (text) => text.replace(/^mailto:/i, ''),
  cron: (text) => text.replaceAll(/\s+/g, ' '),
  // A key copied out of a JSON document comes with its quotes and with its line breaks written out.
  pem: (text) => text.replaceAll(/^"|"$/g, '').replaceAll('\\n', '\n').replaceAll('\r\n', '\n').trim(),
};

/** People paste addresses where a host is asked for; what is left of a path is for the validator to explain. */
function hostOnly(text: string): string {
  return text.replace(/^https?:\/\//i, '').replace(/\/+$/, '');
}

/**
 * What a person meant: without the spaces a paste brings along, in the form the field takes. Anything that is not plainly the
 * same thing stays as typed. Normalizing twice changes nothing.
 */
export function normalize(field: Field, value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((row: unknown) =>
      isMapRow(row) ? { ...row, key: row.key.trim(), value: trimmed(row.value) } : trimmed(row),
    );
  const text = trimmed(value);
  if (typeof text !== 'string') return text;
  if (field.kind === 'number') return readNumber(text) ?? text;
  const format =
    field.kind === 'secret'
      ? field.shape
      : field.kind === 'cron'
        ? 'cron'
        : 'format' in field
          ? field.format
          : undefined;
  return (format && FORMATS[format]?.(text)) ?? text;
}

// A tab is kept: it is a separator that some fields take.
const trimmed = (value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(/^[ \r\n\u00a0]+|[ \r\n\u00a0]+$/g, '') : value;
