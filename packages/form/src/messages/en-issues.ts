/** From an issue to a sentence that says what to do, with the field's own words in it. */
import type { Issue } from '@connector-frame/catalog/types';
import type { Field } from '../model/field.js';

/** The field an issue stands on, as far as its sentence needs it. */
export interface Subject {
  label: string;
  /** Kind of the control; `key` and `value` are the cells of a map's row. */
  kind: Field['kind'] | 'key' | 'value';
  /** A kept secret that has to be entered again, or one that was being replaced and is blank. */
  secret?: 'reentry' | 'replacing';
  minimum?: number;
  maximum?: number;
  integer?: boolean;
  unit?: string;
  placeholder?: string;
  /** Names that keep their capital inside a sentence. */
  names?: readonly string[];
}

/** `Organization URL` -> `organization URL`; `API token` and names of vendors stay. */
function inSentence(label: string, names: readonly string[] = []): string {
  const [first = ''] = label.split(/[\s-]/, 1);
  return /^\p{Lu}\p{Ll}*$/u.test(first) && !names.includes(first)
    ? label.charAt(0).toLowerCase() + label.slice(1)
    : label;
}

const FORMATS: Readonly<Record<string, string>> = {
  'uri/no_scheme': 'Start the address with https://',
  'uri/scheme': 'Use an address that starts with https:// or http://',
  'uri/space': 'Remove the space from the address',
  'uri/credentials': 'Remove the user name and password from the address',
  uri: 'Use a full address that starts with https://',
  'hostname/url': 'Use the host name alone, without https://',
  'hostname/path': 'Use the host name alone, without a path',
  'hostname/port': 'Use the host name alone, without a port',
  hostname: 'Use a host name such as db.example.com',
  'host-port/url': 'Use host and port alone, without https://',
  'host-port/path': 'Use host and port alone, without a path',
  'host-port/port': 'Use a port from 1 to 65535',
  'host-port': 'Use a host, with a port if it needs one, such as db.example.com:9092',
  email: 'Use an e-mail address such as name@example.com',
  'date-time': 'Enter both a date and a time',
  'cron/fields': 'Use five fields: minute, hour, day, month, weekday',
  'cron/field_1': 'Use a minute from 0 to 59',
  'cron/field_2': 'Use an hour from 0 to 23',
  'cron/field_3': 'Use a day from 1 to 31',
  'cron/field_4': 'Use a month from 1 to 12, or jan to dec',
  'cron/field_5': 'Use a weekday from 0 to 7, or sun to sat',
  cron: 'Use five fields: minute, hour, day, month, weekday',
  'json/not_object': 'Paste the whole JSON document, from { to }',
  json: 'This is not complete JSON. Paste the whole document, from { to }',
  'pem/escaped': 'Replace each \\n with a real line break',
  'pem/cut_off': 'Paste the whole block, with its END line',
  pem: 'Paste the whole block, from its BEGIN line to its END line',
};

function range({ minimum, maximum, integer, unit }: Subject): string {
  const what = `a ${integer ? 'whole ' : ''}number`;
  const of = unit ? ` ${unit}` : '';
  if (minimum !== undefined && maximum !== undefined) return `Use ${what} from ${minimum} to ${maximum}${of}`;
  if (minimum !== undefined) return `Use ${what} of ${minimum}${of} or more`;
  return maximum === undefined ? `Use ${what}` : `Use ${what} of ${maximum}${of} or less`;
}

function missing({ label, kind, secret, names }: Subject): string {
  const it = inSentence(label, names);
  if (secret === 'reentry') return `The address changed, so the saved ${it} is not sent there. Enter it again`;
  if (secret === 'replacing') return `Enter the new ${it}, or undo to keep the saved one`;
  if (kind === 'enum' || kind === 'variants') return `Choose the ${it}`;
  if (kind === 'key') return 'Enter a name';
  if (kind === 'value') return 'Enter a value';
  if (kind === 'string-list' || kind === 'object-list' || kind === 'map') return `Add at least one entry to ${it}`;
  return /^(a|an|the|your) /i.test(it) ? `Enter ${it}` : `Enter the ${it}`;
}

function sentence(issue: Issue, subject: Subject): string {
  const { code, params = {} } = issue;
  switch (code) {
    case 'required':
      return missing(subject);
    case 'min_length':
      return `Use at least ${params['minLength'] ?? 1} characters`;
    case 'max_length':
      return `Use at most ${params['maxLength'] ?? 0} characters`;
    case 'minimum':
    case 'maximum':
      return range(subject);
    case 'type':
      return subject.kind === 'number' ? range(subject) : `Check the ${inSentence(subject.label, subject.names)}`;
    case 'format':
      return FORMATS[`${params['format']}/${params['found']}`] ?? FORMATS[`${params['format']}`] ?? 'Check this value';
    case 'pattern':
      return subject.placeholder
        ? `Use the form of ${subject.placeholder}`
        : `Check the ${inSentence(subject.label, subject.names)}: it has a different form`;
    case 'enum':
      return 'Choose one of the options';
    case 'min_items':
      return params['minItems'] === 1 ? missing(subject) : `Add at least ${params['minItems']} entries`;
    case 'max_items':
      return `Keep at most ${params['maxItems']} entries`;
    case 'unique_items':
      return subject.kind === 'key' ? 'This name is already in use above' : 'This entry is already in the list';
    case 'masked':
      return 'These are only dots. Paste the real value';
    default:
      return `Check the ${inSentence(subject.label, subject.names)}`;
  }
}

/** The type's own words where it has some, else ours. Ends with a full stop only where there is more than one sentence. */
export function problemOf(issue: Issue, subject: Subject): string {
  if (issue.message) return issue.message;
  const text = sentence(issue, subject);
  return text.includes('. ') ? `${text}.` : text;
}
