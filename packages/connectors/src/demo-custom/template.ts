import { ConnectorError, isRecord, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { placeholders } from '../synthetic/placeholders.js';
import { createRandom, type Random } from '../synthetic/random.js';
import type { MakeRecord } from '../synthetic/template.js';

/** The names in templates, and those of the generator. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['email', 'person.email'],
  ['name', 'person.name'],
  ['first_name', 'person.first'],
  ['username', 'person.login'],
  ['user_id', 'person.number'],
  ['ip', 'ip'],
  ['ipv4', 'ip'],
  ['ipv6', 'ipv6'],
  ['mac', 'mac'],
  ['hostname', 'host'],
  ['user_agent', 'agent'],
  ['uuid', 'uuid'],
  ['sequence', 'sequence'],
  ['int', 'int'],
  ['bool', 'bool'],
  ['hex', 'hex'],
  ['word', 'letters'],
  ['digits', 'digits'],
  ['timestamp', 'time.iso'],
  ['date', 'time.date'],
  ['unix', 'time.seconds'],
  ['unix_ms', 'time.milliseconds'],
]);
/** Values of one person, and of the moment, are the same throughout a record. */
const SHARED = /^(?:person|time|sequence|host)/;
const PLACEHOLDER = /\{\{\s*([a-z0-9_]+)((?::-?\d{1,9}){0,2})\s*\}\}/g;
/** Any text in double braces. */
const BRACES = /\{\{([^{}]*)\}\}/g;
/** Characters of a placeholder. */
const MAX_LENGTH = 1_000;

type Make = (random: Random) => JsonValue;

/** Puts placeholders without quotes into quotes, so that `{"port": {{int:1:65535}}}` is JSON. */
export const quotePlaceholders = (template: string): string =>
  template.replaceAll(/("(?:[^"\\]|\\.)*")|(\{\{[^{}]*\}\})/g, (whole, text: string | undefined) =>
    text === undefined ? JSON.stringify(whole) : text,
  );

/**
 * Compiles a template: `{{email}}` or `{{int:1:100}}` in its texts get a value in each record. A text
 * that is a single placeholder becomes its value, which may be a number.
 *
 * @throws ConnectorError `invalid_config` for an unknown placeholder
 */
export function compileCustom(template: Record<string, unknown>): MakeRecord {
  let count = 0;
  const next = (): string => {
    count += 1;
    return String(count);
  };
  const make = compileObject(template, next);
  return (number, at) => make(createRandom(number, at));
}

function compileObject(value: Record<string, unknown>, next: () => string): (random: Random) => DataRecord {
  const fields = Object.entries(value).map(([key, each]) => [key, compile(each, next)] as const);
  return (random) => Object.fromEntries(fields.map(([key, each]) => [key, each(random)]));
}

function compile(value: unknown, next: () => string): Make {
  if (typeof value === 'string') return compileText(value, next);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => compile(item, next));
    return (random) => items.map((item) => item(random));
  }
  if (isRecord(value)) return compileObject(value, next);
  const constant = typeof value === 'number' || typeof value === 'boolean' ? value : null;
  return () => constant;
}

function compileText(text: string, next: () => string): Make {
  const unknown = text.replaceAll(PLACEHOLDER, '').match(BRACES);
  const parts: (string | Make)[] = [];
  let from = 0;
  for (const { 0: whole, 1: name = '', 2: given = '', index } of text.matchAll(PLACEHOLDER)) {
    parts.push(text.slice(from, index), compilePlaceholder(name, given, next));
    from = index + whole.length;
  }
  if (unknown) throw invalid();
  parts.push(text.slice(from));
  const [before, only, after] = parts;
  if (parts.length === 3 && before === '' && after === '' && typeof only === 'function') return only;
  return (random) => parts.map((part) => (typeof part === 'function' ? textOf(part(random)) : part)).join('');
}

function compilePlaceholder(name: string, given: string, next: () => string): Make {
  const internal = NAMES.get(name);
  const make = internal === undefined ? undefined : placeholders.get(internal);
  if (internal === undefined || !make) throw invalid();
  const numbers = given === '' ? [] : given.slice(1).split(':').map(Number);
  if (['hex', 'letters', 'digits'].includes(internal) && !numbers.every((each) => each >= 1 && each <= MAX_LENGTH))
    throw new ConnectorError(
      'invalid_config',
      `A text has 1 to ${MAX_LENGTH} characters, like {{hex:8}}.`,
      'permanent',
    );
  if (internal === 'int' && (numbers[0] ?? 0) > (numbers[1] ?? 100))
    throw new ConnectorError('invalid_config', 'The first number of {{int:1:100}} is the smaller one.', 'permanent');
  const label = SHARED.test(internal) ? internal : `${internal}#${next()}`;
  return (random) => make(random, label, numbers);
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

const invalid = (): ConnectorError =>
  new ConnectorError(
    'invalid_config',
    `The template has a placeholder that is not known. These are: ${[...NAMES.keys()].join(', ')}.`,
    'permanent',
  );
