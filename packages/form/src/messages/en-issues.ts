/** From an issue to a sentence that says what to do, with the field's own words in it. */
import type { Issue } from '@connector-frame/catalog/types';
import type { Field } from '../model/field.js';

/** The field an issue stands on, as far as its sentence needs it. */
export interface Subject {
  label: string;
  /** Kind of the control; `key` and `value` are the cells of a map's row. */
  kind: Field['kind'] | 'key' | 'value';
  /** A kept secret that has to be entered again, or one that is being replaced. */
  secret?: 'reentry' | 'replacing';
  minimum?: number;
  maximum?: number;
  integer?: boolean;
  unit?: string;
  placeholder?: string;
}

/** `Organization URL` -> `organization URL`; `API token` stays, and so do names. */
const inSentence = (label: string, names: readonly string[]): string =>
  /^\p{Lu}\p{Ll}*(?!\p{L})/u.test(label) && !names.some((name) => label.startsWith(name))
    ? label.charAt(0).toLowerCase() + label.slice(1)
    : label;

/** By format, and by what was found instead. */
const FORMATS: Readonly<Record<string, string>> = {
  uri: 'Use a full address that starts with https://',
  'uri/space': 'Remove the space from the address',
  'uri/credentials': 'Remove the user name and password from the address',
  hostname: 'Use a host name such as db.example.com',
  'hostname/path': 'Use the host name alone, without a path',
  'hostname/port': 'Use the host name alone, without a port',
  'host-port': 'Use a host and port such as db.example.com:9092',
  'host-port/path': 'Use the host and port alone, without a path',
  email: 'Use an e-mail address such as name@example.com',
  'date-time': 'Enter both a date and a time',
  cron: 'Use five fields: minute, hour, day, month, weekday',
  json: 'Paste the whole JSON document, from { to }',
  pem: 'Paste the whole block, from its BEGIN line to its END line',
};

function range({ minimum, maximum, integer, unit }: Subject): string {
  const number = `Use a ${integer ? 'whole ' : ''}number`;
  const units = unit ? ` ${unit}` : '';
  if (minimum === undefined) return maximum === undefined ? number : `${number} of ${maximum}${units} or less`;
  return maximum === undefined
    ? `${number} of ${minimum}${units} or more`
    : `${number} from ${minimum} to ${maximum}${units}`;
}

function missing({ kind, secret }: Subject, it: string): string {
  if (secret === 'reentry') return `The address changed, so the saved ${it} is not sent there. Enter it again.`;
  if (secret) return `Enter the new ${it}, or undo to keep the saved one`;
  if (kind === 'enum' || kind === 'variants') return `Choose the ${it}`;
  if (kind === 'key') return 'Enter a name';
  if (kind === 'value') return 'Enter a value';
  return /list$|map/.test(kind) ? `Add at least one entry to ${it}` : `Enter the ${it}`;
}

/**
 * The type's own words where it has some, else ours.
 * @param names words that keep their capital inside a sentence
 */
export function issueSentence(issue: Issue, subject: Subject, names: readonly string[]): string {
  const { code, message, params = {} } = issue;
  const it = inSentence(subject.label, names);
  if (message) return message;
  switch (code) {
    case 'required':
      return missing(subject, it);
    case 'min_length':
      return `Use at least ${params['minLength']} characters`;
    case 'max_length':
      return `Use at most ${params['maxLength']} characters`;
    case 'min_items':
      return params['minItems'] === 1 ? missing(subject, it) : `Add at least ${params['minItems']} entries`;
    case 'max_items':
      return `Keep at most ${params['maxItems']} entries`;
    case 'unique_items':
      return 'This is already in use above';
    case 'masked':
      return 'These are only dots. Paste the real value.';
    case 'format':
      return FORMATS[`${params['format']}/${params['found']}`] ?? FORMATS[`${params['format']}`] ?? `Check the ${it}`;
    case 'pattern':
      return subject.placeholder ? `Use the form of ${subject.placeholder}` : `Check the ${it}`;
    case 'enum':
      return `Choose the ${it}`;
    default:
      return subject.kind === 'number' ? range(subject) : `Check the ${it}`;
  }
}
