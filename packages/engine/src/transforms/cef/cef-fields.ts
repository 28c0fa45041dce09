import type { JsonValue } from '../../connector-api/record.js';
import { parseLayout } from '../time/layout.js';
import { formatTime } from '../time/format-time.js';
import { parseTime } from '../time/parse-time.js';
import { FULL_NAMES } from './full-names.js';
import type { ParsedCef } from './parse-cef.js';

export const DEFAULT_HEADER = [
  'cef_version',
  'device_vendor',
  'device_product',
  'device_version',
  'signature_id',
  'name',
  'severity',
] as const;

export interface CefOptions {
  readonly preset: 'none' | 'full_names';
  readonly columns: ReadonlyMap<string, string>;
  readonly header: readonly string[];
  readonly numeric: ReadonlySet<string>;
  readonly dates: ReadonlySet<string>;
  readonly resolveLabels: boolean;
  readonly emptyToNull: boolean;
  readonly stripQuotes: boolean;
  readonly overflowField: string | undefined;
  readonly overflowSeparator: string;
}

/**
 * Returns the fields of an event. Types and dates apply to the new names of keys.
 * @param now milliseconds since the epoch, for times without a year
 * @param warnings receives what can't be converted
 */
export function cefFields(
  { version, header, extension }: ParsedCef,
  options: CefOptions,
  now: number,
  warnings: string[],
): Map<string, JsonValue> {
  const fields = new Map<string, JsonValue>();
  const overflow = new Map<string, JsonValue>();
  const convert = (name: string, text: string): JsonValue => {
    const plain = options.stripQuotes ? text.replace(/^"(.*)"$/s, '$1') : text;
    if (plain === '') return options.emptyToNull ? null : '';
    if (options.numeric.has(name)) return toNumber(plain, name, warnings);
    return options.dates.has(name) ? toDate(plain, name, now, warnings) : plain;
  };
  for (const [index, text] of [version, ...header].entries()) {
    const name = options.header[index] ?? '';
    if (name !== '') fields.set(name, convert(name, text));
  }
  const labelled = options.resolveLabels ? resolveLabels(extension) : extension;
  for (const [key, text] of labelled) {
    const known = options.preset === 'full_names' && Object.hasOwn(FULL_NAMES, key) ? FULL_NAMES[key] : undefined;
    const given = options.columns.get(key) ?? (known === undefined ? undefined : options.columns.get(known));
    const name = given ?? known ?? key;
    const overflows = options.overflowField !== undefined && given === undefined;
    (overflows ? overflow : fields).set(name, convert(name, text));
  }
  if (options.overflowField !== undefined && overflow.size > 0)
    fields.set(options.overflowField, overflowOf(overflow, options.overflowSeparator));
  return fields;
}

const overflowOf = (overflow: ReadonlyMap<string, JsonValue>, separator: string): JsonValue =>
  separator === ''
    ? Object.fromEntries(overflow)
    : Array.from(overflow, ([key, value]) => `${key}=${typeof value === 'object' ? '' : String(value)}`).join(
        separator,
      );

/** Names custom fields by their labels. A label that is used twice, or is a key, is not applied. */
function resolveLabels(extension: ReadonlyMap<string, string>): Map<string, string> {
  const names = new Map<string, string>();
  for (const [key, label] of extension) {
    const field = /^((?:cs|cn|cfp|c6a|flexString|flexNumber|flexDate|deviceCustomDate)\d)Label$/.exec(key)?.[1];
    if (field !== undefined && label !== '' && !extension.has(label)) names.set(field, label);
  }
  const resolved = new Map<string, string>();
  for (const [key, text] of extension) {
    if (key.endsWith('Label') && names.has(key.slice(0, -5)) && extension.has(key.slice(0, -5))) continue;
    const name = names.get(key) ?? key;
    resolved.set(resolved.has(name) ? key : name, text);
  }
  return resolved;
}

function toNumber(text: string, name: string, warnings: string[]): JsonValue {
  if (/^[-+]?\d{1,300}(\.\d{1,300})?$/.test(text) && Number.isFinite(Number(text))) return Number(text);
  warnings.push(`The value of ${name} is no number.`);
  return text;
}

/** The formats of times in CEF. */
const LAYOUTS = [
  'Jan 02 2006 15:04:05.999',
  'Jan 02 2006 15:04:05.999 MST',
  'Jan _2 15:04:05.999',
  'Jan _2 15:04:05.999 MST',
  '2006-01-02T15:04:05.999999999Z07:00',
  '2006-01-02 15:04:05.999',
].map((layout) => parseLayout(layout));
const ISO = parseLayout('2006-01-02T15:04:05.000Z07:00');

function toDate(text: string, name: string, now: number, warnings: string[]): JsonValue {
  const trimmed = text.trim();
  const seconds = /^\d{10}$/.test(trimmed)
    ? Number(trimmed)
    : /^\d{13}$/.test(trimmed)
      ? Number(trimmed) / 1000
      : undefined;
  let instant =
    seconds === undefined
      ? undefined
      : { seconds: Math.floor(seconds), nanos: Math.round((seconds % 1) * 1000) * 1_000_000 };
  for (const layout of trimmed.length <= 100 ? LAYOUTS : [])
    if (typeof layout !== 'string') instant ??= parseTime(trimmed, layout, 'UTC', now);
  if (instant && typeof ISO !== 'string') return formatTime(instant, ISO, 'UTC');
  warnings.push(`The value of ${name} is no time.`);
  return text;
}
